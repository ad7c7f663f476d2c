//! A body of many MiB: kept whole, and never in memory.

use std::fs;
use std::process::Stdio;
use std::time::Duration;

use serde_json::{Value, json};
use sha2::{Digest as _, Sha256};
use tokio::io::{AsyncBufReadExt as _, AsyncWriteExt as _, BufReader};
use tokio::time::timeout;

use crate::desk::{Desk, PASSPHRASE, write};
use crate::explain::{beside, call};
use crate::stall::{Stall, mebibyte};

/// How long a purchase may take here.
const PATIENCE: Duration = Duration::from_secs(300);

/// What a `serve` of its own told and needed for one purchase.
pub(crate) struct Measured {
    pub(crate) told: Value,
    /// The most memory that it had at any time, in KiB.
    pub(crate) peak_kib: u64,
}

/// A desk with money, whose rules keep up to 256 MiB of an answer and give the model the name of the file.
pub(crate) async fn desk(stall: &Stall) -> Desk {
    let desk = beside(stall).await;
    let text = fs::read_to_string(desk.rules()).unwrap();
    let host = format!("origin = \"{}\"", stall.origin());
    assert!(text.contains(&host), "{text}");
    let large = format!("{host}\nmax_body = \"256 MiB\"\ncontent = \"file\"");
    write(&desk.rules(), &text.replacen(&host, &large, 1).replacen("content = \"text\"", "", 1));
    desk.typing(&["reload"], PASSPHRASE).await.done();
    desk.typing(&["unlock"], PASSPHRASE).await.done();
    desk.typing(&["session", "new", "--budget", "1.00 USD"], PASSPHRASE).await.done();
    desk
}

/// Buys `mebibytes` at `stall` and looks at the memory of `serve` before it ends.
pub(crate) async fn bought(desk: &Desk, stall: &Stall, mebibytes: u64) -> Measured {
    let mut command = desk.command();
    command.arg("serve").stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::null()).kill_on_drop(true);
    let mut serve = command.spawn().unwrap();
    let (mut to, from) = (serve.stdin.take().unwrap(), serve.stdout.take().unwrap());
    let url = format!("{}/big/{mebibytes}", stall.origin());
    to.write_all(format!("{}\n", call(&json!({"url": url}))).as_bytes()).await.unwrap();
    let mut line = String::new();
    timeout(PATIENCE, BufReader::new(from).read_line(&mut line)).await.unwrap().unwrap();
    let status = fs::read_to_string(format!("/proc/{}/status", serve.id().unwrap())).unwrap();
    let peak = status.lines().find_map(|line| line.strip_prefix("VmHWM:")).unwrap();
    let peak_kib = peak.trim().strip_suffix(" kB").unwrap().parse().unwrap();
    drop(to);
    assert!(timeout(PATIENCE, serve.wait()).await.unwrap().unwrap().success());
    let answer: Value = serde_json::from_str(&line).unwrap();
    Measured { told: answer["result"]["structuredContent"].clone(), peak_kib }
}

/// The digest of what is under `/big/N`.
pub(crate) fn digest(mebibytes: u64) -> String {
    let mut hash = Sha256::new();
    (0..mebibytes).for_each(|number| hash.update(mebibyte(number)));
    hash.finalize().iter().map(|byte| format!("{byte:02x}")).collect()
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_body_of_64_mib_is_kept_byte_for_byte_and_never_in_memory() {
    let stall = Stall::open().await;
    let desk = desk(&stall).await;
    let small = bought(&desk, &stall, 1).await;
    assert_eq!(small.told["content"]["sha256"], digest(1), "{}", small.told);

    let Measured { told, peak_kib } = bought(&desk, &stall, 64).await;
    assert_eq!((&told["outcome"], &told["content"]["bytes"]), (&json!("paid"), &json!(64 << 20)), "{told}");
    assert_eq!((&told["content"]["sha256"], &told["content"]["truncated"]), (&json!(digest(64)), &json!(false)));
    let file = told["content"]["file"].as_str().unwrap();
    assert_eq!(fs::metadata(file).unwrap().len(), 64 << 20);
    let preview = told["content"]["text"].as_str().unwrap();
    assert!(preview.contains(&format!("{:063}", 0)) && preview.len() < 1_300, "{preview}");
    assert_eq!(told["content"]["text_truncated"], true);
    assert!(peak_kib < small.peak_kib + 4 * 1024, "64 MiB took {peak_kib} KiB, 1 MiB took {} KiB", small.peak_kib);
}
