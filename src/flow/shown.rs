//! What the model may see of stored content, by the operator's rule for the host. It must never show more than that.

use std::borrow::Cow;

use bursar_policy::{ContentMode, Pointer, Rules, Site};
use bursar_tools::SellerText;
use bursar_tools::payments::{Content, ContentKind, Field, FieldValue, Reason, Shown, View};
use bursar_vault::protocol::ContentRef;

use super::Buyer;
use super::visit::Stored;
use crate::content::{self, AT_HAND_BYTES};
use crate::net::Resolver;
use crate::wire::{Pointed, pointed};

/// The most text of a body that a model is shown, in bytes; the tools cut once more at their own cap.
const TEXT_BYTES: usize = AT_HAND_BYTES;

/// The most text of a body whose file the model is told, in bytes.
const PREVIEW_BYTES: usize = 1024;

/// The longest body whose fields are read, in bytes; a longer one shows none.
const FIELDS_BYTES: u64 = 1024 * 1024;

/// A stored body, and its beginning where it was stored just now.
#[derive(Clone, Copy)]
struct Goods<'a> {
    content: &'a ContentRef,
    beginning: Option<&'a [u8]>,
}

impl<'a> Goods<'a> {
    const fn on_disk(content: &'a ContentRef) -> Self {
        Self { content, beginning: None }
    }

    /// The first `most_bytes` of the body, or all of a shorter one, where they are at hand.
    fn at_hand(&self, most_bytes: usize) -> Option<&'a [u8]> {
        let beginning = self.beginning?;
        let all = u64::try_from(beginning.len()) == Ok(self.content.bytes);
        beginning.get(..most_bytes).or_else(|| all.then_some(beginning))
    }
}

impl<R: Resolver> Buyer<R> {
    /// What the operator's rule for the host lets the model see of stored content.
    pub(super) fn shown(&self, rules: &Rules, site: &Site, content: &ContentRef, status: u16) -> Content {
        told(content, status, self.as_ruled(rules, site, Goods::on_disk(content)))
    }

    /// The same of a body that was stored just now: what is at hand of it is not read again.
    pub(super) fn fresh(
        &self,
        rules: &Rules,
        site: &Site,
        stored: &Stored,
        kind: content::ContentKind,
        status: u16,
    ) -> Content {
        let content = stored.content(kind);
        let goods = Goods { content: &content, beginning: Some(&stored.beginning) };
        told(&content, status, self.as_ruled(rules, site, goods))
    }

    /// The same in the view that a caller names, where the rule shows as much by itself.
    ///
    /// # Errors
    ///
    /// Why the view is wider than the rule.
    pub(super) fn viewed(
        &self,
        rules: &Rules,
        site: &Site,
        content: &ContentRef,
        status: u16,
        view: Option<&View>,
    ) -> Result<Content, Reason> {
        let Some(view) = view else { return Ok(self.shown(rules, site, content, status)) };
        no_wider(rules, site, view)?;
        let shown = match view {
            View::Withhold => Shown::LeftOut,
            View::Fields(fields) => {
                // A rule that shows text shows none of what is not text.
                let of_text = rules.content_mode(site) == ContentMode::Text;
                if of_text && !ContentKind::named(&content.kind).is_textual() {
                    no_fields("not_text", "the seller does not call the body text, so no field of it is shown")
                } else {
                    self.fields(Goods::on_disk(content), fields)
                }
            }
            View::Text | View::File => self.as_ruled(rules, site, Goods::on_disk(content)),
        };
        Ok(told(content, status, shown))
    }

    fn as_ruled(&self, rules: &Rules, site: &Site, goods: Goods<'_>) -> Shown {
        match rules.content_mode(site) {
            ContentMode::Withhold => Shown::Withheld,
            ContentMode::Fields => {
                self.fields(goods, rules.host_rule(site).map(|rule| rule.fields()).unwrap_or_default())
            }
            ContentMode::File => Shown::File {
                path: self.content.path_of(&goods.content.digest).display().to_string(),
                preview: self.text(goods, PREVIEW_BYTES),
            },
            ContentMode::Text => self.text(goods, TEXT_BYTES).map_or(Shown::Withheld, Shown::Text),
        }
    }

    /// The beginning of a stored body; nothing where it cannot be read.
    fn text(&self, goods: Goods<'_>, most_bytes: usize) -> Option<SellerText> {
        self.beginning(goods, most_bytes).map(|bytes| SellerText::from_bytes(&bytes))
    }

    /// The first `most_bytes` of a stored body: those at hand, or read again and checked.
    fn beginning<'a>(&self, goods: Goods<'a>, most_bytes: usize) -> Option<Cow<'a, [u8]>> {
        if let Some(bytes) = goods.at_hand(most_bytes) {
            return Some(Cow::Borrowed(bytes));
        }
        match self.content.head(&goods.content.digest, most_bytes) {
            Ok(head) => Some(Cow::Owned(head.bytes)),
            Err(fault) => {
                tracing::warn!("stored content cannot be shown: {fault}");
                None
            }
        }
    }

    /// The values of a stored JSON document at `wanted`, or why there are none.
    fn fields(&self, goods: Goods<'_>, wanted: &[Pointer]) -> Shown {
        if goods.content.truncated {
            return no_fields("not_whole", "only the beginning of the body was kept, so no field of it is shown");
        }
        if FIELDS_BYTES < goods.content.bytes {
            return no_fields("too_long", "the body is longer than 1 MiB, so no field of it is shown");
        }
        let Some(document) = self.beginning(goods, usize::try_from(FIELDS_BYTES).unwrap_or(usize::MAX)) else {
            return Shown::Withheld;
        };
        match pointed(&document, wanted) {
            Ok(values) => Shown::Fields(wanted.iter().zip(values).map(field).collect()),
            // Which member stands there twice is a seller's word, and stays out of our sentence.
            Err(_) => no_fields(
                "not_json",
                "the body is not one JSON document that can be read in one way only, so no field of it is shown",
            ),
        }
    }
}

/// Whether the rule for `site` shows as much as `view` by itself.
///
/// The rules' `text` covers any fields of what is text: an answer holds fewer bytes of them than of the text. Their
/// `fields` cover themselves, and their `file` covers nothing but the file.
///
/// # Errors
///
/// What to ask for instead.
pub(super) fn no_wider(rules: &Rules, site: &Site, view: &View) -> Result<(), Reason> {
    let listed = || rules.host_rule(site).map(|rule| rule.fields()).unwrap_or_default();
    match (rules.content_mode(site), view) {
        (_, View::Withhold) | (ContentMode::Text, View::Text | View::Fields(_)) | (ContentMode::File, View::File) => {
            Ok(())
        }
        (ContentMode::Fields, View::Fields(fields)) if fields.iter().all(|field| listed().contains(field)) => Ok(()),
        (ContentMode::Fields, View::Fields(_)) => Err(Reason::new(
            "field_not_listed",
            "the operator's rules do not show every field that was asked for, so none is shown; leave `fields` out to \
             see those that they show",
        )),
        _ => Err(Reason::new(
            "view_not_allowed",
            "the operator's rules do not show this host's content in that way; leave `content` and `fields` out to see \
             what they show",
        )),
    }
}

fn told(content: &ContentRef, status: u16, shown: Shown) -> Content {
    let kind = ContentKind::named(&content.kind);
    Content { status, kind, bytes: content.bytes, digest: content.digest, truncated: content.truncated, shown }
}

fn no_fields(code: &'static str, sentence: &'static str) -> Shown {
    Shown::NoFields(Reason::new(code, sentence))
}

fn field((pointer, value): (&Pointer, Pointed)) -> Field {
    let value = match value {
        Pointed::Text(words) => FieldValue::Text(SellerText::from(words)),
        Pointed::Number(digits) => FieldValue::Number(SellerText::from(digits)),
        Pointed::Bool(value) => FieldValue::Bool(value),
        Pointed::Null => FieldValue::Null,
        Pointed::NotAScalar => FieldValue::NotAScalar,
        Pointed::Missing => FieldValue::Missing,
    };
    Field { pointer: pointer.as_str().to_owned(), value }
}

#[cfg(test)]
mod tests {
    use super::*;

    const RULES: &str = "[payment]\nmax_per_payment = \"1 USD\"\nnetworks = []\nassets = []\nrecipients = []\n\
        [[host]]\norigin = \"https://withhold.test\"\n\
        [[host]]\norigin = \"https://fields.test\"\ncontent = \"fields\"\nfields = [\"/a\", \"/b\"]\n\
        [[host]]\norigin = \"https://text.test\"\ncontent = \"text\"\n\
        [[host]]\norigin = \"https://file.test\"\ncontent = \"file\"\n";

    #[test]
    fn what_is_at_hand_is_taken_only_where_it_is_as_much_as_is_wanted() {
        let of = |bytes: u64| ContentRef {
            digest: bursar_policy::Digest::of(b"x"),
            bytes,
            kind: "text".to_owned(),
            truncated: false,
        };
        let (short, long) = (of(4), of(1000));
        let goods = |content, beginning: &'static [u8]| Goods { content, beginning: Some(beginning) };
        for (goods, most_bytes, at_hand) in [
            (goods(&short, b"abcd"), 10, Some(&b"abcd"[..])),
            (goods(&short, b"abcd"), 3, Some(b"abc")),
            (goods(&long, b"abcd"), 4, Some(b"abcd")),
            (goods(&long, b"abcd"), 5, None),
            (Goods::on_disk(&short), 1, None),
        ] {
            assert_eq!(goods.at_hand(most_bytes), at_hand);
        }
    }

    fn fields(names: &[&str]) -> View {
        View::Fields(names.iter().map(|name| name.parse().unwrap()).collect())
    }

    #[test]
    fn a_view_is_never_wider_than_the_rule_for_the_host() {
        let rules = bursar_vault::rules_file::parse(RULES, bursar_policy::Setting::Real).unwrap();
        let asked = |host: &str, view: &View| {
            let site: Site = format!("https://{host}.test/x").parse().unwrap();
            no_wider(&rules, &site, view).map_err(|reason| reason.code().to_owned())
        };
        let (inside, outside) = (fields(&["/b"]), fields(&["/b", "/c"]));
        for (host, allowed) in [
            ("withhold", &[View::Withhold][..]),
            ("fields", &[View::Withhold, inside.clone()]),
            ("text", &[View::Withhold, inside.clone(), outside.clone(), View::Text]),
            ("file", &[View::Withhold, View::File]),
            // No rule covers it, so nothing of it is shown.
            ("nobody", &[View::Withhold]),
        ] {
            for view in [&View::Withhold, &inside, &outside, &View::Text, &View::File] {
                let want = match (allowed.contains(view), host, view) {
                    (true, ..) => Ok(()),
                    (false, "fields", View::Fields(_)) => Err("field_not_listed".to_owned()),
                    (false, ..) => Err("view_not_allowed".to_owned()),
                };
                assert_eq!(asked(host, view), want, "{view:?} at {host}");
            }
        }
    }
}
