//! Reads a recorded HTTP answer (status line, header fields, body) from a file. Judges nothing.

use std::fs::File;
use std::io::Read;
use std::path::Path;

/// The longest recording that is read, in bytes.
const FILE_BYTES: u64 = 1024 * 1024;

/// A recorded answer.
#[derive(Debug, PartialEq, Eq)]
pub(in super::super) struct Recorded {
    /// The status.
    pub(in super::super) status: u16,
    /// The fields: names in lower case, in order.
    pub(in super::super) headers: Vec<(String, Vec<u8>)>,
    /// What follows the empty line.
    pub(in super::super) body: Vec<u8>,
}

/// Reads the recording in the file at `path`.
///
/// # Errors
///
/// One sentence with the path.
pub(in super::super) fn read(path: &Path) -> Result<Recorded, String> {
    let unreadable = |why: &dyn std::fmt::Display| {
        let name = path.display().to_string();
        format!("`{}` cannot be read as a recorded answer: {why}", name.escape_debug())
    };
    let mut bytes = Vec::new();
    File::open(path)
        .and_then(|file| file.take(FILE_BYTES).read_to_end(&mut bytes))
        .map_err(|fault| unreadable(&fault))?;
    parse(&bytes).map_err(|why| unreadable(&why))
}

/// Splits the bytes of an HTTP/1.1 answer; bare line feeds are accepted, since people edit recordings.
fn parse(bytes: &[u8]) -> Result<Recorded, &'static str> {
    let mut rest = bytes;
    let first = line(&mut rest).ok_or("it is empty")?;
    let mut words = first.split(|byte| *byte == b' ');
    let http = words.next().is_some_and(|word| word.starts_with(b"HTTP/"));
    let status = words.next().and_then(|word| std::str::from_utf8(word).ok()).and_then(|word| word.parse().ok());
    let (true, Some(status)) = (http, status) else {
        return Err("it does not begin with a line like `HTTP/1.1 402 Payment Required`");
    };
    let mut headers = Vec::new();
    loop {
        match line(&mut rest) {
            None | Some([]) => break,
            Some(field) => {
                let colon = field.iter().position(|byte| *byte == b':').ok_or("a header field has no colon")?;
                let (name, value) = field.split_at(colon);
                let name = std::str::from_utf8(name).map_err(|_| "a header field's name is not ASCII")?;
                let value = value.get(1..).unwrap_or_default().trim_ascii();
                headers.push((name.trim().to_ascii_lowercase(), value.to_vec()));
            }
        }
    }
    Ok(Recorded { status, headers, body: rest.to_vec() })
}

fn line<'a>(rest: &mut &'a [u8]) -> Option<&'a [u8]> {
    if rest.is_empty() {
        return None;
    }
    let end = rest.iter().position(|byte| *byte == b'\n').unwrap_or(rest.len());
    let found = rest.get(..end).unwrap_or_default();
    *rest = rest.get(end.saturating_add(1)..).unwrap_or_default();
    Some(found.strip_suffix(b"\r").unwrap_or(found))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_answer_is_split_into_status_fields_and_body() {
        let recorded =
            parse(b"HTTP/1.1 402 Payment Required\r\nPayment-Required:  abc \nX: y:z\n\nbody\r\n\r\n").unwrap();
        assert_eq!(recorded.status, 402);
        assert_eq!(
            recorded.headers,
            [("payment-required".to_owned(), b"abc".to_vec()), ("x".to_owned(), b"y:z".to_vec())]
        );
        assert_eq!(recorded.body, b"body\r\n\r\n");
    }

    #[test]
    fn what_is_no_answer_is_refused() {
        for bytes in [&b""[..], b"{}", b"HTTP/1.1", b"HTTP/1.1 abc\n", b"HTTP/1.1 402 x\nno colon\n\n"] {
            assert!(parse(bytes).is_err(), "{bytes:?}");
        }
    }
}
