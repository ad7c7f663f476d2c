//! What is secret on its way over a socket, and what is told of it. Must never be shown: a value has no printable form.

use bursar_policy::{SecretHeader, SecretName};
use core::fmt;
use serde::de::Error as _;
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use thiserror::Error;
use zeroize::Zeroizing;

/// The shortest secret, in bytes: a shorter one would be found by chance in what sellers say, and starred out there.
pub const SECRET_MIN_BYTES: usize = 8;
/// The longest secret, in bytes.
pub const SECRET_MAX_BYTES: usize = 2048;

/// A passphrase on its way from a terminal: wiped when dropped, never shown.
pub struct Passphrase(Zeroizing<String>);

impl Passphrase {
    /// Takes what a person typed.
    #[must_use]
    pub const fn new(typed: Zeroizing<String>) -> Self {
        Self(typed)
    }

    /// The bytes, for a key derivation only.
    #[must_use]
    pub fn expose(&self) -> &[u8] {
        self.0.as_bytes()
    }
}

impl Serialize for Passphrase {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(&self.0)
    }
}

impl<'de> Deserialize<'de> for Passphrase {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        String::deserialize(deserializer).map(|typed| Self(Zeroizing::new(typed)))
    }
}

impl fmt::Debug for Passphrase {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Passphrase(withheld)")
    }
}

/// What was typed is no [`SecretValue`]. Never repeats it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
#[error(
    "a secret has {SECRET_MIN_BYTES} to {SECRET_MAX_BYTES} visible ASCII characters and no space; leave a scheme such \
     as `Bearer` to the rules"
)]
pub struct SecretValueFault;

/// A seller's API key or a proxy's credentials: 8 to 2048 visible ASCII characters, wiped when dropped, never shown.
#[derive(Clone)]
pub struct SecretValue(Zeroizing<String>);

impl SecretValue {
    /// Takes what a person typed.
    ///
    /// # Errors
    ///
    /// [`SecretValueFault`] for another length, a space, or a character that a header cannot carry as it is.
    pub fn new(typed: Zeroizing<String>) -> Result<Self, SecretValueFault> {
        let fits = (SECRET_MIN_BYTES..=SECRET_MAX_BYTES).contains(&typed.len());
        let visible = typed.bytes().all(|byte| byte.is_ascii_graphic());
        if fits && visible { Ok(Self(typed)) } else { Err(SecretValueFault) }
    }

    /// The text, to be sent where the rules say and to be looked for in what comes back.
    #[must_use]
    pub fn expose(&self) -> &str {
        &self.0
    }
}

impl Serialize for SecretValue {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(&self.0)
    }
}

impl<'de> Deserialize<'de> for SecretValue {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let typed = String::deserialize(deserializer).map(Zeroizing::new)?;
        Self::new(typed).map_err(D::Error::custom)
    }
}

impl fmt::Debug for SecretValue {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("SecretValue(withheld)")
    }
}

/// The secrets that the rules name for one errand, released for that errand alone.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Released {
    /// The headers of the host rule, each with its secret.
    pub headers: Vec<ReleasedHeader>,
    /// What the proxy wants: a user name, a colon and a password. Never for a seller.
    pub proxy: Option<SecretValue>,
}

/// One header as the rule has it, and the secret that goes into it.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ReleasedHeader {
    /// The header.
    pub header: SecretHeader,
    /// The secret, without the scheme.
    pub secret: SecretValue,
}

/// What an operator is told of the secrets.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SecretList {
    /// Those that are stored, by name.
    pub secrets: Vec<SecretView>,
    /// Those that the rules in force name and that are not stored.
    pub missing: Vec<SecretName>,
}

/// One stored secret, without a byte of it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SecretView {
    /// Its name.
    pub name: SecretName,
    /// When it was set, Unix seconds of ledger time.
    pub set_at_s: u64,
    /// What the rules in force use it for.
    pub used_by: Vec<String>,
}

#[cfg(test)]
mod tests {
    use super::*;

    fn secret(text: &str) -> Result<SecretValue, SecretValueFault> {
        SecretValue::new(Zeroizing::new(text.to_owned()))
    }

    #[test]
    fn a_secret_is_long_enough_to_be_found_and_fit_for_a_header() {
        for good in ["12345678", "sk_live-0/+=\"\\{}~", &"x".repeat(2048)] {
            assert_eq!(secret(good).unwrap().expose(), good);
        }
        for bad in ["", "1234567", "Bearer 12345678", "1234567\n", "1234567\u{e9}", "1234567\t", &"x".repeat(2049)] {
            assert_eq!(secret(bad).unwrap_err(), SecretValueFault, "{bad:?}");
            let frame = serde_json::to_string(bad).unwrap();
            assert!(serde_json::from_str::<SecretValue>(&frame).is_err(), "{bad:?}");
        }
    }

    #[test]
    fn nothing_that_can_be_printed_shows_a_secret() {
        let value = secret("sk-0123456789").unwrap();
        let header = "authorization: Bearer {shop}".parse().unwrap();
        let released =
            Released { headers: vec![ReleasedHeader { header, secret: value.clone() }], proxy: Some(value.clone()) };
        let passphrase = Passphrase::new(Zeroizing::new("sk-0123456789".to_owned()));
        for shown in [format!("{value:?}"), format!("{released:#?}"), format!("{passphrase:?}")] {
            assert!(shown.contains("withheld") && !shown.contains("0123456789"), "{shown}");
        }
        let back: Released = serde_json::from_str(&serde_json::to_string(&released).unwrap()).unwrap();
        assert_eq!(back.headers.first().unwrap().secret.expose(), "sk-0123456789");
    }
}
