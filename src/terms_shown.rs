//! One purchase that waits for a person, term by term: the one list for the terminal and for the console, so that neither
//! leaves out what the other shows. Must never hold a word of a seller's about it.

use bursar_policy::quantity::Span;
use bursar_vault::protocol::ApprovalView;

/// What a person said about it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Word {
    Yes,
    No,
}

impl Word {
    /// That it was said and stands, `until` when, and what the agent should do now.
    pub(crate) fn told(self, view: &ApprovalView, until: &str) -> String {
        let (word, agent) = match self {
            Self::Yes => ("Approved, for one payment", "call again with exactly the same arguments"),
            Self::No => ("Denied", "not ask again"),
        };
        let (money, payee) = (view.money, view.terms.payee);
        format!("{word}: {money} to {payee}, until {until}. Tell the agent to {agent}.")
    }
}

/// Everything that a word about `view` is bound to, in lines of a name and a value. Why it is asked for and until when is not
/// among them.
pub(crate) fn bound(view: &ApprovalView) -> Vec<(&'static str, String)> {
    let terms = &view.terms;
    let network = terms.chain.name().map_or_else(String::new, |name| format!("{name}, "));
    let body = view.body.map_or_else(|| "none".to_owned(), |digest| format!("SHA-256 {digest}"));
    let money = view.money.to_string();
    let number = money.split_once(' ').map_or(money.as_str(), |(number, _)| number);
    let life = Span::from_secs(terms.max_timeout_s).map_or_else(|| "0s".to_owned(), |span| span.to_string());
    let mut lines = vec![
        ("id", view.id.to_string()),
        ("request", format!("{} {} (host, as reported by serve)", view.method, view.site)),
        ("body", body),
        ("price", format!("{money}, which is {number} {} ({} atomic units)", view.symbol, terms.amount)),
        ("payee", terms.payee.to_string()),
        ("network", format!("{network}{}", terms.chain)),
        ("asset", format!("{}, {}", view.symbol, terms.asset_id())),
        ("domain", format!("{}, version {}", terms.domain_name, terms.domain_version)),
        ("seller", format!("speaks x402 version {}, takes the payment for {life}", terms.version.number())),
        ("session", view.session.to_string()),
    ];
    lines.extend(view.headers.iter().map(|(name, value)| ("header", format!("{name}: {value}"))));
    lines
}
