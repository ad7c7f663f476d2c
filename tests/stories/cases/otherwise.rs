//! What is decided otherwise than the corpus expects, on purpose: the list behind `docs/differences.md`, which has the
//! reasons. A row that can run still runs, and has to end as it is decided here.

use std::fs;
use std::path::Path;

use super::row::Expected;

/// One kind of difference.
pub(crate) struct Difference {
    /// The first cell of its line in `docs/differences.md`.
    pub(crate) kind: &'static str,
    /// The rows that are of this kind, as far as they are known.
    pub(crate) rows: &'static [Case],
    /// The tests that show what is done instead.
    pub(crate) tests: &'static [&'static str],
}

/// A row, and how it ends here.
pub(crate) struct Case {
    pub(crate) row: &'static str,
    ends: Ending,
}

enum Ending {
    /// It runs and ends so: what is done, why, how many signatures, the state of their rows.
    Runs(&'static str, Option<&'static str>, usize, Option<&'static str>),
    /// The tests of its kind are what runs.
    Tested,
}

use Ending::{Runs, Tested};

const fn case(row: &'static str, ends: Ending) -> Case {
    Case { row, ends }
}

/// Every difference.
pub(crate) const DIFFERENCES: &[Difference] = &[
    Difference {
        kind: "a redirect to the same host",
        rows: &[case("NW-053", Runs("refuse", Some("redirect_refused"), 0, None))],
        tests: &["a_redirect_is_an_answer_and_not_followed", "every_story_ends_as_it_is_told"],
    },
    Difference {
        kind: "a seller that documents another method",
        rows: &[case("CH-074", Runs("pay", None, 1, Some("settled")))],
        tests: &["every_story_ends_as_it_is_told"],
    },
    Difference {
        kind: "an answer without x402 terms",
        rows: &[
            case("CH-072", Runs("free", Some("free"), 0, None)),
            case("NW-065", Runs("free", Some("body_encoding"), 0, None)),
            case("NW-067", Runs("failed", Some("header_too_large"), 0, None)),
            case("NW-072", Runs("free", Some("not_x402_html"), 0, None)),
            case("PC-027", Runs("free", Some("not_x402"), 0, None)),
        ],
        tests: &["what_is_not_x402_is_named_and_what_resembles_it_is_refused", "every_story_ends_as_it_is_told"],
    },
    Difference {
        kind: "a settlement claim that fits",
        rows: &[
            case("LG-010", Runs("serve", None, 1, Some("settled"))),
            case("PC-011", Runs("serve", None, 1, Some("settled"))),
        ],
        tests: &[
            "a_claim_that_agrees_settles",
            "a_claim_that_names_no_real_transaction_settles_nothing_and_the_money_counts",
        ],
    },
    Difference {
        kind: "a crash between counting and signing",
        rows: &[case("LG-015", Tested)],
        tests: &[
            "no_step_can_be_killed_so_that_money_leaves_uncounted",
            "a_row_without_a_signature_is_never_signed_later",
        ],
    },
    Difference {
        kind: "books that do not balance",
        rows: &[case("OP-022", Tested)],
        tests: &[
            "every_forgery_with_the_guards_down_is_found",
            "books_that_do_not_balance_start_a_vault_that_pays_nothing_and_still_tells_why",
        ],
    },
    Difference {
        kind: "a ledger that was put back from a copy",
        rows: &[case("SG-011", Tested), case("LG-030", Tested)],
        tests: &[
            "a_ledger_from_a_backup_pays_nothing_until_a_person_accepts_it_and_its_sessions_are_closed",
            "a_copy_without_its_write_ahead_log_is_noticed",
            "a_ledger_that_went_on_from_a_backup_elsewhere_is_another_one",
        ],
    },
    Difference {
        kind: "books that are brought in from elsewhere",
        rows: &[case("SG-033", Tested)],
        tests: &["a_key_beside_another_ledger_does_not_start"],
    },
    Difference {
        kind: "a folder that others may write to, on Windows",
        rows: &[case("CF-028", Tested)],
        tests: &[
            "a_parent_that_others_can_write_is_refused_unless_sticky_and_roots",
            "a_drive_and_the_folder_of_users_may_be_above_us_and_an_open_folder_may_not",
        ],
    },
    Difference {
        kind: "rules behind a symbolic link",
        rows: &[case("CF-003", Runs("start_fail", Some("config_insecure"), 0, None))],
        tests: &["a_file_that_others_could_change_is_not_read"],
    },
    Difference {
        kind: "a body that is a stream",
        rows: &[case("PC-013", Tested), case("r52-turbo-ardrive", Tested)],
        tests: &["bad_arguments_are_answered_with_a_sentence_and_reach_nobody"],
    },
    Difference {
        kind: "a seller on a test network",
        rows: &[case("r54-nickeljoke", Tested)],
        tests: &["networks_are_known_and_all_real_or_all_test"],
    },
    Difference {
        kind: "a life above the ceiling of the rules",
        rows: &[],
        tests: &["timeouts_are_whole_positive_numbers_up_to_a_day"],
    },
    Difference {
        kind: "a wildcard in the list of hosts",
        rows: &[],
        tests: &["what_is_changed_for_a_row_is_all_that_can_be_wrong"],
    },
    Difference {
        kind: "the same page with another query after a lost answer",
        rows: &[case("MC-036", Tested)],
        tests: &[
            "three_failed_deliveries_in_a_row_quarantine_the_host_and_no_other",
            "nothing_in_flight_counts_and_what_ran_out_shuts_host_and_payee_whatever_the_purchase_id",
        ],
    },
];

/// The kind of difference that row `id` is, if it is one.
pub(crate) fn kind(id: &str) -> Option<&'static str> {
    DIFFERENCES.iter().find(|one| one.rows.iter().any(|case| case.row == id)).map(|one| one.kind)
}

/// How row `id` ends here where that is decided otherwise and the row can run.
pub(crate) fn ending(id: &str) -> Option<Expected> {
    let case = DIFFERENCES.iter().flat_map(|one| one.rows).find(|case| case.row == id)?;
    let Runs(act, reason, signed, ledger) = case.ends else { return None };
    Some(Expected { act: act.to_owned(), reason: reason.map(str::to_owned), signed, ledger: ledger.map(str::to_owned) })
}

#[test]
fn the_table_of_differences_is_this_list() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("docs/differences.md");
    let text = fs::read_to_string(path).unwrap();
    let rows = text.lines().filter(|line| line.starts_with("| ")).skip(1);
    let mut table = Vec::new();
    for row in rows {
        let cells: Vec<&str> = row.trim_matches('|').split('|').map(str::trim).collect();
        assert_eq!(cells.len(), 5, "{row}");
        assert!(cells.iter().all(|cell| !cell.is_empty()), "a cell says nothing: {row}");
        let tests: Vec<&str> = cells[4].split('`').skip(1).step_by(2).collect();
        table.push((cells[0], tests));
    }
    let list: Vec<_> = DIFFERENCES.iter().map(|one| (one.kind, one.tests.to_vec())).collect();
    assert_eq!(table, list);
}
