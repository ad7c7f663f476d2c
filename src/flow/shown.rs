//! What the model may see of stored content, by the operator's rule for the host. It must never show more than that.

use bursar_policy::{ContentMode, Pointer, Rules, Site};
use bursar_tools::SellerText;
use bursar_tools::payments::{Content, ContentKind, Field, FieldValue, Reason, Shown};
use bursar_vault::protocol::ContentRef;

use super::Buyer;
use crate::net::Resolver;
use crate::wire::{Pointed, pointed};

/// The most text of a body that a model is shown, in bytes; the tools cut once more at their own cap.
const TEXT_BYTES: usize = 10 * 1024;

/// The most text of a body whose file the model is told, in bytes.
const PREVIEW_BYTES: usize = 1024;

/// The longest body whose fields are read, in bytes; a longer one shows none.
const FIELDS_BYTES: usize = 1024 * 1024;

impl<R: Resolver> Buyer<R> {
    /// What the operator's rule for the host lets the model see of stored content.
    pub(super) fn shown(&self, rules: &Rules, site: &Site, content: &ContentRef, status: u16) -> Content {
        let kind = ContentKind::named(&content.kind);
        let shown = match rules.content_mode(site) {
            ContentMode::Withhold => Shown::Withheld,
            ContentMode::Fields => {
                let fields = rules.host_rule(site).map(|rule| rule.fields()).unwrap_or_default();
                return self.shown_fields(fields, content, status);
            }
            ContentMode::File => Shown::File {
                path: self.content.path_of(&content.digest).display().to_string(),
                preview: self.beginning(content, PREVIEW_BYTES),
            },
            ContentMode::Text => self.beginning(content, TEXT_BYTES).map_or(Shown::Withheld, Shown::Text),
        };
        Content { status, kind, bytes: content.bytes, digest: content.digest, truncated: content.truncated, shown }
    }

    /// The beginning of a stored body; nothing where it cannot be read.
    fn beginning(&self, content: &ContentRef, most_bytes: usize) -> Option<SellerText> {
        match self.content.head(&content.digest, most_bytes) {
            Ok(head) => Some(SellerText::from_bytes(&head.bytes)),
            Err(fault) => {
                tracing::warn!("stored content cannot be shown: {fault}");
                None
            }
        }
    }

    /// The values at `fields`, all of which the operator's rule lists.
    pub(super) fn shown_fields(&self, fields: &[Pointer], content: &ContentRef, status: u16) -> Content {
        let shown = self.fields(content, fields);
        let kind = ContentKind::named(&content.kind);
        Content { status, kind, bytes: content.bytes, digest: content.digest, truncated: content.truncated, shown }
    }

    /// The values of a stored JSON document that the rule names, or why there are none.
    fn fields(&self, content: &ContentRef, wanted: &[Pointer]) -> Shown {
        let none = |code: &'static str, sentence: String| Shown::NoFields(Reason::new(code, sentence));
        if content.truncated {
            return none("not_whole", "only the beginning of the body was kept, so no field of it is shown".to_owned());
        }
        let head = match self.content.head(&content.digest, FIELDS_BYTES) {
            Ok(head) => head,
            Err(fault) => {
                tracing::warn!("stored content cannot be shown: {fault}");
                return Shown::Withheld;
            }
        };
        if head.more {
            return none("too_long", "the body is longer than 1 MiB, so no field of it is shown".to_owned());
        }
        match pointed(&head.bytes, wanted) {
            Ok(values) => Shown::Fields(wanted.iter().zip(values).map(field).collect()),
            // Which member stands there twice is a seller's word, and stays out of our sentence.
            Err(_) => none(
                "not_json",
                "the body is not one JSON document that can be read in one way only, so no field of it is shown"
                    .to_owned(),
            ),
        }
    }
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
