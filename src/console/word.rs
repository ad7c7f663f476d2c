//! What the operator does from the page, as asks to the vault: the same asks as the terminal's. Must never approve what was not
//! shown, and never send a passphrase for a price that was not typed.

use bursar_policy::Money;
use bursar_policy::quantity::Moment;
use bursar_vault::client::{ClientFault, OperatorClient};
use bursar_vault::profile::Profile;
use bursar_vault::protocol::{ApprovalState, ApprovalView, OperatorAsk, OperatorReply};

use super::post::{ApproveForm, DenyForm, ThawForm};
use crate::terms_shown::Word;

/// What is written down of a freeze from here.
const FROZEN: &str = "frozen at the console";

/// Why something was not done.
#[derive(Debug)]
pub(super) enum NotDone {
    /// It was refused: an answer.
    Refused { code: String, message: String },
    /// The vault cannot be asked: a fault.
    Fault(String),
}

impl From<ClientFault> for NotDone {
    fn from(fault: ClientFault) -> Self {
        match fault {
            ClientFault::Said { code, message } => Self::Refused { code, message },
            other => Self::Fault(other.to_string()),
        }
    }
}

/// Connects as the operator.
pub(super) fn operator(profile: &Profile) -> Result<OperatorClient, NotDone> {
    Ok(OperatorClient::connect(profile)?.0)
}

/// The reply was not of the kind that the ask wants.
pub(super) fn out_of_turn() -> NotDone {
    ClientFault::OtherVersion.into()
}

/// Stops all payments.
pub(super) fn freeze(profile: &Profile) -> Result<String, NotDone> {
    done(profile, &OperatorAsk::Freeze { reason: FROZEN.to_owned() }, "Frozen: nothing is paid until you thaw.")
}

/// Allows payments again.
pub(super) fn thaw(profile: &Profile, form: ThawForm) -> Result<String, NotDone> {
    done(profile, &OperatorAsk::Thaw { passphrase: form.passphrase }, "Thawed: payments are made again.")
}

/// Says yes to what was shown, if the price was typed.
pub(super) fn approve(profile: &Profile, form: ApproveForm) -> Result<String, NotDone> {
    let operator = operator(profile)?;
    let OperatorReply::Approvals { approvals, .. } = operator.ask(&OperatorAsk::Approvals)? else {
        return Err(out_of_turn());
    };
    let view = approvals.iter().find(|view| view.id == form.id);
    check(view, &form)?;
    let ask = OperatorAsk::Approve { id: form.id, binding: form.binding, passphrase: form.passphrase };
    decided(&operator, &ask, Word::Yes)
}

/// Says no to a purchase that waits, or takes an unused yes back.
pub(super) fn deny(profile: &Profile, form: DenyForm) -> Result<String, NotDone> {
    decided(&operator(profile)?, &OperatorAsk::Deny { id: form.id }, Word::No)
}

/// Whether the purchase still waits, is the one that was shown, and its price is the one that was typed.
fn check(view: Option<&ApprovalView>, form: &ApproveForm) -> Result<(), NotDone> {
    let refused = |code: &str, message: &str| NotDone::Refused { code: code.to_owned(), message: message.to_owned() };
    let Some(view) = view else {
        return Err(refused("approval_unknown", "this purchase does not wait any more; it may be bought or over"));
    };
    if view.state != ApprovalState::Waiting {
        return Err(refused("approval_decided", "a person decided about this purchase already"));
    }
    if view.binding != form.binding {
        return Err(refused("approval_changed", "this is not the purchase that was shown; look at its terms again"));
    }
    if form.price.trim().parse::<Money>() != Ok(view.money) {
        let message = format!("the price is `{}`, and something else was typed, so nothing was done", view.money);
        return Err(refused("price_differs", &message));
    }
    Ok(())
}

fn decided(operator: &OperatorClient, ask: &OperatorAsk, word: Word) -> Result<String, NotDone> {
    match operator.ask(ask)? {
        OperatorReply::Decided(view) => Ok(word.told(&view, &Moment(view.expires_s).to_string())),
        _ => Err(out_of_turn()),
    }
}

fn done(profile: &Profile, ask: &OperatorAsk, sentence: &str) -> Result<String, NotDone> {
    match operator(profile)?.ask(ask)? {
        OperatorReply::Done => Ok(sentence.to_owned()),
        _ => Err(out_of_turn()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use bursar_policy::{Amount, ApprovalId, Digest, Headers, Method, Site, Terms, Version};
    use bursar_vault::protocol::Passphrase;
    use zeroize::Zeroizing;

    fn view() -> ApprovalView {
        let terms = Terms {
            version: Version::V2,
            offer: 0,
            chain: "eip155:84532".parse().unwrap(),
            asset: "0x036CbD53842c5426634e7929541eC2318f3dCF7e".parse().unwrap(),
            payee: "0x5e5e5e5e5e5e5e5e5e5e5e5e5e5e5e5e5e5e5e5e".parse().unwrap(),
            amount: Amount::new(50_000).unwrap(),
            max_timeout_s: 60,
            domain_name: "USDC".to_owned(),
            domain_version: "2".to_owned(),
        };
        ApprovalView {
            id: id('1'),
            state: ApprovalState::Waiting,
            session: "default".parse().unwrap(),
            binding: Digest::of(b"shown"),
            method: Method::Get,
            site: Site::parse("https://shop.example/report").unwrap(),
            body: None,
            headers: Headers::default(),
            terms,
            symbol: "USDC".to_owned(),
            money: "0.05 USD".parse().unwrap(),
            concerns: Vec::new(),
            asked_s: 0,
            expires_s: 1,
        }
    }

    fn id(digit: char) -> ApprovalId {
        format!("a_{}", digit.to_string().repeat(32)).parse().unwrap()
    }

    fn form(binding: Digest, price: &str) -> ApproveForm {
        let passphrase = Passphrase::new(Zeroizing::new("a passphrase".to_owned()));
        ApproveForm { id: id('1'), binding, price: price.to_owned(), passphrase }
    }

    fn refused(view: Option<&ApprovalView>, form: &ApproveForm) -> String {
        match check(view, form) {
            Err(NotDone::Refused { code, .. }) => code,
            other => format!("{other:?}"),
        }
    }

    #[test]
    fn a_yes_is_for_what_was_shown_and_for_the_price_that_was_typed() {
        let (shown, another) = (Digest::of(b"shown"), Digest::of(b"another"));
        for price in ["0.05 USD", " 0.05 USD ", "0.050 USD"] {
            assert_eq!(refused(Some(&view()), &form(shown, price)), "Ok(())", "{price}");
        }
        for price in ["0.04 USD", "0.05 EUR", "0.05", "", "50000", "5 USD", "0.05 USD x"] {
            assert_eq!(refused(Some(&view()), &form(shown, price)), "price_differs", "{price}");
        }
        assert_eq!(refused(Some(&view()), &form(another, "0.05 USD")), "approval_changed");
        assert_eq!(refused(None, &form(shown, "0.05 USD")), "approval_unknown");
        for state in [ApprovalState::Approved, ApprovalState::Denied, ApprovalState::Used, ApprovalState::Expired] {
            let decided = ApprovalView { state, ..view() };
            assert_eq!(refused(Some(&decided), &form(shown, "0.05 USD")), "approval_decided");
        }
    }

    #[test]
    fn every_term_is_in_what_is_shown() {
        let lines = crate::terms_shown::bound(&view());
        let all: String = lines.iter().map(|(name, value)| format!("{name}={value}\n")).collect();
        for part in
            ["GET https://shop.example/report", "0.05 USD, which is 0.05 USDC (50000 atomic units)", "USDC, version 2"]
        {
            assert!(all.contains(part), "`{part}` is not in {all}");
        }
        assert!(
            all.contains("eip155:84532") && all.to_lowercase().contains("0x5e5e5e5e") && all.contains("for 1m"),
            "{all}"
        );
    }
}
