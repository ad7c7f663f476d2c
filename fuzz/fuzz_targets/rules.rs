//! The text of `bursar.toml`, in both settings.
#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| bursar_fuzz::rules::holds(bytes));
