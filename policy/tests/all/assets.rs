//! The asset table: what is built in, and what an operator may add.

use bursar_policy::*;

use crate::builders::{TEST_USDC, USDC, usdc};

fn mine() -> Asset {
    Asset {
        id: "eip155:11155111/erc20:0x1c7D4B196Cb0C7B01d743Fbc6116a902379C7238".parse().unwrap(),
        symbol: "USDC".into(),
        decimals: 6,
        currency: Currency::USD,
        eip712_name: "USDC".into(),
        eip712_version: "2".into(),
    }
}

fn id(chain: u64, contract: &str) -> AssetId {
    AssetId { chain: ChainId::new(chain), contract: contract.parse().unwrap() }
}

#[test]
fn the_builtin_list_is_complete_and_on_known_chains() {
    let table = AssetTable::builtin();
    assert_eq!(table.iter().count(), 27);
    for asset in table.iter() {
        assert!(asset.id.chain.name().is_some(), "{}", asset.id);
        assert_eq!((asset.decimals, asset.currency), (6, Currency::USD));
        assert_eq!(asset.id.to_string().parse(), Ok(asset.id));
        assert_ne!(asset.id.chain, ChainId::LOCAL);
    }
    assert_eq!(table.find(&usdc()).unwrap().eip712_name, "USD Coin");
    assert_eq!(table.find(&id(84532, TEST_USDC)).unwrap().eip712_name, "USDC");
    assert_eq!(table.find(&id(14, "0xe7cd86e13AC4309349F30B3435a9d337750fC82D")).unwrap().eip712_name, "USD₮0");
    assert_eq!(table.find(&id(1, USDC)), None);
    assert_eq!(table, AssetTable::default());
}

#[test]
fn an_unknown_token_is_added() {
    let table = AssetTable::builtin().with(mine()).unwrap();
    assert_eq!(table.find(&mine().id), Some(&mine()));
    assert_eq!(table.iter().count(), 28);
}

#[test]
fn a_builtin_token_may_be_repeated_but_not_changed() {
    let known = AssetTable::builtin().find(&usdc()).unwrap().clone();
    assert_eq!(AssetTable::builtin().with(known.clone()), Ok(AssetTable::builtin()));
    let changes = [
        Asset { decimals: 18, ..known.clone() },
        Asset { eip712_name: "USDC".into(), ..known.clone() },
        Asset { eip712_version: "1".into(), ..known.clone() },
        Asset { currency: "EUR".parse().unwrap(), ..known.clone() },
    ];
    for changed in changes {
        assert_eq!(AssetTable::builtin().with(changed), Err(AssetFault::DiffersFromBuiltin(usdc())));
    }
}

#[test]
fn a_contract_of_another_chain_is_a_mistake_except_on_a_local_fork() {
    let misplaced = Asset { id: id(8453, TEST_USDC), ..mine() };
    assert_eq!(
        AssetTable::builtin().with(misplaced.clone()),
        Err(AssetFault::OtherChain { id: misplaced.id, known_on: ChainId::BASE_SEPOLIA })
    );
    let fork = Asset { id: id(31337, USDC), ..mine() };
    assert!(AssetTable::builtin().with(fork).is_ok());
}

#[test]
fn tokens_that_cannot_be_paid_or_counted_are_refused() {
    let bnb = id(56, "0x8AC76a51cc950d9822D68b83fE1Ad97B32Cd580d");
    assert_eq!(AssetTable::builtin().with(Asset { id: bnb, ..mine() }), Err(AssetFault::NotEip3009(bnb)));
    let id = mine().id;
    assert_eq!(AssetTable::builtin().with(Asset { decimals: 19, ..mine() }), Err(AssetFault::Decimals(id)));
    for empty in [
        Asset { eip712_name: String::new(), ..mine() },
        Asset { eip712_version: String::new(), ..mine() },
        Asset { symbol: String::new(), ..mine() },
    ] {
        assert_eq!(AssetTable::builtin().with(empty), Err(AssetFault::Empty(id)));
    }
    let twice = AssetTable::builtin().with(mine()).unwrap().with(mine());
    assert_eq!(twice, Err(AssetFault::Twice(id)));
}

#[test]
fn an_unknown_key_in_an_asset_is_refused() {
    let row = |extra: &str| {
        format!(
            "id = \"{}\"\nsymbol = \"USDC\"\ndecimals = 6\ncurrency = \"USD\"\neip712_name = \"USDC\"\n\
             eip712_version = \"2\"\n{extra}",
            mine().id
        )
    };
    assert_eq!(toml::from_str::<Asset>(&row("")).unwrap(), mine());
    assert!(toml::from_str::<Asset>(&row("decimal = 6")).is_err());
}
