//! What is sold, for how much and to whose good: the lab's list, with tokens in the library's own words.

use serde::Deserialize;
use x402_chain_eip155::KnownNetworkEip155 as _;
use x402_chain_eip155::chain::{AssetTransferMethod, ChecksummedAddress, Eip155TokenDeployment};
use x402_types::networks::USDC;

/// Everything that one seller sells.
#[derive(Deserialize)]
pub struct Offers {
    pub seller: String,
    pub version: Generation,
    payee: ChecksummedAddress,
    foreign: Foreign,
    pub goods: Vec<Good>,
}

/// A generation of the protocol.
#[derive(Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Generation {
    V1,
    V2,
}

/// One path and its price.
#[derive(Deserialize)]
pub struct Good {
    pub method: Method,
    pub path: String,
    /// In dollars, as `$0.001`.
    pub price: String,
    payee: Option<ChecksummedAddress>,
    #[serde(default)]
    foreign: bool,
}

/// How a path is asked for.
#[derive(Deserialize)]
#[serde(rename_all = "UPPERCASE")]
pub enum Method {
    Get,
    Post,
}

/// A token that the library does not know.
#[derive(Deserialize)]
struct Foreign {
    address: ChecksummedAddress,
    name: String,
    version: String,
    decimals: u8,
}

impl Offers {
    /// Who is paid for this one.
    pub fn payee_of(&self, good: &Good) -> ChecksummedAddress {
        good.payee.unwrap_or(self.payee)
    }

    /// What this one is paid in: the library's USDC, or the token that it does not know, on the same chain.
    pub fn token_of(&self, good: &Good) -> Eip155TokenDeployment {
        let usdc: Eip155TokenDeployment = USDC::base_sepolia();
        if !good.foreign {
            return usdc;
        }
        let Foreign { address, name, version, decimals } = &self.foreign;
        let transfer_method = AssetTransferMethod::Eip3009 { name: name.clone(), version: version.clone() };
        Eip155TokenDeployment { address: address.0, decimals: *decimals, transfer_method, ..usdc }
    }
}
