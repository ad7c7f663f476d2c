//! A 402 answer: headers, an empty line, a body.
#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| bursar_fuzz::challenge::holds(bytes));
