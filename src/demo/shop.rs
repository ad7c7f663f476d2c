//! The demo's seller without the demo's script: it stays open, for a person who tries commands of their own.
//!
//! Play money, on this machine alone. It must never leave the vault it started running.

use std::io::{self, Write};
use std::path::PathBuf;

use tokio::runtime;
use zeroize::Zeroizing;

use super::money::dollars;
use super::script::ScriptFault;
use super::seller::world::host;
use super::stage::{Stage, rules};
use super::{DemoFault, stopped};

/// The passphrase of every such sandbox. There is nothing in one to protect.
pub const SHOP_PASSPHRASE: &str = "play money only";

/// What is pointed out: a host, a path, and what there is to see.
const SIGHTS: [(&str, &str, &str); 6] = [
    (host::SHOP, "/v2/report", "costs 0.05 USD"),
    (host::SHOP, "/v2/atlas", "costs 0.20 USD"),
    (host::SHOP, "/v2/yacht", "costs 9.00 USD, more than the rules pay"),
    (host::SHOP, "/v2/hang-up", "takes the money and hangs up at first"),
    (host::MALLORY, "/v2/swapped-payee", "wants somebody else to be paid"),
    (host::MALLORY, "/v2/ask-again", "takes the payment and asks for more"),
];

/// Where a shop is opened.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ShopOptions {
    /// The new folder that becomes its sandbox, and stays when the shop is closed.
    pub folder: PathBuf,
    /// The port on 127.0.0.1; a free one for 0.
    pub port: u16,
}

/// Opens the shop, says on `out` what there is, and stays until the user or the system stops it. Blocks; must not be called
/// from inside an async runtime.
///
/// The wallet is unlocked and no budget is open. Whatever runs for the shop has ended when this returns.
///
/// # Errors
///
/// [`DemoFault::Broken`] when it could not open: the folder is there already, or the port is taken.
pub fn open_shop(options: &ShopOptions, out: &mut dyn Write) -> Result<(), DemoFault> {
    let broken = |fault: &dyn std::fmt::Display| DemoFault::Broken(fault.to_string());
    let runtime = runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build();
    runtime.map_err(|fault| broken(&fault))?.block_on(async {
        let stopped = stopped().map_err(|fault| broken(&fault))?;
        tokio::select! {
            ended = keep_open(options, out) => ended.map_err(|fault| broken(&fault)),
            () = stopped => Ok(()),
        }
    })
}

async fn keep_open(options: &ShopOptions, out: &mut dyn Write) -> Result<(), ScriptFault> {
    let passphrase = Zeroizing::new(SHOP_PASSPHRASE.to_owned());
    let stage = Stage::set_for(Some(&options.folder), options.port, rules::few, passphrase).await?;
    show(&stage, out)?;
    // The stage goes, and everything that it started, when this is given up.
    std::future::pending().await
}

fn show(stage: &Stage, out: &mut dyn Write) -> io::Result<()> {
    let purse = dollars(stage.seller().balances(stage.buyer()).0);
    writeln!(
        out,
        "The shop is open: a wallet with {purse} USD of play money, its vault, and a seller on this machine."
    )?;
    writeln!(out, "rules       {}", stage.profile().rules().display())?;
    writeln!(out, "passphrase  {SHOP_PASSPHRASE}")?;
    for (host, path, what) in SIGHTS {
        writeln!(out, "page        {}  {what}", stage.seller().url(host, path))?;
    }
    let folder = stage.profile().home().display();
    writeln!(out, "No budget is open yet. In another terminal: `bursar --sandbox {folder} status`.")?;
    writeln!(out, "Ctrl-C closes the shop; its folder stays.")?;
    out.flush()
}
