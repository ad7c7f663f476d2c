//! What each reader gets to see.

use serde_json::Value;

use super::{Reader, Show, Step, Verdict};

fn verdict(ok: bool) -> Verdict {
    let got = if ok { "paid; 1 signature" } else { "paid; 2 signatures" };
    let step = Step { name: "buy".to_owned(), expected: "paid; 1 signature".to_owned(), got: got.to_owned(), ok };
    let lost_usd = if ok { "0.00" } else { "0.05" };
    Verdict { steps: vec![step], purchases: 1, refusals: 0, lost_usd: lost_usd.to_owned(), ok }
}

fn shown(reader: Reader, verdict: &Verdict, kept: Option<&str>) -> String {
    let mut out = Vec::new();
    let mut show = Show::new(&mut out, reader);
    show.running("buy").unwrap();
    show.verdict(verdict, kept).unwrap();
    String::from_utf8(out).unwrap()
}

#[test]
fn a_program_gets_exactly_one_object_on_one_line() {
    let text = shown(Reader::Program, &verdict(true), Some("/somewhere"));
    assert_eq!(text.lines().count(), 1);
    assert_eq!(
        text.trim_end(),
        r#"{"steps":[{"name":"buy","expected":"paid; 1 signature","got":"paid; 1 signature","ok":true}],"purchases":1,"refusals":0,"lost_usd":"0.00","ok":true}"#
    );
    assert!(serde_json::from_str::<Value>(&text).is_ok());
}

#[test]
fn a_page_has_no_colours_no_running_line_and_ends_with_what_was_lost() {
    let text = shown(Reader::Page, &verdict(true), Some("/kept/here"));
    assert!(!text.contains('\u{1b}') && !text.contains('\r') && !text.contains('…'), "{text}");
    assert!(text.contains("/kept/here"));
    assert_eq!(text.lines().last(), Some("lost: 0.00"));
}

#[test]
fn a_terminal_sees_the_running_step_and_colours_that_do_not_widen_the_table() {
    let text = shown(Reader::Terminal(60), &verdict(true), None);
    assert!(text.contains("… buy"), "{text}");
    assert!(text.contains("\u{1b}[32m✓\u{1b}[0m"), "{text}");
    let plain = text.replace("\u{1b}[32m", "").replace("\u{1b}[0m", "");
    let widths: Vec<usize> =
        plain.lines().filter(|line| line.starts_with('│')).map(|line| line.chars().count()).collect();
    assert_eq!(widths.len(), 2, "{plain}");
    assert!(widths.iter().all(|width| *width <= 60 && Some(width) == widths.first()), "{plain}");
}

#[test]
fn a_step_that_differs_shows_both_what_happened_and_what_was_promised() {
    let text = shown(Reader::Page, &verdict(false), None);
    assert!(
        text.contains("✗") && text.contains("paid; 2 signatures") && text.contains("promised was: paid; 1 signature")
    );
    assert!(text.contains("1 of 1 steps differ"), "{text}");
    assert_eq!(text.lines().last(), Some("lost: 0.05"));
}
