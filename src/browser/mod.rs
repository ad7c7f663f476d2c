//! The trusted glue between a vault and one browser: `bursar browser`. The model says which handle to use; the header that
//! pays goes from the vault onto the browser's own request, past the model and past every page.
//!
//! Guarantees: the header is asked for only when the one request that it is for is held in hand, it goes onto that request
//! and no other, and it is neither kept nor logged. Between payments no page is watched. Does not pin the browser's
//! connection: the browser looks the name up itself and trusts the authorities that it trusts.

pub mod cdp;
pub mod event;
pub mod join;
pub mod launch;
mod line;
pub(crate) mod neighbour;
mod pages;
mod payment;
mod till;
mod wanted;

use bursar_policy::Setting;
use bursar_vault::client::GlueClient;
use tokio::sync::mpsc;

use cdp::{Cdp, CdpFault};
use event::Event;
pub use payment::Broken;
use payment::Ended;
use till::Till;
use wanted::Wanted;

/// Makes every payment that the vault hands over, one after another, until `stop` ends.
///
/// # Errors
///
/// [`Broken`]: the browser or the vault has gone.
pub async fn serve(
    cdp: &Cdp,
    events: &mut mpsc::UnboundedReceiver<Event>,
    vault: GlueClient,
    setting: Setting,
    stop: impl Future<Output = ()>,
) -> Result<(), Broken> {
    let till = Till::over(vault);
    let ended = tokio::select! {
        () = stop => Ok(()),
        () = cdp.gone() => Err(Broken::Browser(CdpFault::Gone)),
        broken = one_by_one(cdp, events, &till, setting) => broken,
    };
    till.close();
    ended
}

async fn one_by_one(
    cdp: &Cdp,
    events: &mut mpsc::UnboundedReceiver<Event>,
    till: &Till,
    setting: Setting,
) -> Result<(), Broken> {
    loop {
        let Some(attach) = till.ask(GlueClient::next).await? else { continue };
        let page = Wanted::of(&attach, setting).map_or_else(|| "a page".to_owned(), |wanted| wanted.shown());
        tracing::info!("a payment for {page}: {}", attach.open.as_str());
        match payment::make(cdp, events, till, &attach, setting).await? {
            Ended::Reported(receipt) => tracing::info!("{}: {}", receipt.payment, receipt.outcome),
            Ended::Withheld(why) => tracing::warn!("the vault gave no payment for {page}: {why}"),
            Ended::Refused(why) => tracing::warn!("nothing was paid for {page}: {why:?}"),
        }
    }
}
