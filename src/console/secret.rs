//! Random secrets as text: drawn from the system, wiped when dropped, compared in one time. Must never be shown by `Debug`.

use std::fmt;

use subtle::ConstantTimeEq as _;
use zeroize::Zeroizing;

/// 256 random bits as 64 lower-case hex digits: a cookie, or the token beside it.
pub(super) struct Secret(Zeroizing<String>);

impl Secret {
    /// Draws one.
    ///
    /// # Errors
    ///
    /// Where the system gives no random bytes.
    pub(super) fn draw() -> Result<Self, getrandom::Error> {
        let mut bytes = Zeroizing::new([0_u8; 32]);
        getrandom::fill(bytes.as_mut())?;
        Ok(Self(Zeroizing::new(hex::encode(bytes.as_ref()))))
    }

    /// The text, for the browser that it is made for.
    pub(super) fn expose(&self) -> &str {
        &self.0
    }

    /// Whether `told` is the same text; takes the same time wherever two texts of one length differ.
    pub(super) fn is(&self, told: &str) -> bool {
        same(&self.0, told)
    }
}

impl fmt::Debug for Secret {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Secret(withheld)")
    }
}

/// Whether two texts are the same, in a time that depends on their lengths alone.
pub(super) fn same(one: &str, other: &str) -> bool {
    bool::from(one.as_bytes().ct_eq(other.as_bytes()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn two_secrets_differ_have_256_bits_and_are_shown_nowhere() {
        let (one, other) = (Secret::draw().unwrap(), Secret::draw().unwrap());
        assert_eq!(one.expose().len(), 64);
        assert!(one.is(one.expose()) && !one.is(other.expose()) && !one.is("") && !one.is(&one.expose()[1..]));
        assert!(!format!("{one:?}").contains(one.expose()));
    }
}
