//! What the judge must hold, one module a concern.
#![expect(
    clippy::unwrap_used,
    clippy::arithmetic_side_effects,
    clippy::expect_used,
    clippy::indexing_slicing,
    clippy::panic,
    reason = "a test stops at the first surprise, and its numbers are small"
)]

mod builders;
mod caution;

mod admission;
mod amounts;
mod assets;
mod laws;
mod limits;
mod mandates;
mod names;
mod offers;
mod paths;
mod pinned;
mod proofs;
mod refusal_rows;
mod routes;
mod rule_faults;
mod second_gate;
mod secrets;
mod signing;
mod visits;

#[test]
fn every_file_here_is_in_the_list_above() {
    let listed = include_str!("main.rs");
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/all");
    for entry in std::fs::read_dir(folder).unwrap() {
        let name = entry.unwrap().file_name().into_string().unwrap();
        let module = name.strip_suffix(".rs").unwrap();
        assert!(name == "main.rs" || listed.contains(&format!("\nmod {module};\n")), "{name}");
    }
}
