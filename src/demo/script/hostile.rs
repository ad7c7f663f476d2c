//! Sellers that cheat: before paying, with the offer; and after paying, with the answer.

use super::ScriptFault;
use super::account::{Account, UNPROVEN};
use super::measure::Scribe;
use super::purchases::Order;
use crate::demo::client::McpClient;
use crate::demo::seller::FIVE_CENTS;
use crate::demo::seller::world::host;
use crate::demo::stage::Stage;

/// What the model hears of any offer that does not pass, so that a seller cannot feel its way along the rules.
const UNIFORM: &str = "offer_refused";

/// An offer that must be refused.
struct Bait {
    step: &'static str,
    path: &'static str,
    /// By the operator's log.
    reasons: &'static [&'static str],
    /// By the model.
    told: &'static str,
}

const BAITS: [Bait; 8] = [
    bait("v2 offer that pays somebody else", "/v2/swapped-payee", &["payee_not_allowed"]),
    bait("v1 offer that pays somebody else", "/v1/swapped-payee", &["payee_not_allowed"]),
    bait("offer on another network (Base mainnet)", "/v2/other-network", &["unsupported_network"]),
    bait("amount `0.05` where atomic units belong", "/v2/decimal-amount", &["amount_invalid"]),
    bait("price of 9.00, over the cap of 0.25", "/v2/yacht", &["over_payment_cap"]),
    bait("body says 0.05, header says 9.00", "/v2/header-against-body", &["over_payment_cap"]),
    bait("v1: 9.00 first, 0.05 behind it", "/v1/dear-first", &["over_payment_cap", "shadowed_offer"]),
    Bait {
        step: "redirect to a cloud metadata address",
        path: "/v2/redirect",
        reasons: &["redirect_refused"],
        told: "redirect_refused",
    },
];

const fn bait(step: &'static str, path: &'static str, reasons: &'static [&'static str]) -> Bait {
    Bait { step, path, reasons, told: UNIFORM }
}

/// Plays the steps.
pub(crate) async fn play(stage: &Stage, scribe: &mut Scribe<'_, '_>, client: &McpClient) -> Result<(), ScriptFault> {
    for bait in BAITS {
        let begun = scribe.begin(stage, bait.step)?.watching_path(stage, host::MALLORY, bait.path);
        let answer = Order::get(stage, host::MALLORY, bait.path).buy(client).await;
        let expected = Account::of("refused", 1).because(bait.reasons, bait.told).visited(1, 0, 0);
        scribe.end(stage, begun, &expected, &[answer]).await?;
    }
    let begun = scribe.begin(stage, "v2: 0.20 first, 0.05 behind it, so the cheap one is paid")?;
    let answer = Order::get(stage, host::MALLORY, "/v2/dear-first").buy(client).await;
    scribe.end(stage, begun, &Account::of("paid", 1).paying(1, FIVE_CENTS), &[answer]).await?;

    after_paying(stage, scribe, client).await
}

/// The signature is out: whatever the seller does now, there is no second one.
async fn after_paying(stage: &Stage, scribe: &mut Scribe<'_, '_>, client: &McpClient) -> Result<(), ScriptFault> {
    let begun = scribe.begin(stage, "seller takes the payment and asks for 0.20 more; called twice")?.watching_path(
        stage,
        host::MALLORY,
        "/v2/ask-again",
    );
    let greedy = Order::get(stage, host::MALLORY, "/v2/ask-again");
    let answers = [greedy.buy(client).await, greedy.buy(client).await];
    scribe.end(stage, begun, &Account::of("unresolved", 2).exposing(1, 0).visited(2, 1, 1), &answers).await?;

    let begun = scribe.begin(stage, "seller takes no money and shows a false receipt")?;
    let answer = Order::get(stage, host::MALLORY, "/v2/false-receipt").buy(client).await;
    scribe.end(stage, begun, &Account::of(UNPROVEN, 1).exposing(1, 0), &[answer]).await?;

    let begun = scribe
        .begin(stage, "seller takes the money and hangs up; the same payment shown again brings the goods")?
        .watching_path(stage, host::MALLORY, "/v2/hang-up");
    let answer = Order::get(stage, host::MALLORY, "/v2/hang-up").buy(client).await;
    let expected = Account::of("paid", 1).paying(1, FIVE_CENTS).visited(3, 2, 1);
    scribe.end(stage, begun, &expected, &[answer]).await?;
    Ok(())
}
