//! The cookbook: ten rules files, and what each table says that they allow and refuse, judged by `bursar policy test`.

use std::fs;
use std::path::Path;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use serde_json::json;
use tempfile::TempDir;
use tokio::process::Command;

use crate::page::Page;

/// Who is paid, in the words of the tables.
const PAYEES: [(&str, &str); 3] = [
    ("the seller", "0x1111111111111111111111111111111111111111"),
    ("another seller", "0x2222222222222222222222222222222222222222"),
    ("a stranger", "0xbabababababababababababababababababababa"),
];

/// A recipe: its heading, its rules, and the rows of its table.
struct Recipe {
    name: String,
    rules: String,
    rows: Vec<[String; 4]>,
}

fn recipes() -> Vec<Recipe> {
    let page = Page::read("docs/cookbook.md");
    let blocks = page.blocks();
    let starts: Vec<(usize, &str)> = page
        .prose()
        .into_iter()
        .filter(|(_, line)| line.starts_with("## ") && line[3..].starts_with(char::is_numeric))
        .collect();
    let ends = starts.iter().skip(1).map(|(line, _)| *line).chain([usize::MAX]);
    starts
        .iter()
        .zip(ends)
        .map(|((start, heading), end)| {
            let mut rules = blocks.iter().filter(|block| (*start..end).contains(&block.line) && block.info == "toml");
            let lines =
                page.prose().into_iter().filter(|(line, text)| (*start..end).contains(line) && text.starts_with("| `"));
            let cells = |text: &str| text.trim_matches('|').split('|').map(|cell| cell.trim().to_owned()).collect();
            Recipe {
                name: heading.trim_start_matches("## ").to_owned(),
                rules: rules.next().unwrap_or_else(|| panic!("{heading}: no rules")).text.clone(),
                rows: lines
                    .map(|(_, text)| {
                        <Vec<String>>::try_into(cells(text)).unwrap_or_else(|cells| panic!("four cells: {cells:?}"))
                    })
                    .collect(),
            }
        })
        .collect()
}

/// The 402 answer, on a Wednesday before noon, of a seller of `url` at a price of so many cents and hundredths of them.
fn terms(url: &str, price: &str, payee: &str) -> String {
    let (whole, part) =
        price.strip_suffix(" USD").and_then(|amount| amount.split_once('.')).expect("such as `0.05 USD`");
    let units: u64 = format!("{whole}{part:0<6}").parse().unwrap();
    let payee = PAYEES.iter().find(|(name, _)| *name == payee).unwrap_or_else(|| panic!("who is `{payee}`?")).1;
    let document = json!({
        "x402Version": 2, "error": "payment required", "extensions": {},
        "resource": {"url": url, "description": "", "mimeType": "application/json"},
        "accepts": [{
            "scheme": "exact", "network": "eip155:8453", "amount": units.to_string(), "payTo": payee,
            "maxTimeoutSeconds": 60, "asset": "0x833589fCD6eDb6E08f4c7C32D4f71b54bdA02913",
            "extra": {"name": "USD Coin", "version": "2"},
        }],
    });
    let value = STANDARD.encode(document.to_string());
    format!(
        "HTTP/1.1 402 Payment Required\r\ndate: Wed, 04 Nov 2026 10:00:00 GMT\r\npayment-required: {value}\r\ncontent-length: 0\r\n\r\n"
    )
}

/// Writes one row as a story.
fn story(folder: &Path, rules: &str, [asked, price, payee, ends]: &[String; 4]) {
    fs::create_dir(folder).unwrap();
    let (method, url) = asked.trim_matches('`').split_once(' ').expect("a method and a URL");
    let mut arguments = json!({"url": url, "method": method});
    if method == "POST" {
        arguments["body"] = json!("{}");
        arguments["body_type"] = json!("json");
    }
    let write = |name: &str, text: &str| fs::write(folder.join(name), text).unwrap();
    write("ask.json", &json!({"tool": "x402_fetch", "arguments": arguments}).to_string());
    write("reply.http", &terms(url, price, payee));
    write("rules.toml", rules);
    let want = match ends.as_str() {
        "is paid" => format!("outcome = \"pay\"\nmoney = \"{price}\""),
        code => format!("outcome = \"refuse\"\ncode = \"{}\"", code.trim_matches('`')),
    };
    write("want.toml", &want);
}

#[tokio::test]
async fn each_recipe_allows_and_refuses_what_its_table_says() {
    let recipes = recipes();
    assert_eq!(recipes.len(), 10, "ten recipes");
    let folder = TempDir::with_prefix("bursar-cookbook-").unwrap();
    for (number, recipe) in recipes.iter().enumerate() {
        let ends: Vec<&str> = recipe.rows.iter().map(|row| row[3].as_str()).collect();
        let paid = ends.iter().filter(|end| **end == "is paid").count();
        assert!(0 < paid && paid < ends.len(), "{}: something that is paid, and something that is not", recipe.name);
        let stories = folder.path().join(number.to_string());
        fs::create_dir(&stories).unwrap();
        for (row, cells) in recipe.rows.iter().enumerate() {
            story(&stories.join(row.to_string()), &recipe.rules, cells);
        }
        let mut command = Command::new(env!("CARGO_BIN_EXE_bursar"));
        command.env_clear().args(["policy", "test"]).arg(&stories);
        let said = command.output().await.unwrap();
        let shown = String::from_utf8_lossy(&said.stdout);
        assert_eq!(said.status.code(), Some(0), "{}: {shown}{}", recipe.name, String::from_utf8_lossy(&said.stderr));
    }
}
