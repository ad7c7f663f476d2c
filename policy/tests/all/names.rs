//! Chains, addresses and asset ids: read strictly, written in one way.

use bursar_policy::*;
use proptest::prelude::*;

use crate::builders::{USDC, usdc};

#[test]
fn a_chain_is_caip_2_to_the_letter() {
    assert_eq!("eip155:8453".parse(), Ok(ChainId::BASE));
    assert_eq!(ChainId::BASE.to_string(), "eip155:8453");
    assert_eq!("eip155:18446744073709551615".parse(), Ok(ChainId::new(u64::MAX)));
    let bad = [
        "EIP155:8453",
        "Eip155:8453",
        "eip155:08453",
        "eip155:0",
        "eip155:",
        "eip155:0x2105",
        "eip155:*",
        "eip155:-1",
        "eip155:+8453",
        "eip155: 8453",
        " eip155:8453",
        "eip155:8453 ",
        "eip155:8453/",
        "eip155:٨",
        "base",
        "8453",
        "",
        "eip155:18446744073709551616",
        "solana:5eykt4UsFv8P8NJdTREpY1vzqKqZKvdp",
        "eip155：8453",
    ];
    for text in bad {
        assert!(text.parse::<ChainId>().is_err(), "{text}");
    }
}

#[test]
fn an_unknown_chain_is_not_a_testnet() {
    assert!(ChainId::BASE_SEPOLIA.is_testnet() && ChainId::LOCAL.is_testnet());
    assert!(!ChainId::BASE.is_testnet() && !ChainId::new(424_242).is_testnet());
    assert_eq!(ChainId::new(424_242).name(), None);
}

#[test]
fn an_address_is_one_case_or_its_checksum() {
    let canonical: Address = USDC.parse().unwrap();
    assert_eq!(USDC.to_lowercase().parse(), Ok(canonical));
    assert_eq!(format!("0x{}", USDC[2..].to_uppercase()).parse(), Ok(canonical));
    assert_eq!(canonical.to_string(), USDC);
    assert!(!canonical.is_zero());
    assert!(format!("0x{}", "0".repeat(40)).parse::<Address>().unwrap().is_zero());
}

#[test]
fn the_checksum_examples_of_eip_55_hold() {
    for text in [
        "0x5aAeb6053F3E94C9b9A09f33669435E7Ef1BeAed",
        "0xfB6916095ca1df60bB79Ce92cE3Ea74c37c5d359",
        "0xdbF03B407c01E7cD3CBea99509d93f8DDDC8C6FB",
        "0xD1220A0cf47c7B9Be7A2E6BA89F429762e7b9aDb",
    ] {
        assert_eq!(text.parse::<Address>().unwrap().to_string(), text);
    }
}

#[test]
fn every_other_address_says_what_is_wrong() {
    use AddressFault::{Checksum, Length, NotHex, Prefix};
    let cases: [(&str, AddressFault); 11] = [
        ("", Length),
        ("walletaddress", Length),
        ("0x111111111111111111111111111111111111111", Length),
        ("0x11111111111111111111111111111111111111111", Length),
        ("0x1111111111111111111111111111111111111111\u{0}evil", Length),
        ("0X1111111111111111111111111111111111111111", Prefix),
        ("111111111111111111111111111111111111111111", Prefix),
        ("0x11111111111111111111111111111111111111l1", NotHex),
        ("0x111111111111111111111111111111111111111 ", NotHex),
        ("0x833589FCD6eDb6E08f4c7C32D4f71b54bdA02913", Checksum),
        ("0х111111111111111111111111111111111111111", Prefix),
    ];
    for (text, fault) in cases {
        assert_eq!(text.parse::<Address>(), Err(fault), "{text}");
    }
}

#[test]
fn an_asset_id_is_caip_19() {
    let text = format!("eip155:8453/erc20:{USDC}");
    assert_eq!(text.parse(), Ok(usdc()));
    assert_eq!(usdc().to_string(), text);
    for bad in [
        USDC.to_owned(),
        format!("eip155:8453/ERC20:{USDC}"),
        format!("eip155:8453/erc721:{USDC}"),
        format!("eip155:*/erc20:{USDC}"),
        format!("eip155:8453/erc20:{USDC}/1"),
        format!("eip155:8453/erc20:{USDC} "),
    ] {
        assert!(bad.parse::<AssetId>().is_err(), "{bad}");
    }
}

#[test]
fn names_and_ids_have_narrow_alphabets() {
    assert!("Order_1.a:b-c".parse::<PurchaseId>().is_ok());
    assert!("x".repeat(64).parse::<PurchaseId>().is_ok());
    for bad in [String::new(), "x".repeat(65), "a b".into(), "é".into(), "a/b".into(), "a\n".into()] {
        assert!(bad.parse::<PurchaseId>().is_err(), "{bad}");
    }
    assert_eq!(SessionName::default().as_str(), "default");
    for bad in [String::new(), "x".repeat(33), "Upper".into(), "a_b".into(), "../x".into()] {
        assert!(bad.parse::<SessionName>().is_err(), "{bad}");
    }
    let id = SessionId::from_random([0xab; 16]);
    assert_eq!(id.as_str(), format!("s_{}", "ab".repeat(16)));
    assert_eq!(id.as_str().parse(), Ok(id));
    for bad in ["s_", "p_abababababababababababababababab", "s_ABababababababababababababababab", "s_abab"] {
        assert!(bad.parse::<SessionId>().is_err(), "{bad}");
    }
}

proptest! {
    #[test]
    fn no_text_breaks_the_parsers(text in "(eip155:|0x)?.{0,60}") {
        if let Ok(chain) = text.parse::<ChainId>() {
            prop_assert_eq!(chain.to_string(), text.as_str());
        }
        if let Ok(address) = text.parse::<Address>() {
            prop_assert_eq!(address.to_string().to_lowercase(), text.to_lowercase());
        }
        if let Ok(asset) = text.parse::<AssetId>() {
            prop_assert_eq!(asset.to_string().to_lowercase(), text.to_lowercase());
        }
        let ids = (text.parse::<PurchaseId>(), text.parse::<SessionName>(), text.parse::<QuoteId>());
        prop_assert!(ids.0.is_err() || text.len() <= 64);
        prop_assert!(ids.1.is_err() || text.len() <= 32);
        prop_assert!(ids.2.is_err() || text.len() == 34);
    }

    #[test]
    fn an_address_survives_its_own_text(bytes: [u8; 20]) {
        let address = Address::from_bytes(bytes);
        prop_assert_eq!(address.to_string().parse(), Ok(address));
        prop_assert_eq!(address.to_string().to_lowercase().parse(), Ok(address));
    }

    #[test]
    fn one_letter_in_the_wrong_case_breaks_the_checksum(bytes: [u8; 20], place in 2..42_usize) {
        let text = Address::from_bytes(bytes).to_string();
        let flipped: String = text.char_indices().map(|(at, letter)| match letter {
            _ if at != place => letter,
            'a'..='f' => letter.to_ascii_uppercase(),
            'A'..='F' => letter.to_ascii_lowercase(),
            digit => digit,
        }).collect();
        let mixed = flipped[2..].chars().any(|c| c.is_ascii_lowercase())
            && flipped[2..].chars().any(|c| c.is_ascii_uppercase());
        if flipped != text && mixed {
            prop_assert_eq!(flipped.parse::<Address>(), Err(AddressFault::Checksum));
        }
    }
}
