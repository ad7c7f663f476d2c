//! Forty kinds of bodies, from a seller's hands into the content folder byte for byte.

use std::fs;
use std::process::Stdio;

use bursar_policy::Digest;
use serde_json::{Value, json};
use tokio::io::{AsyncBufReadExt as _, AsyncWriteExt as _, BufReader};
use tokio::time::timeout;

use crate::desk::{PASSPHRASE, PATIENCE};
use crate::explain::{beside, call};
use crate::stall::Stall;

/// A body, what its seller calls it, and the word that a model is told.
pub(crate) type Kind = (&'static str, &'static str, Vec<u8>);

/// Forty bodies that something on the way could be tempted to touch.
pub(crate) fn corpus() -> Vec<Kind> {
    let every_byte: Vec<u8> = (0..=255).collect();
    let utf_16 = |text: &str| text.encode_utf16().flat_map(u16::to_le_bytes).collect::<Vec<u8>>();
    let starting = |start: &[u8]| [start, &every_byte, start].concat();
    vec![
        ("application/pdf", "pdf", starting(b"%PDF-1.7\n%\xe2\xe3\xcf\xd3\n")),
        ("image/png", "png", starting(b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR")),
        ("image/jpeg", "jpeg", starting(b"\xff\xd8\xff\xe0\0\x10JFIF\0")),
        ("image/gif", "gif", starting(b"GIF89a")),
        ("image/webp", "webp", starting(b"RIFF\x10\0\0\0WEBPVP8 ")),
        ("image/svg+xml", "xml", b"<svg xmlns=\"http://www.w3.org/2000/svg\"/>\r\n".to_vec()),
        ("image/tiff", "other", starting(b"II*\0")),
        ("image/x-icon", "other", starting(b"\0\0\x01\0")),
        ("image/avif", "other", starting(b"\0\0\0 ftypavif")),
        ("audio/mpeg", "audio", starting(b"ID3\x04\0")),
        ("audio/wav", "audio", starting(b"RIFF$\0\0\0WAVEfmt ")),
        ("audio/ogg", "audio", starting(b"OggS\0\x02")),
        ("audio/flac", "audio", starting(b"fLaC\0\0\0\"")),
        ("video/mp4", "video", starting(b"\0\0\0\x18ftypmp42")),
        ("video/webm", "video", starting(b"\x1a\x45\xdf\xa3")),
        ("application/zip", "zip", starting(b"PK\x03\x04\x14\0")),
        ("application/gzip", "other", starting(b"\x1f\x8b\x08\0")),
        ("application/x-7z-compressed", "other", starting(b"7z\xbc\xaf\x27\x1c")),
        ("application/x-tar", "other", vec![0; 1024]),
        ("application/zstd", "other", starting(b"\x28\xb5\x2f\xfd")),
        ("application/wasm", "other", starting(b"\0asm\x01\0\0\0")),
        ("application/octet-stream", "octet", every_byte.clone()),
        ("application/octet-stream", "octet", every_byte.iter().rev().copied().collect()),
        ("application/vnd.ms-fontobject", "other", starting(b"\0LP")),
        ("font/woff2", "other", starting(b"wOF2")),
        ("application/epub+zip", "other", starting(b"PK\x03\x04mimetype")),
        ("application/json", "json", "{ \"a\" : 1e400, \"b\":\"\u{e9}\\u00e9\\/\" }\r\n\n".as_bytes().to_vec()),
        ("application/json; charset=utf-16", "json", utf_16("{\"a\":1}")),
        ("application/ld+json", "json", b"\xef\xbb\xbf{}".to_vec()),
        ("application/x-ndjson", "text", b"{}\n{}\n\n".to_vec()),
        ("text/plain; charset=utf-16le", "text", utf_16("\u{feff}zwei Byte, \u{1f600}\r\n")),
        ("text/plain; charset=iso-8859-1", "text", b"caf\xe9 \x80\x9f \0 \x1b[2J".to_vec()),
        ("text/plain", "text", b"lines\rof\r\nevery\nkind\n\r   \t ".to_vec()),
        ("text/html", "html", b"<!doctype html><p>\xf0\x9f\x98\x80\xff</p>".to_vec()),
        ("text/csv", "csv", b"a,b\r\n\"1\r\n2\",\"\"\"\"\r\n".to_vec()),
        ("text/tab-separated-values", "csv", b"a\tb\n\t\n".to_vec()),
        ("application/xml", "xml", utf_16("\u{feff}<?xml version=\"1.0\" encoding=\"UTF-16\"?><a/>")),
        ("text/markdown", "text", "# \u{202e}kcart\u{200b}\n".as_bytes().to_vec()),
        ("text/event-stream", "text", Vec::new()),
        ("application/x-protobuf", "other", b"\x08\x96\x01".repeat(50_000)),
    ]
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn forty_kinds_of_bodies_are_kept_byte_for_byte() {
    let stall = Stall::open().await;
    let desk = beside(&stall).await;
    desk.typing(&["unlock"], PASSPHRASE).await.done();
    desk.typing(&["session", "new", "--budget", "1.00 USD"], PASSPHRASE).await.done();
    let corpus = corpus();
    assert_eq!(corpus.len(), 40);
    let mut command = desk.command();
    command.arg("serve").stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::null()).kill_on_drop(true);
    let mut serve = command.spawn().unwrap();
    let (mut to, from) = (serve.stdin.take().unwrap(), serve.stdout.take().unwrap());
    for number in 0..corpus.len() {
        let mut call = call(&json!({"url": format!("{}/free/kind/{number}", stall.origin())}));
        call["id"] = json!(number);
        to.write_all(format!("{call}\n").as_bytes()).await.unwrap();
    }
    let mut lines = BufReader::new(from).lines();
    for _ in 0..corpus.len() {
        let line = timeout(PATIENCE, lines.next_line()).await.unwrap().unwrap().unwrap();
        let answer: Value = serde_json::from_str(&line).unwrap();
        let (sent, word, body) = &corpus[usize::try_from(answer["id"].as_u64().unwrap()).unwrap()];
        let (told, digest) = (&answer["result"]["structuredContent"]["content"], Digest::of(body).to_string());
        assert_eq!((&told["type"], &told["sha256"]), (&json!(word), &json!(digest)), "{sent}: {answer}");
        assert_eq!((&told["bytes"], &told["truncated"]), (&json!(body.len()), &json!(false)), "{sent}");
        let kept = fs::read(desk.profile().content_dir().join(&digest)).unwrap();
        assert!(kept == *body, "{sent} was changed on the way");
    }
    drop(to);
    assert!(timeout(PATIENCE, serve.wait()).await.unwrap().unwrap().success());
}
