//! Which addresses a request may go to. It must never call an address public for want of a rule.

use core::net::{IpAddr, Ipv4Addr, Ipv6Addr};

/// What an address is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AddressClass {
    /// Globally routed unicast: the only class that is dialled outside a sandbox.
    Public,
    /// Set aside for something else than reaching the public internet.
    Special {
        /// The block that it is in, by its purpose.
        block: &'static str,
        /// Where the block is defined.
        rfc: &'static str,
    },
    /// `127.0.0.0/8` or `::1`, which only a sandbox may dial. Loopback inside another form (such
    /// as `::ffff:127.0.0.1`) is [`AddressClass::Special`].
    Loopback,
}

impl AddressClass {
    /// Whether it may be dialled outside a sandbox.
    #[must_use]
    pub const fn is_public(self) -> bool {
        matches!(self, Self::Public)
    }
}

/// A block of addresses: first address, length of the prefix, purpose, definition.
struct Block<Ip>(Ip, u32, &'static str, &'static str);

const fn v4(a: u8, b: u8, c: u8, d: u8) -> Ipv4Addr {
    Ipv4Addr::new(a, b, c, d)
}

const fn v6(a: u16, b: u16, c: u16, d: u16) -> Ipv6Addr {
    Ipv6Addr::new(a, b, c, d, 0, 0, 0, 0)
}

/// The IANA IPv4 Special-Purpose Address Registry, multicast, and one public address that clouds
/// use for their own ends. A narrow block stands before the wide one around it.
const BLOCKS_V4: &[Block<Ipv4Addr>] = &[
    Block(v4(168, 63, 129, 16), 32, "Azure host channel", "Azure documentation"),
    Block(v4(169, 254, 169, 254), 32, "cloud metadata", "RFC 3927"),
    Block(v4(100, 100, 100, 200), 32, "cloud metadata", "RFC 6598"),
    Block(v4(192, 0, 0, 192), 32, "cloud metadata", "RFC 6890"),
    Block(v4(0, 0, 0, 0), 8, "this network", "RFC 791"),
    Block(v4(10, 0, 0, 0), 8, "private use", "RFC 1918"),
    Block(v4(100, 64, 0, 0), 10, "shared address space", "RFC 6598"),
    Block(v4(169, 254, 0, 0), 16, "link local", "RFC 3927"),
    Block(v4(172, 16, 0, 0), 12, "private use", "RFC 1918"),
    Block(v4(192, 0, 0, 0), 24, "IETF protocol assignments", "RFC 6890"),
    Block(v4(192, 0, 2, 0), 24, "documentation", "RFC 5737"),
    Block(v4(192, 31, 196, 0), 24, "AS112", "RFC 7535"),
    Block(v4(192, 52, 193, 0), 24, "AMT", "RFC 7450"),
    Block(v4(192, 88, 99, 0), 24, "6to4 relay anycast", "RFC 7526"),
    Block(v4(192, 168, 0, 0), 16, "private use", "RFC 1918"),
    Block(v4(192, 175, 48, 0), 24, "AS112", "RFC 7534"),
    Block(v4(198, 18, 0, 0), 15, "benchmarking", "RFC 2544"),
    Block(v4(198, 51, 100, 0), 24, "documentation", "RFC 5737"),
    Block(v4(203, 0, 113, 0), 24, "documentation", "RFC 5737"),
    Block(v4(224, 0, 0, 0), 4, "multicast", "RFC 5771"),
    Block(v4(255, 255, 255, 255), 32, "limited broadcast", "RFC 919"),
    Block(v4(240, 0, 0, 0), 4, "reserved", "RFC 1112"),
];

/// The IANA IPv6 Special-Purpose Address Registry, multicast and retired blocks. Whatever is
/// outside global unicast (2000::/3) is special even without a row.
const BLOCKS_V6: &[Block<Ipv6Addr>] = &[
    Block(v6(0, 0, 0, 0), 128, "unspecified", "RFC 4291"),
    Block(v6(0x64, 0xff9b, 1, 0), 48, "local-use NAT64", "RFC 8215"),
    Block(v6(0x100, 0, 0, 0), 64, "discard only", "RFC 6666"),
    Block(v6(0x100, 0, 0, 1), 64, "dummy prefix", "RFC 9780"),
    Block(v6(0x2001, 0, 0, 0), 23, "IETF protocol assignments", "RFC 2928"),
    Block(v6(0x2001, 0xdb8, 0, 0), 32, "documentation", "RFC 3849"),
    Block(v6(0x2620, 0x4f, 0x8000, 0), 48, "AS112", "RFC 7534"),
    Block(v6(0x3fff, 0, 0, 0), 20, "documentation", "RFC 9637"),
    Block(v6(0x5f00, 0, 0, 0), 16, "segment routing", "RFC 9602"),
    Block(v6(0xfd00, 0xec2, 0, 0), 32, "cloud metadata", "RFC 4193"),
    Block(v6(0xfc00, 0, 0, 0), 7, "unique local", "RFC 4193"),
    Block(v6(0xfe80, 0, 0, 0), 10, "link local", "RFC 4291"),
    Block(v6(0xfec0, 0, 0, 0), 10, "site local", "RFC 3879"),
    Block(v6(0xff00, 0, 0, 0), 8, "multicast", "RFC 4291"),
];

/// Classifies an address by the special-purpose tables (RFC 6890 and its successors).
///
/// An IPv4 address inside an IPv6 one is judged as well, and the answer names its block. Mapped,
/// compatible, translated, 6to4, Teredo and ISATAP forms are never public, whatever is inside; the
/// well-known NAT64 prefix is public when the address inside is.
#[must_use]
pub fn classify(ip: IpAddr) -> AddressClass {
    match ip {
        IpAddr::V4(ip) => classify_v4(ip),
        IpAddr::V6(ip) => classify_v6(ip),
    }
}

fn classify_v4(ip: Ipv4Addr) -> AddressClass {
    if ip.is_loopback() {
        return AddressClass::Loopback;
    }
    let inside = |block: &&Block<Ipv4Addr>| {
        let above = 32_u32.saturating_sub(block.1);
        u32::from(ip).checked_shr(above) == u32::from(block.0).checked_shr(above)
    };
    BLOCKS_V4.iter().find(inside).map_or(AddressClass::Public, special)
}

fn classify_v6(ip: Ipv6Addr) -> AddressClass {
    if ip.is_loopback() {
        return AddressClass::Loopback;
    }
    if let Some((embedded, form)) = embedded_v4(ip) {
        return classify_embedded(embedded, form);
    }
    let inside = |block: &&Block<Ipv6Addr>| {
        let above = 128_u32.saturating_sub(block.1);
        u128::from(ip).checked_shr(above) == u128::from(block.0).checked_shr(above)
    };
    let global_unicast = u128::from(ip) >> 125 == 1;
    match BLOCKS_V6.iter().find(inside) {
        Some(block) => special(block),
        None if global_unicast => AddressClass::Public,
        None => AddressClass::Special { block: "outside global unicast", rfc: "RFC 4291" },
    }
}

const fn special<Ip>(block: &Block<Ip>) -> AddressClass {
    AddressClass::Special { block: block.2, rfc: block.3 }
}

/// A way of writing an IPv4 address inside an IPv6 one.
#[derive(Clone, Copy)]
enum Form {
    /// Translated on the way (NAT64): reaches the address inside, as DNS64 means it to.
    Nat64,
    /// Any other form, by name and definition: no honest seller is there.
    Other(&'static str, &'static str),
}

/// The IPv4 address inside `ip`, where its prefix says that there is one.
fn embedded_v4(ip: Ipv6Addr) -> Option<(Ipv4Addr, Form)> {
    let low = |high: u16, low: u16| {
        let [a, b] = high.to_be_bytes();
        let [c, d] = low.to_be_bytes();
        v4(a, b, c, d)
    };
    match ip.segments() {
        [0x64, 0xff9b, 0, 0, 0, 0, high, last] => Some((low(high, last), Form::Nat64)),
        [0, 0, 0, 0, 0, 0xffff, high, last] => Some((low(high, last), Form::Other("IPv4-mapped", "RFC 4291"))),
        [0, 0, 0, 0, 0xffff, 0, high, last] => Some((low(high, last), Form::Other("IPv4-translated", "RFC 2765"))),
        [0, 0, 0, 0, 0, 0, high, last] if (high, last) != (0, 0) => {
            Some((low(high, last), Form::Other("IPv4-compatible", "RFC 4291")))
        }
        [0x2002, high, last, ..] => Some((low(high, last), Form::Other("6to4", "RFC 3056"))),
        [0x2001, 0, _, _, _, _, high, last] => Some((low(!high, !last), Form::Other("Teredo", "RFC 4380"))),
        // Behind any prefix; the bit in the first of the two says whether the address inside is unique worldwide.
        [_, _, _, _, 0 | 0x200, 0x5efe, high, last] => Some((low(high, last), Form::Other("ISATAP", "RFC 5214"))),
        _ => None,
    }
}

/// The IPv4 address that `ip` is translated to on the way, where it is of the well-known NAT64 prefix (RFC 6052).
pub(crate) fn reached_v4(ip: IpAddr) -> Option<Ipv4Addr> {
    match ip {
        IpAddr::V4(_) => None,
        IpAddr::V6(ip) => match embedded_v4(ip) {
            Some((inside, Form::Nat64)) => Some(inside),
            _ => None,
        },
    }
}

fn classify_embedded(embedded: Ipv4Addr, form: Form) -> AddressClass {
    match (classify_v4(embedded), form) {
        (AddressClass::Public, Form::Nat64) => AddressClass::Public,
        (AddressClass::Public, Form::Other(block, rfc)) => AddressClass::Special { block, rfc },
        (AddressClass::Loopback, _) => {
            AddressClass::Special { block: "loopback inside an IPv6 address", rfc: "RFC 1122" }
        }
        (inside, _) => inside,
    }
}

#[cfg(test)]
mod tests;
