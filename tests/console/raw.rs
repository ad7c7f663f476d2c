//! Requests as bytes, so that they can be wrong in every way, and answers as they came.

use std::time::Duration;

use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpStream;
use tokio::time::timeout;

/// How long anything may take before the test gives up.
pub(crate) const PATIENCE: Duration = Duration::from_secs(40);

/// A request, header by header.
#[derive(Clone)]
pub(crate) struct Ask {
    line: String,
    headers: Vec<(String, String)>,
    body: String,
}

/// An answer.
#[derive(Clone, Debug)]
pub(crate) struct Answer {
    /// 0 where the connection was closed without one.
    pub(crate) status: u16,
    pub(crate) headers: Vec<(String, String)>,
    pub(crate) body: String,
}

impl Ask {
    /// A request with this line and no header but the last one on its connection.
    pub(crate) fn of(line: &str) -> Self {
        Self { line: line.to_owned(), headers: Vec::new(), body: String::new() }.with("connection", "close")
    }

    /// With one header more.
    pub(crate) fn with(mut self, name: &str, value: &str) -> Self {
        self.headers.push((name.to_owned(), value.to_owned()));
        self
    }

    /// Without a header.
    pub(crate) fn without(mut self, name: &str) -> Self {
        self.headers.retain(|(had, _)| had != name);
        self
    }

    /// With another value in place of a header's.
    pub(crate) fn but(self, name: &str, value: &str) -> Self {
        self.without(name).with(name, value)
    }

    /// With a body and its length.
    pub(crate) fn saying(mut self, body: &str) -> Self {
        body.clone_into(&mut self.body);
        self.but("content-length", &body.len().to_string())
    }

    /// The head alone, as bytes.
    pub(crate) fn head(&self) -> String {
        let lines: String = self.headers.iter().map(|(name, value)| format!("{name}: {value}\r\n")).collect();
        format!("{}\r\n{lines}\r\n", self.line)
    }

    /// Sends it and reads until the other end closes.
    pub(crate) async fn send(&self, host: &str) -> Answer {
        let mut stream = TcpStream::connect(host).await.unwrap();
        // Whoever is turned away may be before all was sent.
        stream.write_all(format!("{}{}", self.head(), self.body).as_bytes()).await.unwrap_or_default();
        read(stream).await
    }
}

/// Reads an answer up to the end of its connection, which has to come.
pub(crate) async fn read(mut stream: TcpStream) -> Answer {
    let mut bytes = Vec::new();
    let whole = timeout(PATIENCE, async {
        let mut piece = [0; 4096];
        // A connection that is reset ends too.
        while let Ok(count @ 1..) = stream.read(&mut piece).await {
            bytes.extend_from_slice(&piece[..count]);
        }
    });
    whole.await.expect("the connection was not closed");
    let text = String::from_utf8(bytes).unwrap();
    let Some((head, body)) = text.split_once("\r\n\r\n") else {
        assert_eq!(text, "", "half an answer");
        return Answer { status: 0, headers: Vec::new(), body: String::new() };
    };
    let mut lines = head.lines();
    let status = lines.next().unwrap().split(' ').nth(1).unwrap().parse().unwrap();
    let headers =
        lines.filter_map(|line| line.split_once(": ")).map(|(name, value)| (name.to_owned(), value.to_owned()));
    Answer { status, headers: headers.collect(), body: body.to_owned() }
}

impl Answer {
    /// The values of a header.
    pub(crate) fn all(&self, name: &str) -> Vec<&str> {
        self.headers.iter().filter(|(had, _)| had.eq_ignore_ascii_case(name)).map(|(_, value)| value.as_str()).collect()
    }

    /// The JSON of the body.
    pub(crate) fn json(&self) -> serde_json::Value {
        serde_json::from_str(&self.body).unwrap_or_else(|fault| panic!("{fault}: {self:?}"))
    }

    /// Fails unless it is an answer of this status and code.
    pub(crate) fn is(&self, status: u16, code: &str) {
        assert_eq!((self.status, self.json()["code"].as_str()), (status, Some(code)), "{self:?}");
    }
}
