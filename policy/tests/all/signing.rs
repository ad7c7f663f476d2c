//! EIP-712 and EIP-3009 against published vectors and against the separators of every token.

use bursar_policy::*;
use sha3::{Digest as _, Keccak256};

use crate::builders::address;

const PAYER: &str = "0x2c7536E3605D9C16a7a3D7b1898e529396a65c23";
const PAYEE: &str = "0x209693Bc6afc0C5328bA36FaF03C514EF312287C";

fn authorization() -> Authorization {
    Authorization {
        from: address(PAYER),
        to: address(PAYEE),
        value: Amount::new(10_000).unwrap(),
        valid_after: 0,
        valid_before: 1_740_672_154,
        nonce: [0x11; 32],
    }
}

fn domain(asset: &Asset) -> Domain {
    Domain {
        name: asset.eip712_name.clone(),
        version: asset.eip712_version.clone(),
        chain: asset.id.chain,
        contract: asset.id.contract,
    }
}

fn known(id: &str) -> Asset {
    AssetTable::builtin().find(&id.parse().unwrap()).unwrap().clone()
}

/// Separators that were worked out by another implementation.
#[rustfmt::skip]
const SEPARATORS: &[(&str, &str)] = &[
    ("eip155:8453/erc20:0x833589fCD6eDb6E08f4c7C32D4f71b54bdA02913", "02fa7265e7c5d81118673727957699e4d68f74cd74b7db77da710fe8a2c7834f"),
    ("eip155:84532/erc20:0x036CbD53842c5426634e7929541eC2318f3dCF7e", "71f17a3b2ff373b803d70a5a07c046c1a2bc8e89c09ef722fcb047abe94c9818"),
    ("eip155:1/erc20:0xA0b86991c6218b36c1d19D4a2e9Eb0cE3606eB48", "06c37168a7db5138defc7866392bb87a741f9b3d104deb5094588ce041cae335"),
    ("eip155:43114/erc20:0xB97EF9Ef8734C71904D8002F8b6Bc66Dd9c48a6E", "bbea200329a938bc3438984a49cb0732e66d66d7bd59c127abacc1710e77f7b3"),
    ("eip155:143/erc20:0x754704Bc059F8C67012fEd69BC8A327a5aafb603", "fe22123edc0dd4aeb912eb7948c5f0e531592c2053b3067612f427db342c93c6"),
    ("eip155:988/erc20:0x779Ded0c9e1022225f8E0630b35a9b54bE713736", "f21cc02b28f1a6c8d5ae07aaf9d8954535a11acbaf36923aef1b21d0fc27b221"),
    ("eip155:2201/erc20:0x78Cf24370174180738C5B8E352B6D14c83a6c9A9", "8ab6d6926f29d5cf5137b569b2033492d332e54bfc801640d48745da4ab8c1fe"),
    ("eip155:137/erc20:0x3c499c542cEF5E3811e1192ce70d8cC03d5c3359", "caa2ce1a5703ccbe253a34eb3166df60a705c561b44b192061e28f2a985be2ca"),
    ("eip155:42161/erc20:0xaf88d065e77c8cC2239327C5EDb3A432268e5831", "08d11903f8419e68b1b8721bcbe2e9fc68569122a77ef18c216f10b3b5112c78"),
    ("eip155:421614/erc20:0x75faf114eafb1BDbe2F0316DF893fd58CE46AA4d", "85944e1292d007732838d6eadfa67589b78ffcededbd4df60488d0af251308bb"),
    ("eip155:36900/erc20:0x9cb8142aEBBcdc60AF7c97Af897A67A8f3CA71C2", "4369b2ef8a73be962c9aaf8dcddc38d022dca40af0729d7e4c80a3b44f6698fa"),
    ("eip155:190415/erc20:0x401eCb1D350407f13ba348573E5630B83638E30D", "ec205e80d13812cd615a90f0751d6abc05df7ebcbb86c5c50e6abb874d53df6a"),
    ("eip155:181228/erc20:0x401eCb1D350407f13ba348573E5630B83638E30D", "770326a81f629cc1072c47674445f4894838dbc10fb9e90abbb0f05c105ba4f2"),
    ("eip155:50/erc20:0xfA2958CB79b0491CC627c1557F441eF849Ca8eb1", "e3bb44ae105af7e23bb39b117e22bbcbf435066554f45b3a9bbcba42c80fe56d"),
    ("eip155:51/erc20:0xb5AB69F7bBada22B28e79C8FFAECe55eF1c771D4", "3835afe643ce123f3bc71a8e3123e24651d2d4309bbf3ba58329a1db60b9b2c3"),
    ("eip155:14/erc20:0xe7cd86e13AC4309349F30B3435a9d337750fC82D", "4c53d754dcb2f406ecf83695856d8c10b13296a318d9a481043412bf253d43ae"),
    ("eip155:42220/erc20:0xcebA9300f2b948710d2653dD7B07f33A8B32118C", "b2ce31d2838445fa765a491f550e7c78ac7280ab0f3bc9d6063a86df9c3fb578"),
    ("eip155:42220/erc20:0x48065fbBE25f71C9282ddf5e1cD6D6A887483D5e", "bcb4d62e4834b598d0eacecd84c0b397a0254e077c41cf2143e394d5701d1088"),
    ("eip155:42220/erc20:0xD2ab3C9A02DBBAB236BfEC45D1d755DF4267F771", "e6bbb7920a85afd44befe87c998da24b8b655c972faf8a8acbdf38c829ff8bf2"),
    ("eip155:11142220/erc20:0x01C5C0122039549AD1493B8220cABEdD739BC44E", "23f491197bb8c5ea4fe8dd4c2293b600f073553f9814015e7a5eb57724df9578"),
    ("eip155:1329/erc20:0xe15fC38F6D8c56aF07bbCBe3BAf5708A2Bf42392", "0a19136106ae98d2c245cbbd451f3cb2bbbb1670e1ee191abacb5a5e255c0255"),
    ("eip155:1328/erc20:0x4fCF1784B31630811181f670Aea7A7bEF803eaED", "154bb5980ce1d584a1067dc67730720e6046d0364a2ade0b692dd488e71fe653"),
];

/// Built-in tokens whose separator nobody has published: fresh deployments and test networks.
const WITHOUT_SEPARATOR: [u64; 5] = [5042, 10_143, 43_113, 80_002, 5_042_002];

#[test]
fn the_domain_of_every_builtin_token_has_its_separator() {
    for (id, separator) in SEPARATORS {
        assert_eq!(hex::encode(domain(&known(id)).separator()), *separator, "{id}");
    }
    let table = AssetTable::builtin();
    let untested = table.iter().filter(|asset| !SEPARATORS.iter().any(|(id, _)| id.parse() == Ok(asset.id)));
    let untested: Vec<u64> = untested.map(|asset| asset.id.chain.number()).collect();
    assert_eq!(untested, WITHOUT_SEPARATOR);
}

#[test]
fn a_transfer_has_its_published_hashes() {
    let struct_hash = "13daefc34d891f4814f3c3d5a61607dd5fbc25b07b136588084278ee499eb271";
    assert_eq!(hex::encode(authorization().struct_hash()), struct_hash);
    for (id, digest) in [
        (
            "eip155:84532/erc20:0x036CbD53842c5426634e7929541eC2318f3dCF7e",
            "a67fd16e6332714f73e5af3fa872fcbc1f6fb69873cd8e31ffcace1591df052c",
        ),
        (
            "eip155:8453/erc20:0x833589fCD6eDb6E08f4c7C32D4f71b54bdA02913",
            "83c9116f6fafb41940d171bc36111f9203452b4cdbf5626189d16813898c84d0",
        ),
    ] {
        assert_eq!(hex::encode(authorization().digest(&domain(&known(id)))), digest, "{id}");
    }
}

#[test]
fn every_field_is_in_the_hash() {
    let plain = authorization();
    let other = address(PAYEE);
    let variants = [
        Authorization { from: other, ..plain.clone() },
        Authorization { to: address(PAYER), ..plain.clone() },
        Authorization { value: Amount::new(10_001).unwrap(), ..plain.clone() },
        Authorization { valid_after: 1, ..plain.clone() },
        Authorization { valid_before: 1_740_672_155, ..plain.clone() },
        Authorization { nonce: [0x12; 32], ..plain.clone() },
    ];
    for variant in variants {
        assert_ne!(variant.struct_hash(), plain.struct_hash(), "{variant:?}");
    }
    let base = domain(&known("eip155:8453/erc20:0x833589fCD6eDb6E08f4c7C32D4f71b54bdA02913"));
    let domains = [
        Domain { name: "USDC".into(), ..base.clone() },
        Domain { version: "1".into(), ..base.clone() },
        Domain { chain: ChainId::new(1), ..base.clone() },
        Domain { contract: other, ..base.clone() },
    ];
    for variant in domains {
        assert_ne!(variant.separator(), base.separator(), "{variant:?}");
    }
}

#[test]
fn a_large_value_fills_its_word_from_the_right() {
    let most = Authorization { value: Amount::new(u128::MAX).unwrap(), ..authorization() };
    let mut bytes = Vec::new();
    bytes.extend(Keccak256::digest(
        "TransferWithAuthorization(address from,address to,uint256 value,uint256 validAfter,\
         uint256 validBefore,bytes32 nonce)",
    ));
    for account in [PAYER, PAYEE] {
        bytes.extend([0; 12]);
        bytes.extend(address(account).as_bytes());
    }
    bytes.extend([0; 16]);
    bytes.extend([0xff; 16]);
    bytes.extend([0; 32]);
    bytes.extend([0; 24]);
    bytes.extend(1_740_672_154_u64.to_be_bytes());
    bytes.extend([0x11; 32]);
    assert_eq!(most.struct_hash().as_slice(), Keccak256::digest(bytes).as_slice());
}

#[test]
fn an_authorization_crosses_serde_unchanged() {
    let text = serde_json::to_string(&authorization()).unwrap();
    assert!(text.contains(&format!("\"nonce\":\"0x{}\"", "11".repeat(32))), "{text}");
    assert!(text.contains("\"value\":\"10000\""), "{text}");
    assert_eq!(serde_json::from_str::<Authorization>(&text).unwrap(), authorization());
    for spoilt in [text.replace("0x11", "11"), text.replace("0x11", "0x"), text.replace("from", "form")] {
        assert!(serde_json::from_str::<Authorization>(&spoilt).is_err(), "{spoilt}");
    }
}

#[test]
fn a_life_is_the_smaller_of_both_and_at_least_ten_seconds() {
    assert_eq!(validity(Version::V2, 1000, 60, 300), Some((0, 1060)));
    assert_eq!(validity(Version::V1, 1000, 60, 300), Some((400, 1060)));
    assert_eq!(validity(Version::V1, 100, 60, 300), Some((0, 160)));
    assert_eq!(validity(Version::V2, 1000, 86_400, 300), Some((0, 1300)));
    assert_eq!(validity(Version::V2, 1000, 10, 300), Some((0, 1010)));
    assert_eq!(validity(Version::V2, 1000, 9, 300), None);
    assert_eq!(validity(Version::V2, 1000, 300, 9), None);
    assert_eq!(validity(Version::V2, u64::MAX, 60, 300), None);
    assert_eq!(validity(Version::V2, 1000, u64::MAX, u64::MAX), None);
}
