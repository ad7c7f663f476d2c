//! The mouth as a client sees it: raw lines in, raw lines out, and a shell that is made up.
#![expect(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    reason = "a test that cannot go on must say where"
)]

mod client;
mod shape;
mod shell;

mod answers;
mod browser;
mod catalog;
mod eras;
mod lifecycle;
mod logs;
mod notes;
mod person;
mod seller_text;
mod wire;

/// Each file in this folder is in the list above.
#[test]
fn no_file_is_forgotten() {
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/mouth");
    let list = std::fs::read_to_string(format!("{folder}/main.rs")).unwrap();
    for entry in std::fs::read_dir(folder).unwrap() {
        let name = entry.unwrap().file_name().into_string().unwrap();
        let module = name.trim_end_matches(".rs");
        assert!(module == "main" || list.contains(&format!("\nmod {module};")), "{name} is not compiled");
    }
}
