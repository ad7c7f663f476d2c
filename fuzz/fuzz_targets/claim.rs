//! The answer to a payment: headers, an empty line, a body.
#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| bursar_fuzz::claim::holds(bytes));
