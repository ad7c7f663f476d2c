//! The short network names of x402 v1, and which chain each one means. It must never be asked
//! about v2, whose networks are CAIP-2 ids.

use crate::chain::ChainId;

/// Names on which all reference implementations agree, in order of their text.
///
/// `story`, `educhain` and `skale-base-sepolia` are left out on purpose: implementations map them
/// to different chain ids, and the chain id is part of what gets signed.
const NAMES: &[(&str, u64)] = &[
    ("abstract", 2741),
    ("abstract-testnet", 11124),
    ("avalanche", 43114),
    ("avalanche-fuji", 43113),
    ("base", 8453),
    ("base-sepolia", 84532),
    ("celo", 42220),
    ("ethereum", 1),
    ("flare", 14),
    ("iotex", 4689),
    ("megaeth", 4326),
    ("monad", 143),
    ("monad-testnet", 10143),
    ("peaq", 3338),
    ("polygon", 137),
    ("polygon-amoy", 80002),
    ("sei", 1329),
    ("sei-testnet", 1328),
    ("sepolia", 11_155_111),
    ("stable", 988),
    ("stable-testnet", 2201),
];

/// The chain that x402 v1 calls `name`; `None` for a name that is unknown or disputed.
#[must_use]
pub fn v1_chain(name: &str) -> Option<ChainId> {
    let found = NAMES.iter().find(|(known, _)| *known == name);
    found.map(|(_, number)| ChainId::new(*number))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_name_is_a_known_chain_and_the_list_is_in_order() {
        for (name, number) in NAMES {
            assert!(ChainId::new(*number).name().is_some(), "{name}");
            assert_eq!(v1_chain(name), Some(ChainId::new(*number)));
        }
        assert!(NAMES.is_sorted_by(|one, two| one.0 < two.0));
    }

    #[test]
    fn disputed_foreign_and_misspelt_names_mean_nothing() {
        let none = ["story", "educhain", "skale-base-sepolia", "solana", "Base", "base ", "", "8453"];
        for name in none {
            assert_eq!(v1_chain(name), None, "{name}");
        }
    }
}
