//! The seller over real TLS: what it sells, and every payment it must turn down.
#![expect(clippy::arithmetic_side_effects, reason = "a test that overflows fails, as it should")]

mod buyer;
mod checks;
mod tricks;

pub(super) use self::buyer::{Answer, Buyer};

use super::world;
use super::{Seller, Stall};

/// Ten dollars in the buyer's purse.
const PURSE_UNITS: u128 = 10_000_000;

async fn opened() -> (Seller, Buyer) {
    let stall = Stall::set_up(0).await.unwrap();
    let buyer = Buyer::trusting(stall.ca_pem(), stall.port());
    let seller = stall.open(buyer.address(), PURSE_UNITS);
    (seller, buyer)
}

fn left_of(seller: &Seller, buyer: &Buyer) -> u128 {
    let (test, main) = seller.balances(buyer.address());
    assert_eq!(main, PURSE_UNITS, "nothing may ever leave on the other network");
    PURSE_UNITS - test
}

fn earned(seller: &Seller) -> u128 {
    seller.balances(world::merchant()).0
}
