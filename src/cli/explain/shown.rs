//! What was found, for eyes and for programs: each rule with the line of the rules behind it. Decides nothing.

use bursar_policy::{Concern, Errand, Finding, Judgement, Money, Refusal, Terms};
use bursar_vault::guarded;
use bursar_vault::profile::Profile;
use bursar_vault::rules_file::Place;
use serde::Serialize;

use super::super::exit::{Exit, Stop};
use super::super::table;
use super::counted::Counted;
use super::places::{Places, Understood};
use crate::flow::{Inspection, Verdict};

/// What rows are called that come from the ledger.
const BUDGET: &str = "budget";

/// For whom it is shown.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Form {
    /// A person.
    Table,
    /// A program.
    Json,
}

/// Everything, as JSON.
#[derive(Debug, Serialize)]
struct Told {
    verdict: &'static str,
    message: String,
    /// The rules in force are not those of the file; lines are of those in force.
    rules_changed: bool,
    document: Vec<Row>,
    offers: Vec<OfferTold>,
    chosen: Option<Terms>,
    /// The seller describes another method than the one that was asked.
    #[serde(skip_serializing_if = "Option::is_none")]
    other_method: Option<String>,
    /// Why a person would look first, as far as the rules alone say so.
    a_person_looks: Vec<String>,
}

#[derive(Debug, Serialize)]
struct OfferTold {
    index: u32,
    skipped: bool,
    findings: Vec<Row>,
    /// What the budget that was named, and the limits, have against it.
    #[serde(skip_serializing_if = "Option::is_none")]
    budget: Option<Vec<Row>>,
}

/// One rule.
#[derive(Debug, Serialize)]
struct Row {
    rule: Option<&'static str>,
    pass: bool,
    code: Option<&'static str>,
    note: String,
    #[serde(flatten)]
    place: Option<Place>,
}

/// Shows what came of looking at `errand`.
pub(super) fn show(
    profile: &Profile,
    errand: &Errand,
    inspection: Inspection,
    counted: Option<&Counted>,
    form: Form,
) -> Result<Exit, Stop> {
    let Inspection { rules, verdict } = inspection;
    let places = Places::of(&rules, profile.setting(), &errand.site);
    let (exit, told) = match verdict {
        Verdict::Judged { judgement, price, other_method, concerns } => {
            let (exit, told) = judged(&places, &judgement, price, counted);
            let other_method = other_method.map(|other| {
                format!(
                    "The seller's terms describe a {} for this URL, and {} was asked.",
                    other.documented, other.asked
                )
            });
            let a_person_looks = concerns.iter().map(Concern::to_string).collect();
            (exit, Told { other_method, a_person_looks, ..told })
        }
        Verdict::NothingToPay(sentence) => {
            (Exit::Done, Told::new("nothing_to_pay", format!("Nothing would be paid: {sentence}.")))
        }
        Verdict::Refused(refusals) => {
            let document = refusals.iter().map(|refusal| refused(&places, refusal)).collect();
            let message = "Refused before any terms were read.".to_owned();
            (Exit::Refused, Told { document, ..Told::new("refused", message) })
        }
        Verdict::Failed(sentence) => return Err(Stop::new(Exit::Failed, sentence)),
        Verdict::NotReady(sentence) => return Err(Stop::not_ready(sentence)),
    };
    // Of the machine's vault nobody else sees the file; `bursar status` asks the vault about it.
    let rules_changed = profile.is_the_vaults().is_ok() && {
        let on_disk = guarded::read(&profile.rules(), guarded::FILE_MAX_BYTES);
        !on_disk.is_ok_and(|bytes| *bytes == rules.as_bytes())
    };
    say(&Told { rules_changed, ..told }, form)?;
    Ok(exit)
}

/// Shows that a recorded answer of this status asks for no payment.
pub(super) fn free(status: u16, form: Form) -> Result<Exit, Stop> {
    let message = format!("The recorded answer has status {status}, which asks for no payment.");
    say(&Told::new("nothing_to_pay", message), form)?;
    Ok(Exit::Done)
}

impl Told {
    const fn new(verdict: &'static str, message: String) -> Self {
        Self {
            verdict,
            message,
            rules_changed: false,
            document: Vec::new(),
            offers: Vec::new(),
            chosen: None,
            other_method: None,
            a_person_looks: Vec::new(),
        }
    }
}

fn judged(places: &Places<'_>, judgement: &Judgement, price: Option<Money>, counted: Option<&Counted>) -> (Exit, Told) {
    let document = judgement.document.iter().map(|finding| row(places, finding, Understood::default())).collect();
    let offers = judgement
        .offers
        .iter()
        .map(|offer| OfferTold {
            index: offer.index,
            skipped: offer.skipped,
            findings: offer.findings.iter().map(|finding| row(places, finding, Understood::of(offer))).collect(),
            budget: counted.and_then(|counted| counted.against(offer.index)).map(|against| budget(places, against)),
        })
        .collect();
    let (exit, verdict, message) = match &judgement.chosen {
        Some(terms) => {
            let price = price.map_or_else(|| "a price".to_owned(), |price| price.to_string());
            let passes = format!(
                "Offer {} passes every rule: {price} to {} ({} atomic units of {}).",
                terms.offer,
                terms.payee,
                terms.amount.units(),
                terms.asset_id()
            );
            let against = counted.map(|counted| (&counted.session, counted.against(terms.offer).unwrap_or_default()));
            match against {
                None => {
                    let rest =
                        "Limits, the budget, locks and what the ledger knows of the host are not looked at here.";
                    (Exit::Done, "payable", format!("{passes} {rest}"))
                }
                Some((session, [])) => {
                    let rest = format!(
                        "The budget `{session}` and the limits allow it too. Locks, and what a person said or has to look at, are not looked at here."
                    );
                    (Exit::Done, "payable", format!("{passes} {rest}"))
                }
                Some((session, _)) => {
                    let rest =
                        format!("The budget `{session}` and the limits do not allow it, so nothing would be paid.");
                    (Exit::Refused, "refused", format!("{passes} {rest}"))
                }
            }
        }
        None => (Exit::Refused, "refused", "No offer passes every rule, so nothing would be paid.".to_owned()),
    };
    (exit, Told { document, offers, chosen: judgement.chosen.clone(), ..Told::new(verdict, message) })
}

fn row(places: &Places<'_>, finding: &Finding, understood: Understood) -> Row {
    Row {
        rule: Some(finding.rule),
        pass: finding.passed(),
        code: finding.refusal.as_ref().map(Refusal::code),
        note: finding.note.clone(),
        place: places.place(finding.rule, &finding.note, understood),
    }
}

/// What a budget and the limits have against an offer: a row for each reason, and one that says so where there is none.
fn budget(places: &Places<'_>, against: &[Refusal]) -> Vec<Row> {
    if against.is_empty() {
        let note = "the budget and the limits allow it".to_owned();
        return vec![Row { rule: Some(BUDGET), pass: true, code: None, note, place: None }];
    }
    against.iter().map(|reason| Row { rule: Some(BUDGET), ..refused(places, reason) }).collect()
}

fn refused(places: &Places<'_>, refusal: &Refusal) -> Row {
    Row {
        rule: None,
        pass: false,
        code: Some(refusal.code()),
        note: refusal.to_string(),
        place: places.of_refusal(refusal),
    }
}

fn say(told: &Told, form: Form) -> Result<(), Stop> {
    if form == Form::Json {
        return table::say_json(told);
    }
    let mut rows: Vec<Vec<String>> = told.document.iter().map(|row| cells("", row)).collect();
    for offer in &told.offers {
        let name = if offer.skipped { format!("{} (skipped)", offer.index) } else { offer.index.to_string() };
        rows.extend(offer.findings.iter().map(|row| cells(&name, row)));
        rows.extend(offer.budget.iter().flatten().map(|row| cells(&name, row)));
    }
    if !rows.is_empty() {
        table::say(&table::table(&["offer", "rule", "", "what was found", "in the rules"], &[], rows))?;
    }
    table::say(&told.message)?;
    if let Some(other) = &told.other_method {
        table::say(other)?;
    }
    if !told.a_person_looks.is_empty() {
        table::say(&format!("A person looks first: {}.", told.a_person_looks.join("; ")))?;
    }
    if told.rules_changed && !told.document.is_empty() {
        table::say(
            "The file has changed since the vault read it: lines are those of the rules in force; `bursar reload` loads the file.",
        )?;
    }
    Ok(())
}

fn cells(offer: &str, row: &Row) -> Vec<String> {
    let verdict = row.code.unwrap_or("pass");
    let nowhere = if row.rule == Some(BUDGET) { "in the ledger" } else { "built in" };
    let place = row.place.as_ref().map_or_else(|| nowhere.to_owned(), Place::to_string);
    vec![offer.to_owned(), row.rule.unwrap_or_default().to_owned(), verdict.to_owned(), row.note.clone(), place]
}
