//! The house rules that no compiler sees: file sizes, first lines, absent arrows, tables that must be fresh.
#![expect(clippy::unwrap_used, clippy::expect_used, clippy::panic, unreachable_pub, reason = "these are tests")]

#[path = "house/readme.rs"]
mod readme;
#[path = "house/schema.rs"]
mod schema;
#[path = "house/schema_checker.rs"]
mod schema_checker;
#[path = "house/supply.rs"]
mod supply;
#[path = "house/tidy.rs"]
mod tidy;
#[path = "house/tool_table.rs"]
mod tool_table;
