//! Keeps keys out of places that leak. Must never print, store or compare a value it finds, only its name.

use crate::platform;
use std::ffi::{OsStr, OsString};
use thiserror::Error;

/// Why the process must not start.
#[derive(Debug, Error, PartialEq, Eq)]
pub enum SecretFault {
    /// A variable of the environment looks like a wallet key.
    #[error(
        "the environment variable `{name}` looks like a wallet key; unset it, because environments are logged and inherited, and give the key to `bursar init` at a terminal instead"
    )]
    Variable {
        /// Its name; never its value.
        name: String,
    },
    /// Core dumps cannot be turned off, so memory could land on disk.
    #[error("cannot turn off core dumps; a crash could write the key to disk, so bursar does not start")]
    CoreDumps,
}

/// Parts of names that mean a wallet key whatever the value is.
const KEY_NAMES: [&str; 12] = [
    "PRIVATE_KEY",
    "PRIVATEKEY",
    "PRIV_KEY",
    "PRIVKEY",
    "MNEMONIC",
    "SEED_PHRASE",
    "SEEDPHRASE",
    "WALLET_SECRET",
    "WALLET_KEY",
    "WALLET_SEED",
    "PAYER_PK",
    "WALLET_PK",
];

/// Parts of names that mean a key when the value has the form of one.
const SUSPECT_NAMES: [&str; 8] = ["KEY", "SECRET", "PK", "SEED", "WALLET", "PRIV", "SIGNER", "PAYER"];

/// Refuses to go on while a variable of this process's environment looks like a wallet key.
///
/// # Errors
///
/// [`SecretFault::Variable`] with the name of the first such variable.
pub fn refuse_wallet_variables() -> Result<(), SecretFault> {
    match wallet_variable(std::env::vars_os()) {
        Some(name) => Err(SecretFault::Variable { name }),
        None => Ok(()),
    }
}

/// The name of the first variable that looks like a wallet key.
///
/// Does not look at variables that only name a file (`…_FILE`, `…_PATH`) unless the value itself has a key's form.
pub fn wallet_variable(pairs: impl IntoIterator<Item = (OsString, OsString)>) -> Option<String> {
    pairs.into_iter().find_map(|(name, value)| {
        let shown = name.to_string_lossy().to_ascii_uppercase();
        let has = |parts: &[&str]| parts.iter().any(|part| shown.contains(part));
        let names_a_file = shown.ends_with("_FILE") || shown.ends_with("_PATH");
        let by_name = !value.is_empty() && !names_a_file && has(&KEY_NAMES);
        let by_value = is_key_form(&value) && (has(&SUSPECT_NAMES) || has(&KEY_NAMES));
        (by_name || by_value).then(|| name.to_string_lossy().into_owned())
    })
}

/// Turns off core dumps and reading this process's memory through `/proc` for the rest of its life.
///
/// # Errors
///
/// [`SecretFault::CoreDumps`].
pub fn forbid_core_dumps() -> Result<(), SecretFault> {
    platform::forbid_core_dumps().map_err(|_fault| SecretFault::CoreDumps)
}

/// 64 hex digits, with or without `0x`, with or without space around.
fn is_key_form(value: &OsStr) -> bool {
    let trimmed = value.as_encoded_bytes().trim_ascii();
    let digits = trimmed.strip_prefix(b"0x").or_else(|| trimmed.strip_prefix(b"0X")).unwrap_or(trimmed);
    digits.len() == 64 && digits.iter().all(u8::is_ascii_hexdigit)
}

#[cfg(test)]
mod tests {
    use super::*;

    const KEY: &str = "4c0883a69102937d6231471b5dbb6204fe5129617082792ae468d01a3f362318";

    fn found(name: &str, value: &str) -> bool {
        wallet_variable([(OsString::from(name), OsString::from(value))]).is_some()
    }

    #[test]
    fn names_that_mean_a_key_are_found_whatever_they_hold() {
        for name in
            ["PRIVATE_KEY", "EVM_PRIVATE_KEY", "private_key", "MNEMONIC", "MY_SEED_PHRASE", "WALLET_SECRET", "PAYER_PK"]
        {
            assert!(found(name, "anything"), "{name}");
            assert!(!found(name, ""), "{name} is unset in all but name");
        }
    }

    #[test]
    fn a_key_form_is_found_under_a_suspect_name_only() {
        for name in ["BUYER_KEY", "x402_secret", "PK", "WALLET", "SIGNER_FILE"] {
            assert!(found(name, KEY), "{name}");
            assert!(found(name, &format!(" 0x{KEY}\n")), "{name}");
            assert!(!found(name, "0x1234"), "{name}");
        }
        assert!(!found("BUILD_SHA256", KEY));
    }

    #[test]
    fn everyday_variables_are_left_alone() {
        for (name, value) in [
            ("PATH", "/usr/bin"),
            ("AWS_SECRET_ACCESS_KEY", "wJalrXUtnFEMI/K7MDENG"),
            ("ANTHROPIC_API_KEY", "sk-ant-1"),
            ("TLS_PRIVATE_KEY_FILE", "/etc/ssl/key.pem"),
        ] {
            assert!(!found(name, value), "{name}");
        }
    }

    #[test]
    fn the_fault_names_the_variable_and_never_its_value() {
        let name = wallet_variable([(OsString::from("BUYER_KEY"), OsString::from(KEY))]).unwrap();
        let said = SecretFault::Variable { name }.to_string();
        assert!(said.contains("BUYER_KEY") && !said.contains(&KEY[..8]));
    }
}
