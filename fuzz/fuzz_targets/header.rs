//! The value of a header that carries a document.
#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| bursar_fuzz::header::holds(bytes));
