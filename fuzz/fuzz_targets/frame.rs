//! What a peer sends to a socket of the vault before it hangs up.
#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| bursar_fuzz::frame::holds(bytes));
