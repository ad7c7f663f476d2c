//! A block of IP addresses as an operator writes it. It must never make an address public that is not.

use core::fmt;
use core::net::IpAddr;
use core::str::FromStr;

use crate::address_class::{classify, reached_v4};
use crate::text_form::text_form;

/// A block: its first address and the length of its prefix (RFC 4632, RFC 4291 section 2.3).
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct AddressBlock {
    first: IpAddr,
    prefix: u8,
}

/// Why a text is no [`AddressBlock`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum AddressBlockFault {
    /// Not an address, or an address and a length.
    #[error("a block of addresses is an address, or its first one and a length, such as `203.0.113.0/24`")]
    Form,
    /// Not the first address of the block.
    #[error("a block of addresses begins with its first address; write `{first}/{prefix}`")]
    NotTheFirst {
        /// The first address.
        first: IpAddr,
        /// The length as given.
        prefix: u8,
    },
    /// An IPv4 address in the clothes of an IPv6 one.
    #[error("write a block of IPv4 addresses as IPv4")]
    Mapped,
}

/// The bits of `ip` at the top of 128, so that both families compare alike.
fn bits(ip: IpAddr) -> (u128, u8) {
    match ip {
        IpAddr::V4(ip) => (u128::from(u32::from(ip)).checked_shl(96).unwrap_or_default(), 32),
        IpAddr::V6(ip) => (u128::from(ip), 128),
    }
}

/// The mask of the first `prefix` of 128 bits.
fn mask(prefix: u8) -> u128 {
    !u128::MAX.checked_shr(u32::from(prefix)).unwrap_or_default()
}

/// The address of `like`'s family with these bits at the top.
fn address(bits: u128, like: IpAddr) -> IpAddr {
    match like {
        IpAddr::V4(_) => {
            let [a, b, c, d, ..] = bits.to_be_bytes();
            IpAddr::from([a, b, c, d])
        }
        IpAddr::V6(_) => IpAddr::from(bits.to_be_bytes()),
    }
}

impl AddressBlock {
    /// Whether `ip` is in it, or an address is that `ip` is translated to on the way (NAT64).
    #[must_use]
    pub fn covers(&self, ip: IpAddr) -> bool {
        self.holds(ip.to_canonical()) || reached_v4(ip).is_some_and(|inside| self.holds(IpAddr::V4(inside)))
    }

    fn holds(&self, ip: IpAddr) -> bool {
        ip.is_ipv4() == self.first.is_ipv4() && bits(ip).0 & mask(self.prefix) == bits(self.first).0
    }

    /// Whether it begins and ends with a public address.
    pub(crate) fn is_public_at_its_edges(&self) -> bool {
        let last = address(bits(self.first).0 | !mask(self.prefix), self.first);
        classify(self.first).is_public() && classify(last).is_public()
    }
}

impl FromStr for AddressBlock {
    type Err = AddressBlockFault;

    fn from_str(text: &str) -> Result<Self, AddressBlockFault> {
        let (first, prefix) = text.split_once('/').map_or((text, None), |(first, prefix)| (first, Some(prefix)));
        let first: IpAddr = first.parse().map_err(|_| AddressBlockFault::Form)?;
        let (top, width) = bits(first);
        let plain = |digits: &&str| digits.bytes().all(|byte| byte.is_ascii_digit()) && !digits.starts_with("00");
        let prefix = match prefix {
            None => width,
            Some(digits) => {
                Some(digits).filter(plain).and_then(|digits| digits.parse().ok()).ok_or(AddressBlockFault::Form)?
            }
        };
        if width < prefix {
            return Err(AddressBlockFault::Form);
        }
        if first.to_canonical() != first {
            return Err(AddressBlockFault::Mapped);
        }
        if top & mask(prefix) != top {
            return Err(AddressBlockFault::NotTheFirst { first: address(top & mask(prefix), first), prefix });
        }
        Ok(Self { first, prefix })
    }
}

impl fmt::Display for AddressBlock {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(out, "{}/{}", self.first, self.prefix)
    }
}

text_form!(AddressBlock, "a block of addresses such as \"203.0.113.0/24\"");

#[cfg(test)]
mod tests {
    use std::string::ToString;

    use super::*;

    fn block(text: &str) -> AddressBlock {
        text.parse().unwrap()
    }

    fn ip(text: &str) -> IpAddr {
        text.parse().unwrap()
    }

    #[test]
    fn a_block_holds_what_is_between_its_edges_and_nothing_beside() {
        for (text, inside, outside) in [
            ("203.0.113.0/24", ["203.0.113.0", "203.0.113.255"], ["203.0.112.255", "203.0.114.0"]),
            ("8.0.0.0/7", ["8.0.0.0", "9.255.255.255"], ["7.255.255.255", "10.0.0.0"]),
            ("93.184.216.34", ["93.184.216.34", "93.184.216.34"], ["93.184.216.33", "93.184.216.35"]),
            (
                "2606:4700::/32",
                ["2606:4700::", "2606:4700:ffff:ffff:ffff:ffff:ffff:ffff"],
                ["2606:46ff:ffff::", "2606:4701::"],
            ),
            ("2606:4700::1111", ["2606:4700::1111", "2606:4700::1111"], ["2606:4700::1110", "2606:4700::1112"]),
            ("0.0.0.0/0", ["0.0.0.0", "255.255.255.255"], ["::", "2606:4700::1"]),
            ("::/0", ["::", "2606:4700::1"], ["0.0.0.0", "255.255.255.255"]),
        ] {
            for within in inside {
                assert!(block(text).covers(ip(within)), "{within} in {text}");
            }
            for beyond in outside {
                assert!(!block(text).covers(ip(beyond)), "{beyond} in {text}");
            }
        }
    }

    #[test]
    fn a_block_is_public_at_its_edges_where_both_are() {
        for (text, public) in [
            ("8.0.0.0/7", true),
            ("172.0.0.0/11", false),
            ("10.0.0.0/7", false),
            ("10.0.0.0/8", false),
            ("93.184.216.34", true),
            ("2606:4700::/32", true),
            ("2000::/3", true),
            ("::/1", false),
        ] {
            assert_eq!(block(text).is_public_at_its_edges(), public, "{text}");
        }
    }

    #[test]
    fn an_ipv4_address_is_found_in_the_clothes_of_an_ipv6_one() {
        let denied = block("93.184.216.0/24");
        for text in ["::ffff:93.184.216.34", "64:ff9b::5db8:d822"] {
            assert!(denied.covers(ip(text)), "{text}");
        }
        for text in ["::ffff:93.184.217.34", "64:ff9b::5db8:d922", "2002:5db8:d822::"] {
            assert!(!denied.covers(ip(text)), "{text}");
        }
    }

    #[test]
    fn a_block_has_one_form() {
        for text in ["203.0.113.0/24", "93.184.216.34/32", "2606:4700::/32", "0.0.0.0/0", "::/0"] {
            assert_eq!(block(text).to_string(), text);
        }
        assert_eq!(block("93.184.216.34").to_string(), "93.184.216.34/32");
        for text in
            ["", "/", "203.0.113.0/", "203.0.113.0/33", "203.0.113.0/+8", "203.0.113.0/008", "::/129", "a/8", "1.2.3/8"]
        {
            assert_eq!(text.parse::<AddressBlock>(), Err(AddressBlockFault::Form), "{text}");
        }
        let first = AddressBlockFault::NotTheFirst { first: ip("203.0.113.0"), prefix: 24 };
        assert_eq!("203.0.113.7/24".parse::<AddressBlock>(), Err(first));
        assert_eq!("::ffff:1.2.3.4/128".parse::<AddressBlock>(), Err(AddressBlockFault::Mapped));
    }
}
