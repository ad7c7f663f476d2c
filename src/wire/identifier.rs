//! The extension `payment-identifier`: an id by which a seller knows a payment that it sees again. Must never answer with an
//! id that is not the payment's own.
//!
//! Its specification (x402, `payment_identifier`) has a seller advertise `{"info":{"required":…},"schema":…}` and a buyer
//! answer the same with `info.id` added. The id here is the payment's, so it is the same each time that one payment is sent,
//! in the same bytes, and another one for another purchase.

use super::json::{Members, quoted};

const NAME: &str = "payment-identifier";

/// What a seller's extensions say of it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Identifier {
    /// Nothing that has to be answered.
    Unwanted,
    /// What was advertised with `info.id` added, cut where the id goes.
    Wanted(String, String),
    /// The seller insists on one, in a form that cannot be answered: it would refuse the payment, or take it and not know it
    /// again.
    Unanswerable,
}

/// Reads the extensions of a document.
pub(super) fn read(extensions: &str) -> Identifier {
    let Some(extensions) = Members::of(extensions) else { return Identifier::Unwanted };
    let Some(said) = extensions.present(NAME) else { return Identifier::Unwanted };
    // Only where it says so itself it is optional.
    let info = Members::of(said).and_then(|advertised| advertised.object("info"));
    let required = info.as_ref().and_then(|info| info.text("required"));
    let is_free = info.as_ref().is_some_and(|info| info.present("id").is_none());
    match (required, is_free) {
        (Some("true" | "false"), true) => answer(said).unwrap_or(Identifier::Unanswerable),
        (Some("true"), false) => Identifier::Unanswerable,
        (Some(other), _) if !["false", "null"].contains(&other) => Identifier::Unanswerable,
        _ => Identifier::Unwanted,
    }
}

fn answer(advertised: &str) -> Option<Identifier> {
    let advertised = Members::of(advertised)?;
    let (mut before, mut after) = (format!("{{\"{NAME}\":{{"), None::<String>);
    for (place, (name, text)) in advertised.iter().enumerate() {
        let separator = if place == 0 { "" } else { "," };
        let member = format!("{separator}{}:", quoted(name));
        let open = if name == "info" { open_info(text) } else { None };
        match (open, &mut after) {
            (Some(open), None) => {
                before = format!("{before}{member}{open},\"id\":");
                after = Some("}".to_owned());
            }
            (_, Some(after)) => *after = format!("{after}{member}{text}"),
            (None, None) => before = format!("{before}{member}{text}"),
        }
    }
    Some(Identifier::Wanted(before, format!("{}}}}}", after?)))
}

/// `info` without its closing brace, and without an `id` of null, where the buyer's own goes.
fn open_info(text: &str) -> Option<String> {
    let info = Members::of(text)?;
    if info.text("id").is_none() {
        return text.strip_suffix('}').map(str::to_owned);
    }
    let others = info.iter().filter(|(name, _)| *name != "id");
    Some(format!("{{{}", others.map(|(name, text)| format!("{}:{text}", quoted(name))).collect::<Vec<_>>().join(",")))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(advertised: &str) -> Identifier {
        read(&format!(r#"{{"bazaar":{{}},"payment-identifier":{advertised}}}"#))
    }

    #[test]
    fn what_is_advertised_as_specified_is_answered_whether_required_or_not() {
        for required in ["true", "false"] {
            let found = of(&format!(r#"{{"info":{{"required":{required}}},"schema":{{"a":1}}}}"#));
            let before = format!(r#"{{"payment-identifier":{{"info":{{"required":{required},"id":"#);
            assert_eq!(found, Identifier::Wanted(before, r#"},"schema":{"a":1}}}"#.to_owned()));
        }
    }

    #[test]
    fn an_id_of_null_is_a_free_place_for_ours() {
        let found = of(r#"{"info":{"id":null,"required":true,"hint":[1.50]},"schema":{}}"#);
        let before = r#"{"payment-identifier":{"info":{"hint":[1.50],"required":true,"id":"#;
        assert_eq!(found, Identifier::Wanted(before.to_owned(), r#"},"schema":{}}}"#.to_owned()));
    }

    #[test]
    fn what_is_required_in_another_form_cannot_be_answered() {
        for advertised in [
            r#"{"info":{"required":true,"id":"chosen-by-the-seller"}}"#,
            r#"{"info":{"required":"yes"}}"#,
            r#"{"info":{"required":1}}"#,
            r#"{"info":{"required":{"id":true}}}"#,
        ] {
            assert_eq!(of(advertised), Identifier::Unanswerable, "{advertised}");
        }
    }

    #[test]
    fn what_nobody_insists_on_is_left_out() {
        for advertised in ["null", "{}", "[]", "\"x\"", r#"{"info":{}}"#, r#"{"info":{"required":null}}"#] {
            assert_eq!(of(advertised), Identifier::Unwanted, "{advertised}");
        }
        assert_eq!(of(r#"{"info":{"required":false,"id":"theirs"}}"#), Identifier::Unwanted);
        for extensions in ["null", "[]", "{}", r#"{"bazaar":{"info":{"required":true}}}"#] {
            assert_eq!(read(extensions), Identifier::Unwanted, "{extensions}");
        }
    }
}
