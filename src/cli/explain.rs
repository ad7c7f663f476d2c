//! `bursar explain`: a payment's whole story, or a seller's terms held against every rule, each with its line of the
//! rules. Pays nothing.

mod counted;
mod places;
pub(super) mod recorded;
mod shown;

use std::path::Path;

use bursar_policy::{Errand, Method, Site};
use bursar_vault::profile::Profile;
use bursar_vault::protocol::{ChainProof, ChainVerdict, OperatorAsk, OperatorReply, PaymentDetail};
use clap::Args;

use super::connect::{Operator, out_of_turn};
use super::exit::{Exit, Stop};
use super::{receipts, session, table};
use crate::content::ContentStore;
use crate::flow::{Buyer, Verdict};
use crate::net::SystemResolver;
use crate::wallet::Wallet;
use counted::Counted;
use shown::Form;

/// Judge a payment id, a recorded 402 (a file) or a live URL against the rules, without paying.
#[derive(Debug, Args)]
pub(super) struct Explain {
    /// A payment id (`p_…`) or as much of it as no other has, a URL, or a file that holds a recorded HTTP answer
    #[arg(value_name = "PAYMENT|URL|FILE")]
    what: String,
    /// The method that would be used
    #[arg(long, default_value = "GET", value_name = "METHOD")]
    method: String,
    /// The URL that the recorded answer came from
    #[arg(long, value_name = "URL")]
    url: Option<String>,
    /// Hold it against the budget NAME as well: its mandate and its money, limits, and what is known of the seller
    #[arg(long, value_name = "NAME")]
    session: Option<String>,
    /// Print JSON
    #[arg(long)]
    json: bool,
}

impl Explain {
    pub(super) fn run(&self, profile: &Profile) -> Result<Exit, Stop> {
        if receipts::is_named(&self.what) && !Path::new(&self.what).exists() {
            return payment(profile, &self.what, self.form());
        }
        let session = self.session.as_deref().map(session::name).transpose()?;
        profile.check_own()?;
        let content = ContentStore::open(&profile.content_dir()).map_err(|fault| Stop::not_ready(fault.to_string()))?;
        let buyer = Buyer::new(profile, Wallet::new(profile, None)?, SystemResolver::new(), content);
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
        let live = self.what.contains("://");
        let (errand, inspection) = if live {
            let errand = self.errand(&self.what)?;
            let inspection = runtime.block_on(buyer.inspect_live(&errand, None));
            (errand, inspection)
        } else {
            let place = Path::new(&self.what);
            if !place.exists() {
                let told =
                    "is no file; name a URL with its `https://`, a payment (`p_…`), or a file with a recorded answer";
                return Err(Stop::usage(format!("`{}` {told}", self.what.escape_debug())));
            }
            let recorded = recorded::read(place).map_err(Stop::usage)?;
            if recorded.status != 402 {
                return shown::free(recorded.status, self.form());
            }
            let url = self.url.as_deref().ok_or_else(|| {
                Stop::usage("say where the recorded answer came from with `--url URL`, because the rules depend on it")
            })?;
            let errand = self.errand(url)?;
            let inspection = runtime.block_on(buyer.inspect_recorded(&errand, &recorded.headers, &recorded.body));
            (errand, inspection)
        };
        let counted = match (session, &inspection.verdict) {
            (Some(name), Verdict::Judged { judgement, .. }) => Some(Counted::of(profile, &name, &errand, judgement)?),
            _ => None,
        };
        shown::show(profile, &errand, inspection, counted.as_ref(), self.form())
    }

    const fn form(&self) -> Form {
        if self.json { Form::Json } else { Form::Table }
    }

    fn errand(&self, url: &str) -> Result<Errand, Stop> {
        let site = Site::parse(url).map_err(|fault| Stop::usage(format!("`{}`: {fault}", url.escape_debug())))?;
        let method: Method = self
            .method
            .parse()
            .map_err(|fault| Stop::usage(format!("`--method {}`: {fault}", self.method.escape_debug())))?;
        Ok(Errand::new(site, method))
    }
}

fn payment(profile: &Profile, typed: &str, form: Form) -> Result<Exit, Stop> {
    let operator = Operator::connect_or_start(profile)?;
    let id = receipts::named(&operator, typed)?;
    let OperatorReply::Payment(detail) = operator.ask(&OperatorAsk::Payment { id })? else {
        return Err(out_of_turn());
    };
    if form == Form::Json {
        table::say_json(&detail)?;
        return Ok(Exit::Done);
    }
    let PaymentDetail { receipt, session, site, method, payer, nonce, signed, proof, events, .. } = *detail;
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
        ("chain", proof.as_ref().map_or("nothing is proved", proved).to_owned()),
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

/// What a chain showed, in words.
const fn proved(proof: &ChainProof) -> &'static str {
    match (proof.verdict, proof.denies) {
        (ChainVerdict::Paid, _) => "it shows the payment",
        (_, true) => "it shows that the money never moved, although the seller said so",
        (_, false) => "it shows that the money never moved and cannot any more",
    }
}
