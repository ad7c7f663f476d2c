//! The command line as a newcomer meets it: in a folder of its own, with what is typed, what is shown, and how it ends.
#![expect(
    clippy::unwrap_used,
    clippy::panic,
    clippy::indexing_slicing,
    reason = "a test that cannot go on says so and stops"
)]

#[path = "cli/api_keys.rs"]
mod api_keys;
#[path = "cli/approvals.rs"]
mod approvals;
#[path = "cli/audit.rs"]
mod audit;
#[path = "cli/bad_rules.rs"]
mod bad_rules;
#[path = "cli/budgets.rs"]
mod budgets;
#[path = "cli/check.rs"]
mod check;
#[path = "postgres/cluster.rs"]
mod cluster;
#[path = "cli/collector.rs"]
mod collector;
#[path = "cli/completions.rs"]
mod completions;
#[path = "cli/content.rs"]
mod content;
#[path = "cli/conversation.rs"]
mod conversation;
#[path = "cli/desk.rs"]
mod desk;
#[path = "cli/doctor.rs"]
mod doctor;
#[path = "stories/rpc.rs"]
mod endpoint;
#[path = "cli/explain.rs"]
mod explain;
#[path = "crash/farewell.rs"]
mod farewell;
#[path = "cli/fidelity.rs"]
mod fidelity;
#[path = "cli/first_steps.rs"]
mod first_steps;
#[path = "cli/install.rs"]
mod install;
#[path = "cli/keys.rs"]
mod keys;
#[path = "cli/large.rs"]
mod large;
#[path = "cli/ledger.rs"]
mod ledger;
#[path = "cli/mandates.rs"]
mod mandates;
#[path = "cli/metrics.rs"]
mod metrics;
#[path = "cli/network.rs"]
mod network;
#[path = "cli/offline.rs"]
mod offline;
#[path = "cli/page.rs"]
mod page;
#[path = "cli/policy_replay.rs"]
mod policy_replay;
#[path = "cli/policy_test.rs"]
mod policy_test;
#[path = "cli/resume.rs"]
mod resume;
#[path = "cli/secrets.rs"]
mod secrets;
#[path = "cli/seller_words.rs"]
mod seller_words;
#[path = "cli/shared_ledger.rs"]
mod shared_ledger;
#[path = "cli/shares.rs"]
mod shares;
#[path = "cli/spend.rs"]
mod spend;
#[path = "cli/stall.rs"]
mod stall;
#[path = "cli/terminal.rs"]
mod terminal;
#[path = "stories/tls.rs"]
mod tls;
#[path = "cli/watch.rs"]
mod watch;
#[path = "cli/webhook.rs"]
mod webhook;
#[path = "cli/wire.rs"]
mod wire;
