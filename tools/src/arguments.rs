//! From the raw JSON object of a call to an [`Order`]: parsed by hand, so that every refusal is a sentence of ours.
//!
//! Must never ignore an argument it does not know: a caller that names a payee must learn that it cannot.

use core::fmt::Display;
use core::str::FromStr;

use bursar_policy::errand::{Body, BodyType, Errand, Method, PurchaseId, QuoteId};
use bursar_policy::request_header::{HeaderFault, HeaderName, HeaderText, Headers};
use bursar_policy::{Digest, Money, Quoted, Refusal, Site};
use serde_json::{Map, Value};

use crate::reply::{BAD_ARGUMENTS, Words};
use crate::untrusted::line;

/// The most bytes of a request body.
pub(crate) const BODY_MAX_BYTES: usize = 1024 * 1024;

/// The most texts of one list.
const TEXTS_MAX: usize = 32;

/// One errand and the bytes that go with it.
#[derive(Debug, PartialEq)]
pub(crate) struct Order {
    pub(crate) errand: Errand,
    pub(crate) body: Option<Vec<u8>>,
}

/// What a call may say, before any of it is understood.
#[derive(Debug, Default)]
pub(crate) struct Said {
    pub(crate) url: Option<String>,
    pub(crate) method: Option<String>,
    pub(crate) body: Option<String>,
    pub(crate) body_type: Option<String>,
    pub(crate) headers: Vec<(String, String)>,
    pub(crate) max_price: Option<String>,
    pub(crate) purchase_id: Option<String>,
    pub(crate) quote: Option<String>,
    pub(crate) suspicious: Option<String>,
}

/// The arguments of one call.
pub(crate) struct Arguments {
    tool: &'static str,
    given: Map<String, Value>,
}

impl Arguments {
    /// Takes the arguments of a call to `tool`, which knows the names in `known` and no others.
    ///
    /// # Errors
    ///
    /// A sentence that names the first unknown argument and lists the known ones.
    pub(crate) fn new(tool: &'static str, given: Map<String, Value>, known: &[&str]) -> Result<Self, Box<Words>> {
        match given.keys().find(|name| !known.contains(&name.as_str())) {
            None => Ok(Self { tool, given }),
            Some(unknown) => Err(unknown_argument(tool, unknown, known)),
        }
    }

    /// Takes the text under `name`; null is as good as absent.
    ///
    /// # Errors
    ///
    /// When it is anything but a text.
    pub(crate) fn text(&mut self, name: &str) -> Result<Option<String>, Box<Words>> {
        match self.given.remove(name) {
            None | Some(Value::Null) => Ok(None),
            Some(Value::String(text)) => Ok(Some(text)),
            Some(_) => Err(bad(&format!("`{name}` of {} must be a string", self.tool))),
        }
    }

    /// Takes the list of texts under `name`; null and absent are as good as an empty list.
    ///
    /// # Errors
    ///
    /// When it is anything but a list of at most 32 texts.
    pub(crate) fn texts(&mut self, name: &str) -> Result<Vec<String>, Box<Words>> {
        let wrong = || bad(&format!("`{name}` of {} must be a list of at most {TEXTS_MAX} strings", self.tool));
        let list = match self.given.remove(name) {
            None | Some(Value::Null) => return Ok(Vec::new()),
            Some(Value::Array(list)) if list.len() <= TEXTS_MAX => list,
            Some(_) => return Err(wrong()),
        };
        let text = |one: Value| if let Value::String(text) = one { Ok(text) } else { Err(wrong()) };
        list.into_iter().map(text).collect()
    }

    /// Takes the number under `name`; null is as good as absent.
    ///
    /// # Errors
    ///
    /// When it is anything but a whole number from 1 to `most`.
    pub(crate) fn number(&mut self, name: &str, most: u64) -> Result<Option<u64>, Box<Words>> {
        match self.given.remove(name) {
            None | Some(Value::Null) => Ok(None),
            Some(value) => match value.as_u64().filter(|number| (1..=most).contains(number)) {
                Some(number) => Ok(Some(number)),
                None => Err(bad(&format!("`{name}` of {} must be a whole number from 1 to {most}", self.tool))),
            },
        }
    }

    /// The name of an argument that was given and not taken.
    pub(crate) fn left(&self) -> Option<&str> {
        self.given.iter().find(|(_, value)| !value.is_null()).map(|(name, _)| name.as_str())
    }

    /// Takes the texts in the object under `name`; null is as good as absent.
    ///
    /// # Errors
    ///
    /// When it is anything but an object of texts.
    pub(crate) fn members(&mut self, name: &str) -> Result<Vec<(String, String)>, Box<Words>> {
        let wrong = || bad(&format!("`{name}` of {} must be an object of strings", self.tool));
        let members = match self.given.remove(name) {
            None | Some(Value::Null) => return Ok(Vec::new()),
            Some(Value::Object(members)) => members,
            Some(_) => return Err(wrong()),
        };
        let text = |(key, value)| match value {
            Value::String(text) => Ok((key, text)),
            _ => Err(wrong()),
        };
        members.into_iter().map(text).collect()
    }
}

impl Said {
    /// Understands it.
    ///
    /// # Errors
    ///
    /// The first thing wrong with it, in the order of the fields, as a sentence.
    pub(crate) fn into_order(self) -> Result<Order, Box<Words>> {
        let url = self.url.ok_or_else(|| bad("`url` is missing; give the full https URL to fetch"))?;
        let site = Site::parse(&url)
            .map_err(|fault| Box::new(Words::of_refusals(&[Refusal::UrlInvalid { why: fault.to_string() }])))?;
        let method = parse("method", self.method)?.unwrap_or(Method::Get);
        let (body, bytes) = read_body(method, self.body, self.body_type.as_deref())?.unzip();
        let headers = read_headers(self.headers)?;
        let ceiling = parse::<Money>("max_price", self.max_price)?;
        let purchase_id = parse::<PurchaseId>("purchase_id", self.purchase_id)?;
        let quote = parse::<QuoteId>("quote", self.quote)?;
        let suspicious = self.suspicious.map(|why| Quoted::of(&why));
        Ok(Order {
            errand: Errand { site, method, body, headers, ceiling, purchase_id, quote, suspicious },
            body: bytes,
        })
    }
}

/// Understands the text under `name`.
fn parse<T: FromStr<Err: Display>>(name: &str, text: Option<String>) -> Result<Option<T>, Box<Words>> {
    let read = |text: String| text.parse().map_err(|fault| bad(&format!("`{name}` can not be used: {fault}")));
    text.map(read).transpose()
}

/// Every kind of body that a text can be.
const BODY_TYPES: [(&str, BodyType); 3] =
    [("json", BodyType::Json), ("form", BodyType::Form), ("text", BodyType::Text)];

fn read_body(method: Method, body: Option<String>, kind: Option<&str>) -> Result<Option<(Body, Vec<u8>)>, Box<Words>> {
    let Some(text) = body else {
        return if kind.is_none() { Ok(None) } else { Err(bad("`body_type` needs a `body`")) };
    };
    if method != Method::Post {
        return Err(bad(&format!("`body` goes with the method POST, not with {method}")));
    }
    let kind = match kind {
        None => BodyType::Json,
        Some(word) => BODY_TYPES
            .into_iter()
            .find(|(name, _)| *name == word)
            .map(|(_, kind)| kind)
            .ok_or_else(|| bad("`body_type` must be `json`, `form` or `text`"))?,
    };
    let bytes = text.into_bytes();
    let length = u32::try_from(bytes.len()).ok().filter(|_| bytes.len() <= BODY_MAX_BYTES);
    let Some(length) = length else {
        return Err(bad(&format!("`body` has {} bytes; at most {BODY_MAX_BYTES} are sent", bytes.len())));
    };
    Ok(Some((Body { digest: Digest::of(&bytes), bytes: length, kind }, bytes)))
}

fn read_headers(said: Vec<(String, String)>) -> Result<Headers, Box<Words>> {
    let mut headers = Headers::none();
    for (name, value) in said {
        let shown = line(&name, 40);
        let wrong = |why: &dyn Display| bad(&format!("the header `{shown}` can not be set: {why}"));
        let known: HeaderName = name.parse().map_err(|fault: HeaderFault| wrong(&fault))?;
        let value: HeaderText = value.parse().map_err(|fault: HeaderFault| wrong(&fault))?;
        if !headers.add(known, value) {
            return Err(wrong(&"it is given twice"));
        }
    }
    Ok(headers)
}

fn unknown_argument(tool: &str, unknown: &str, known: &[&str]) -> Box<Words> {
    let takes = if known.is_empty() { "no arguments".to_owned() } else { known.join(", ") };
    bad(&format!(
        "`{}` is not an argument of {tool}, which takes {takes}; payee, amount and network can not be chosen by the caller",
        line(unknown, 40)
    ))
}

/// Arguments that cannot be used, for this reason.
pub(crate) fn bad(message: &str) -> Box<Words> {
    let next_step = "correct the arguments and call again; nothing was sent and nothing was paid";
    Box::new(Words::new(BAD_ARGUMENTS, message, Some(next_step)))
}

#[cfg(test)]
mod tests;
