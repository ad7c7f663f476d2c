//! Any bytes as an HTTP answer: lines of headers, an empty line, a body. Must never turn bytes down.
//!
//! A line `name: value` is sent as it stands. A line `name= document` is sent in base64, so that a search for bad
//! documents need not find its way through that first; what is saved can be read. Other lines are dropped.

use bursar::wire::HeaderView;

use super::base64;

/// What a seller might send.
#[derive(Clone, Debug)]
pub struct Answer {
    /// Names in lower case and values as bytes, in order.
    pub headers: Vec<(String, Vec<u8>)>,
    /// Everything after the first empty line.
    pub body: Vec<u8>,
}

impl Answer {
    /// The answer that `bytes` describe.
    pub fn of(bytes: &[u8]) -> Self {
        let end = bytes.windows(2).position(|pair| pair == b"\n\n").unwrap_or(bytes.len());
        let (head, body) = bytes.split_at(end);
        Self {
            headers: head.split(|byte| *byte == b'\n').filter_map(header).collect(),
            body: body.get(2..).unwrap_or_default().to_vec(),
        }
    }

    /// The same answer without the headers of this name.
    pub fn without(&self, name: &str) -> Self {
        let mut other = self.clone();
        other.headers.retain(|(found, _)| found != name);
        other
    }

    /// The same answer with one more header.
    pub fn with(&self, name: &str, value: impl Into<Vec<u8>>) -> Self {
        let mut other = self.clone();
        other.headers.push((name.to_owned(), value.into()));
        other
    }

    /// The same headers with another body.
    pub fn with_body(&self, body: impl Into<Vec<u8>>) -> Self {
        Self { headers: self.headers.clone(), body: body.into() }
    }

    /// The headers as the readers take them.
    pub fn view(&self) -> HeaderView<'_> {
        HeaderView::new(&self.headers)
    }
}

fn header(line: &[u8]) -> Option<(String, Vec<u8>)> {
    let mark = line.iter().position(|byte| *byte == b':' || *byte == b'=')?;
    let (name, value) = line.split_at(mark);
    let name = String::from_utf8_lossy(name).trim().to_ascii_lowercase();
    let (mark, value) = value.split_first()?;
    let value = if *mark == b'=' { base64::encoded(value.trim_ascii()).into_bytes() } else { value.to_vec() };
    Some((name, value))
}
