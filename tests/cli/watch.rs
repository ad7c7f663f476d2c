//! `bursar watch`: at a terminal, through a pipe, and with a desktop that shows notifications.

use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::process::Stdio;

use serde_json::Value;
use tokio::io::{AsyncBufReadExt as _, BufReader};
use tokio::time::{interval, timeout};

use crate::approvals::{asked, cautious};
use crate::desk::{Desk, PASSPHRASE, PATIENCE};
use crate::stall::{HOST, Stall};
use crate::terminal::Terminal;

#[tokio::test]
async fn a_terminal_shows_what_changes_and_gets_its_page_back() {
    let desk = Desk::with_vault().await;
    let mut terminal = Terminal::run(&desk, "watch");
    terminal.sees("\u{1b}[?1049h").await;
    terminal.sees("locked").await;
    terminal.sees("q leaves").await;
    desk.typing(&["unlock"], PASSPHRASE).await.done();
    desk.typing(&["session", "new", "--budget", "2.00 USD"], PASSPHRASE).await.done();
    terminal.sees("2.00 USD").await;
    desk.run(&["freeze", "--reason", "enough for today"]).await.done();
    terminal.sees("FROZEN").await;
    terminal.sees("enough for today").await;
    terminal.presses(b"q").await;
    let (code, shown) = terminal.ended().await;
    assert_eq!(code, Some(0), "{shown}");
    assert!(shown.ends_with("\u{1b}[?7h\u{1b}[?25h\u{1b}[?1049l"), "{shown:?}");
}

#[tokio::test]
async fn ctrl_c_leaves_in_order_too() {
    let desk = Desk::with_vault().await;
    let mut terminal = Terminal::run(&desk, "watch");
    terminal.sees("q leaves").await;
    terminal.presses(&[3]).await;
    let (code, shown) = terminal.ended().await;
    assert_eq!(code, Some(0), "{shown}");
    assert!(shown.ends_with("\u{1b}[?1049l"), "{shown:?}");
}

#[tokio::test]
async fn through_a_pipe_each_event_is_a_line_and_a_vault_that_comes_back_goes_on() {
    let mut desk = Desk::with_vault().await;
    let mut command = desk.command();
    command.args(["watch", "--json"]).stdin(Stdio::null()).stdout(Stdio::piped()).kill_on_drop(true);
    let mut watch = command.spawn().unwrap();
    let mut lines = BufReader::new(watch.stdout.take().unwrap()).lines();
    // It begins with what happens next; what that is, nobody knows before it is heard.
    let mut tick = interval(std::time::Duration::from_millis(50));
    let mut freezes = 0_u32;
    let first = timeout(PATIENCE, async {
        loop {
            tokio::select! {
                line = lines.next_line() => return line.unwrap().unwrap(),
                _ = tick.tick() => {
                    desk.run(&["freeze", "--reason", &format!("number {freezes}")]).await.done();
                    freezes = freezes.saturating_add(1);
                }
            }
        }
    });
    let first: Value = serde_json::from_str(&first.await.unwrap()).unwrap();
    assert_eq!(first["kind"], "frozen");
    desk.stop_vault().await;
    desk.start_vault().await;
    let mut seq = first["seq"].as_u64().unwrap();
    let opened = timeout(PATIENCE, async {
        loop {
            let event: Value = serde_json::from_str(&lines.next_line().await.unwrap().unwrap()).unwrap();
            let next = event["seq"].as_u64().unwrap();
            assert_eq!(next.checked_sub(seq), Some(1), "none is left out and none comes twice: {event}");
            seq = next;
            if event["kind"] == "rules_loaded" {
                return;
            }
        }
    });
    opened.await.unwrap();
    let since = desk.run(&["log", "--json", "--after", &first["seq"].to_string()]).await.done();
    assert!(since.contains("\"opened\""), "{since}");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_purchase_that_waits_is_shown_on_the_desktop_once_with_its_id_and_no_word_of_the_seller() {
    let stall = Stall::open().await;
    let desk = cautious(&stall).await;
    let folder = tempfile::tempdir().unwrap();
    let (program, said) = (folder.path().join("notify-send"), folder.path().join("said"));
    let script = format!(
        "#!/bin/sh\nfor word in \"$@\"; do printf '%s|' \"$word\"; done >> '{0}'\necho >> '{0}'\n",
        said.display()
    );
    fs::write(&program, script).unwrap();
    fs::set_permissions(&program, fs::Permissions::from_mode(0o700)).unwrap();
    let mut command = desk.command();
    command.env("PATH", format!("{}:/usr/bin:/bin", folder.path().display())).args(["watch", "--notify"]);
    command.stdin(Stdio::null()).stdout(Stdio::null()).kill_on_drop(true);
    let _watch = command.spawn().unwrap();
    let id = asked(&desk, &format!("{}/page?now=%22ignore%20everything%22", stall.origin())).await;
    let shown = |wanted: usize| {
        let said = said.clone();
        async move {
            let mut tick = interval(std::time::Duration::from_millis(20));
            loop {
                let text = fs::read_to_string(&said).unwrap_or_default();
                if text.lines().count() == wanted {
                    return text;
                }
                tick.tick().await;
            }
        }
    };
    let told = timeout(PATIENCE, shown(2)).await.unwrap();
    let line = told.lines().last().unwrap();
    assert_eq!(
        line,
        format!(
            "--app-name=bursar|--urgency=critical|--|bursar: a purchase waits for you|0.05 USD to '{HOST}', as serve \
             reports it. Approval {id}; see bursar approvals.|"
        )
    );
    let other = asked(&desk, &format!("{}/page?other", stall.origin())).await;
    let told = timeout(PATIENCE, shown(3)).await.unwrap();
    assert!(told.lines().last().unwrap().contains(&other) && told.matches(&id).count() == 1, "{told}");
}

#[tokio::test]
async fn without_a_program_that_shows_notifications_it_says_so_and_does_not_begin() {
    let desk = Desk::with_vault().await;
    let mut command = desk.command();
    command.env("PATH", "/nowhere").args(["watch", "--notify"]);
    crate::desk::run(command, "").await.says(4, &["`notify-send` cannot be started", "leave `--notify` away"]);
}
