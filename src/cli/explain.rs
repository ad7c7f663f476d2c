//! `bursar explain`: a payment's whole story, or a seller's terms held against every rule. Pays nothing.

mod recorded;

use std::fs::File;
use std::io::Read;
use std::path::Path;

use bursar_policy::{Errand, Finding, Judgement, Method, Money, PaymentId, Site};
use bursar_vault::profile::Profile;
use bursar_vault::protocol::{OperatorAsk, OperatorReply, PaymentDetail};
use clap::Args;

use super::connect::{Operator, out_of_turn};
use super::exit::{Exit, Stop};
use super::table;
use crate::content::ContentStore;
use crate::flow::{Buyer, Inspection};
use crate::net::SystemResolver;
use crate::wallet::Wallet;

/// Judge a payment id, a recorded 402 (a file) or a live URL against the rules, without paying.
#[derive(Debug, Args)]
pub(super) struct Explain {
    /// A payment id (`p_…`), a URL, or a file that holds a recorded HTTP answer
    #[arg(value_name = "PAYMENT|URL|FILE")]
    what: String,
    /// The method that would be used
    #[arg(long, default_value = "GET", value_name = "METHOD")]
    method: String,
    /// The URL that the recorded answer came from
    #[arg(long, value_name = "URL")]
    url: Option<String>,
}

impl Explain {
    pub(super) fn run(&self, profile: &Profile) -> Result<Exit, Stop> {
        if let Ok(id) = self.what.parse::<PaymentId>() {
            return payment(profile, id);
        }
        profile.check()?;
        let content = ContentStore::open(&profile.content_dir()).map_err(|fault| Stop::not_ready(fault.to_string()))?;
        let buyer = Buyer::new(profile, Wallet::new(profile, None)?, SystemResolver::new(), content);
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
        let live = self.what.contains("://");
        let inspection = if live {
            let errand = self.errand(&self.what)?;
            runtime.block_on(buyer.inspect_live(&errand, None))
        } else {
            let recorded = self.recorded()?;
            if recorded.status != 402 {
                table::say(&format!("The recorded answer has status {}, which asks for no payment.", recorded.status))?;
                return Ok(Exit::Done);
            }
            let url = self.url.as_deref().ok_or_else(|| {
                Stop::usage("say where the recorded answer came from with `--url URL`, because the rules depend on it")
            })?;
            let errand = self.errand(url)?;
            runtime.block_on(buyer.inspect_recorded(&errand, &recorded.headers, &recorded.body))
        };
        told(inspection)
    }

    fn errand(&self, url: &str) -> Result<Errand, Stop> {
        let site = Site::parse(url).map_err(|fault| Stop::usage(format!("`{}`: {fault}", url.escape_debug())))?;
        let method: Method = self
            .method
            .parse()
            .map_err(|fault| Stop::usage(format!("`--method {}`: {fault}", self.method.escape_debug())))?;
        Ok(Errand { site, method, body: None, ceiling: None, purchase_id: None, quote: None })
    }

    fn recorded(&self) -> Result<recorded::Recorded, Stop> {
        let unreadable = |why: &dyn std::fmt::Display| {
            Stop::usage(format!("`{}` cannot be read as a recorded answer: {why}", self.what.escape_debug()))
        };
        let mut bytes = Vec::new();
        File::open(Path::new(&self.what))
            .and_then(|file| file.take(recorded::FILE_BYTES).read_to_end(&mut bytes))
            .map_err(|fault| unreadable(&fault))?;
        recorded::parse(&bytes).map_err(|why| unreadable(&why))
    }
}

fn told(inspection: Inspection) -> Result<Exit, Stop> {
    match inspection {
        Inspection::Judged { judgement, price } => judged(&judgement, price),
        Inspection::NothingToPay(sentence) => {
            table::say(&format!("Nothing would be paid: {sentence}."))?;
            Ok(Exit::Done)
        }
        Inspection::Refused(refusals) => {
            for refusal in &refusals {
                table::say(&format!("refused  {:<28} {refusal}", refusal.code()))?;
            }
            Ok(Exit::Refused)
        }
        Inspection::Failed(sentence) => Err(Stop::new(Exit::Failed, sentence)),
        Inspection::NotReady(sentence) => Err(Stop::not_ready(sentence)),
    }
}

fn judged(judgement: &Judgement, price: Option<Money>) -> Result<Exit, Stop> {
    let mut rows: Vec<Vec<String>> = judgement.document.iter().map(|finding| row("", finding)).collect();
    for offer in &judgement.offers {
        let name = if offer.skipped { format!("{} (skipped)", offer.index) } else { offer.index.to_string() };
        rows.extend(offer.findings.iter().map(|finding| row(&name, finding)));
    }
    table::say(&table::table(&["offer", "rule", "", "what was found"], &[], rows))?;
    match &judgement.chosen {
        Some(terms) => {
            let price = price.map_or_else(|| "a price".to_owned(), |price| price.to_string());
            table::say(&format!(
                "Offer {} passes every rule: {} to {} ({} atomic units of {}). Limits, the budget and locks are not looked at here.",
                terms.offer,
                price,
                terms.payee,
                terms.amount.units(),
                terms.asset_id()
            ))?;
            Ok(Exit::Done)
        }
        None => {
            table::say("No offer passes every rule, so nothing would be paid.")?;
            Ok(Exit::Refused)
        }
    }
}

fn row(offer: &str, finding: &Finding) -> Vec<String> {
    let verdict = match &finding.refusal {
        None => "pass".to_owned(),
        Some(refusal) => refusal.code().to_owned(),
    };
    vec![offer.to_owned(), finding.rule.to_owned(), verdict, finding.note.clone()]
}

fn payment(profile: &Profile, id: PaymentId) -> Result<Exit, Stop> {
    let OperatorReply::Payment(detail) = Operator::connect_or_start(profile)?.ask(&OperatorAsk::Payment { id })? else {
        return Err(out_of_turn());
    };
    let PaymentDetail { receipt, session, site, method, payer, nonce, signed, events, .. } = *detail;
    let state = serde_json::to_value(receipt.state).map_err(std::io::Error::from)?;
    let lines = [
        ("payment", receipt.payment.to_string()),
        ("state", state.as_str().unwrap_or_default().to_owned()),
        ("outcome", receipt.outcome),
        ("amount", format!("{} ({} atomic units of {})", receipt.money, receipt.amount.units(), receipt.symbol)),
        ("network", receipt.chain.to_string()),
        ("payee", receipt.payee.to_string()),
        ("payer", payer.to_string()),
        ("asked for", format!("{} {} (as reported by serve)", method.as_str(), site.url())),
        ("session", session.to_string()),
        ("nonce", nonce),
        ("signature", if signed { "stored on the row" } else { "none was stored" }.to_owned()),
        ("expires", table::time(receipt.valid_before)),
        ("transaction", receipt.transaction.unwrap_or_else(|| "none known".to_owned())),
    ];
    for (name, value) in lines {
        table::say(&format!("{name:<12}{value}"))?;
    }
    let rows = events
        .iter()
        .map(|event| vec![event.seq.to_string(), table::time(event.at_s), event.kind.clone(), event.detail.clone()])
        .collect();
    table::say(&table::table(&["#", "when", "what", "detail"], &[0], rows))?;
    Ok(Exit::Done)
}
