//! The table of blocks, from both sides of every edge.

use std::vec::Vec;

use super::*;

fn class(text: &str) -> AddressClass {
    classify(text.parse().unwrap())
}

/// First and last address of each block that is never public, written out independently of the
/// table, and whether the neighbours just outside are public.
const EDGES: &[(&str, &str, [Neighbour; 2])] = {
    use Neighbour::{None, Public, Special};
    &[
        ("0.0.0.0", "0.255.255.255", [None, Public]),
        ("10.0.0.0", "10.255.255.255", [Public, Public]),
        ("100.64.0.0", "100.127.255.255", [Public, Public]),
        ("127.0.0.0", "127.255.255.255", [Public, Public]),
        ("168.63.129.16", "168.63.129.16", [Public, Public]),
        ("169.254.0.0", "169.254.255.255", [Public, Public]),
        ("172.16.0.0", "172.31.255.255", [Public, Public]),
        ("192.0.0.0", "192.0.0.255", [Public, Public]),
        ("192.0.2.0", "192.0.2.255", [Public, Public]),
        ("192.31.196.0", "192.31.196.255", [Public, Public]),
        ("192.52.193.0", "192.52.193.255", [Public, Public]),
        ("192.88.99.0", "192.88.99.255", [Public, Public]),
        ("192.168.0.0", "192.168.255.255", [Public, Public]),
        ("192.175.48.0", "192.175.48.255", [Public, Public]),
        ("198.18.0.0", "198.19.255.255", [Public, Public]),
        ("198.51.100.0", "198.51.100.255", [Public, Public]),
        ("203.0.113.0", "203.0.113.255", [Public, Public]),
        ("224.0.0.0", "239.255.255.255", [Public, Special]),
        ("240.0.0.0", "255.255.255.255", [Special, None]),
        ("::", "1fff:ffff:ffff:ffff:ffff:ffff:ffff:ffff", [None, Public]),
        ("2001::", "2001:1ff:ffff:ffff:ffff:ffff:ffff:ffff", [Public, Public]),
        ("2001:db8::", "2001:db8:ffff:ffff:ffff:ffff:ffff:ffff", [Public, Public]),
        ("2002::", "2002:ffff:ffff:ffff:ffff:ffff:ffff:ffff", [Public, Public]),
        ("2620:4f:8000::", "2620:4f:8000:ffff:ffff:ffff:ffff:ffff", [Public, Public]),
        ("3fff::", "3fff:fff:ffff:ffff:ffff:ffff:ffff:ffff", [Public, Public]),
        ("4000::", "ffff:ffff:ffff:ffff:ffff:ffff:ffff:ffff", [Public, None]),
    ]
};

/// What is next to a block.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Neighbour {
    /// There is no address.
    None,
    /// A public address.
    Public,
    /// Another block.
    Special,
}

fn next_to(ip: IpAddr, below: bool) -> IpAddr {
    match ip {
        IpAddr::V4(ip) => {
            let number = u32::from(ip);
            let next = if below { number.wrapping_sub(1) } else { number.wrapping_add(1) };
            IpAddr::V4(next.into())
        }
        IpAddr::V6(ip) => {
            let number = u128::from(ip);
            let next = if below { number.wrapping_sub(1) } else { number.wrapping_add(1) };
            IpAddr::V6(next.into())
        }
    }
}

#[test]
fn both_edges_of_every_block_and_their_neighbours() {
    for (first, last, [before, after]) in EDGES {
        assert!(!class(first).is_public(), "{first}");
        assert!(!class(last).is_public(), "{last}");
        for (edge, below, neighbour) in [(first, true, before), (last, false, after)] {
            let next = next_to(edge.parse().unwrap(), below);
            match neighbour {
                Neighbour::None => {}
                Neighbour::Public => assert!(classify(next).is_public(), "{next} next to {edge}"),
                Neighbour::Special => assert!(!classify(next).is_public(), "{next} next to {edge}"),
            }
        }
    }
}

#[test]
fn every_row_of_the_table_answers_with_its_own_name_at_both_edges() {
    for Block(first, prefix, block, rfc) in BLOCKS_V4 {
        let size = u32::MAX.checked_shr(*prefix).unwrap_or(0);
        let expected = AddressClass::Special { block, rfc };
        for ip in [u32::from(*first), u32::from(*first) | size] {
            let narrower = |row: &&Block<Ipv4Addr>| row.1 > *prefix && u32::from(row.0) == ip;
            if !BLOCKS_V4.iter().any(|row| narrower(&row)) {
                assert_eq!(classify(IpAddr::V4(ip.into())), expected, "{first}/{prefix}");
            }
        }
    }
    for Block(first, prefix, block, rfc) in BLOCKS_V6 {
        let size = u128::MAX.checked_shr(*prefix).unwrap_or(0);
        let expected = AddressClass::Special { block, rfc };
        for ip in [u128::from(*first), u128::from(*first) | size] {
            let ip = Ipv6Addr::from(ip);
            if embedded_v4(ip).is_none() {
                assert_eq!(classify(IpAddr::V6(ip)), expected, "{first}/{prefix}");
            }
        }
    }
}

#[test]
fn famous_addresses() {
    let special = [
        "169.254.169.254",
        "168.63.129.16",
        "100.100.100.200",
        "192.0.0.192",
        "198.18.0.1",
        "240.0.0.1",
        "0.0.0.0",
        "255.255.255.255",
        "10.1.1.1",
        "::",
        "fd00:ec2::254",
        "fec0::1",
        "fe80::1",
        "3fff::1",
        "5f00::1",
        "ff02::1",
        "64:ff9b:1::1",
        "100::1",
        "100:0:0:1::1",
        "2001:db8::1",
        "2001:4:112::1",
    ];
    for text in special {
        assert!(matches!(class(text), AddressClass::Special { .. }), "{text}");
    }
    let public = [
        "93.184.216.34",
        "8.8.8.8",
        "100.128.0.1",
        "172.32.0.1",
        "169.253.0.1",
        "192.0.1.1",
        "168.63.129.15",
        "2001:4860:4860::8888",
        "2606:4700::1111",
        "2a00:1450::1",
    ];
    for text in public {
        assert_eq!(class(text), AddressClass::Public, "{text}");
    }
}

#[test]
fn loopback_is_loopback_only_in_its_own_form() {
    for text in ["127.0.0.1", "127.255.255.255", "::1"] {
        assert_eq!(class(text), AddressClass::Loopback, "{text}");
    }
    for text in ["::ffff:127.0.0.1", "::127.0.0.1", "64:ff9b::7f00:1", "2002:7f00:1::1"] {
        assert!(matches!(class(text), AddressClass::Special { .. }), "{text}");
    }
}

#[test]
fn an_address_inside_an_address_is_judged() {
    let named = |text: &str| match class(text) {
        AddressClass::Special { block, .. } => block,
        other => panic!("{text} is {other:?}"),
    };
    let metadata = [
        "::ffff:169.254.169.254",
        "::169.254.169.254",
        "::ffff:0:a9fe:a9fe",
        "64:ff9b::a9fe:a9fe",
        "2002:a9fe:a9fe::",
        "2001:0:4136:e378:8000:63bf:5601:5601",
        "2606:4700::5efe:169.254.169.254",
        "2606:4700::200:5efe:169.254.169.254",
    ];
    for text in metadata {
        assert_eq!(named(text), "cloud metadata", "{text}");
    }
    assert_eq!(named("2001:0:4136:e378:8000:63bf:80ff:fffe"), "loopback inside an IPv6 address");
    assert_eq!(named("64:ff9b::168.63.129.16"), "Azure host channel");
    assert_eq!(named("::"), "unspecified");
    let with_public_inside = [
        ("::ffff:8.8.8.8", "IPv4-mapped"),
        ("::8.8.8.8", "IPv4-compatible"),
        ("::ffff:0:8.8.8.8", "IPv4-translated"),
        ("2002:808:808::1", "6to4"),
        ("2001:0:4136:e378:8000:63bf:f7f7:f7f7", "Teredo"),
        ("2606:4700::5efe:8.8.8.8", "ISATAP"),
    ];
    for (text, block) in with_public_inside {
        assert_eq!(named(text), block, "{text}");
    }
    assert_eq!(class("64:ff9b::8.8.8.8"), AddressClass::Public);
    assert_eq!(class("2606:4700::100:5efe:7f00:1"), AddressClass::Public, "no ISATAP identifier");
}

#[test]
fn every_address_of_a_nat64_prefix_is_as_good_as_the_one_inside() {
    let inside: Vec<Ipv4Addr> = BLOCKS_V4.iter().map(|row| row.0).collect();
    for ip in inside {
        let mut octets = [0; 16];
        octets[..4].copy_from_slice(&[0, 0x64, 0xff, 0x9b]);
        octets[12..].copy_from_slice(&ip.octets());
        assert!(!classify(IpAddr::V6(octets.into())).is_public(), "{ip}");
    }
}

proptest::proptest! {
    #[test]
    fn no_address_is_public_unless_the_standard_library_agrees_it_is_unicast(bits: u128) {
        let ip = Ipv6Addr::from(bits);
        let public = classify(IpAddr::V6(ip)).is_public();
        let suspicious = ip.is_multicast() || ip.is_loopback() || ip.is_unspecified()
            || ip.is_unicast_link_local() || ip.is_unique_local();
        proptest::prop_assert!(!(public && suspicious));
    }

    #[test]
    fn no_ipv4_address_is_public_against_the_standard_library(bits: u32) {
        let ip = Ipv4Addr::from(bits);
        let suspicious = ip.is_private() || ip.is_loopback() || ip.is_link_local() || ip.is_broadcast()
            || ip.is_documentation() || ip.is_multicast() || ip.is_unspecified();
        proptest::prop_assert!(!(classify(IpAddr::V4(ip)).is_public() && suspicious));
    }
}
