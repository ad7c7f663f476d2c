//! The account that pays, as a person sees it who is about to put money there: address, network, asset, and a QR code.

use bursar_policy::{Address, Asset, Setting};
use bursar_vault::profile::Profile;
use qrcodegen::{QrCode, QrCodeEcc};
use serde::Serialize;

use crate::cli::exit::Stop;
use crate::cli::table;

/// White around a code, in modules (ISO/IEC 18004 wants four).
const QUIET: i32 = 4;

/// What was set up.
#[derive(Debug, Serialize)]
pub(in crate::cli) struct Account {
    payer: Address,
    network: String,
    asset: String,
    symbol: String,
    home: String,
    rules: String,
    #[serde(skip)]
    contract: Address,
    #[serde(skip)]
    named: String,
    #[serde(skip)]
    fund: &'static str,
}

impl Account {
    pub(in crate::cli) fn new(profile: &Profile, asset: &Asset, payer: Address) -> Self {
        let fund = match (profile.setting(), asset.id.chain.is_testnet()) {
            (Setting::Sandbox, _) => "this is a sandbox: its money is play money",
            (Setting::Real, true) => "a test network: its faucets give free test money (for USDC: faucet.circle.com)",
            (Setting::Real, false) => "REAL MONEY: send only what you are ready to lose, a few days of budget",
        };
        Self {
            payer,
            network: asset.id.chain.to_string(),
            asset: asset.id.to_string(),
            symbol: asset.symbol.clone(),
            home: profile.home().display().to_string(),
            rules: profile.rules().display().to_string(),
            contract: asset.id.contract,
            named: asset.id.chain.name().unwrap_or("a network without a name here").to_owned(),
            fund,
        }
    }

    /// Shows it in lines, and on a terminal with a code for a wallet's camera.
    pub(in crate::cli) fn show(&self) -> Result<(), Stop> {
        table::say(&format!("account  {}", self.payer))?;
        table::say(&format!("network  {} ({})", self.network, self.named))?;
        table::say(&format!("asset    {} {}", self.symbol, self.contract))?;
        table::say(&format!("fund it  {}; no other coin is needed, sellers pay the network's fee", self.fund))?;
        table::say(&format!("rules    {}", self.rules))?;
        // The address alone, which every wallet and exchange reads; few read a URI that names network and asset too.
        if let Ok(code) = QrCode::encode_text(&self.payer.to_string(), QrCodeEcc::Low) {
            table::say_picture(&rows(&code))?;
        }
        Ok(())
    }
}

/// The code in half blocks, two rows of modules in each line; what is light is drawn.
fn rows(code: &QrCode) -> Vec<String> {
    let end = code.size().saturating_add(QUIET);
    let is_light = |x, y| !code.get_module(x, y);
    let line = |y: i32| {
        let below = y.saturating_add(1);
        let half = |x| match (is_light(x, y), below < end && is_light(x, below)) {
            (true, true) => '█',
            (true, false) => '▀',
            (false, true) => '▄',
            (false, false) => ' ',
        };
        (-QUIET..end).map(half).collect()
    };
    (-QUIET..end).step_by(2).map(line).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_code_in_half_blocks_has_every_module_and_white_around_it() {
        let code = QrCode::encode_text("0x209693Bc6afc0C5328bA36FaF03C514EF312287C", QrCodeEcc::Low).unwrap();
        let rows = rows(&code);
        let size = usize::try_from(code.size()).unwrap();
        assert!(rows.len() * 2 >= size + 8);
        let grid: Vec<Vec<char>> = rows.iter().map(|row| row.chars().collect()).collect();
        assert!(grid.iter().all(|row| row.len() == size + 8));
        for y in 0..size {
            for x in 0..size {
                let cell = grid[(y + 4) / 2][x + 4];
                let is_light = if (y + 4) % 2 == 0 { "█▀".contains(cell) } else { "█▄".contains(cell) };
                let (at_x, at_y) = (i32::try_from(x).unwrap(), i32::try_from(y).unwrap());
                assert_eq!(is_light, !code.get_module(at_x, at_y), "{x} {y}");
            }
        }
        assert!(grid[0].iter().chain(&grid[1]).all(|cell| *cell == '█'), "four rows of white");
    }
}
