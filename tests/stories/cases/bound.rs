//! Rows that a test of this repository does exactly, by another way than these runners: processes, crashes, clocks,
//! disks, several at once. Must name tests that exist, or the row counts as wrong.

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;

use super::otherwise;

/// A row, and every test that together does what it tells.
const BOUND: &[(&str, &[&str])] = &[
    // The captures of real sellers, as two checks of their own.
    ("CH-077", &["no_address_of_a_real_seller_has_a_wrong_checksum"]),
    ("OP-027", &["every_capture_of_a_real_seller_ends_in_terms_or_in_a_named_reason"]),
    // The network.
    ("NW-059", &["proxy_variables_of_the_environment_are_ignored", "a_fetch_goes_straight_to_the_seller"]),
    (
        "NW-060",
        &[
            "each_leg_has_its_own_connection_and_the_body_keeps_its_cap",
            "both_legs_dial_the_pinned_address_and_no_neighbour",
        ],
    ),
    ("NW-068", &["endless_interim_answers_do_not_extend_the_header_deadline"]),
    // The signer.
    ("SG-008", &["settings_that_safety_rests_on_are_in_force"]),
    ("SG-015", &["the_self_test_passes_and_would_notice_a_wrong_answer"]),
    (
        "SG-017",
        &["tokens_that_cannot_be_paid_or_counted_are_refused", "a_builtin_token_may_be_repeated_but_not_changed"],
    ),
    (
        "SG-019",
        &[
            "every_bent_field_is_found",
            "the_high_s_twin_and_a_foreign_v_do_not_recover",
            "a_signature_has_one_text_and_no_debug",
            "only_a_signature_of_somebody_else_leaves_the_money_counted",
        ],
    ),
    (
        "SG-020",
        &[
            "a_vault_that_says_nothing_is_given_up_and_never_asked_again",
            "a_dropped_connection_leaves_the_money_counted_and_a_retry_gets_the_same_bytes",
        ],
    ),
    ("SG-021", &["a_socket_is_private_and_replaces_a_dead_one_only", "sockets_and_their_directory_are_private"]),
    ("SG-022", &["only_the_same_user_is_spoken_to", "both_ends_check_and_a_foreign_expectation_is_refused"]),
    (
        "SG-023",
        &[
            "a_planted_socket_of_another_user_is_refused",
            "a_socket_in_a_folder_that_others_can_write_to_is_not_used",
            "a_socket_in_an_open_directory_is_not_connected_to",
            "a_dead_vaults_sockets_are_replaced_and_a_planted_file_is_not",
        ],
    ),
    (
        "SG-028",
        &["what_is_approved_late_lives_from_when_it_is_made", "a_life_is_the_smaller_of_both_and_at_least_ten_seconds"],
    ),
    (
        "SG-030",
        &[
            "neither_process_starts_beside_a_wallet_key",
            "the_fault_names_the_variable_and_never_its_value",
            "its_memory_is_out_of_reach_while_it_runs",
        ],
    ),
    // The rules file and the key.
    (
        "CF-007",
        &[
            "links_pipes_directories_and_open_modes_are_refused_on_the_open_file",
            "a_whole_file_is_read_once_with_its_digest",
        ],
    ),
    ("CF-030", &["exactly_one_key_is_read_and_a_fault_never_repeats_it"]),
    // The ledger.
    (
        "LG-002",
        &[
            "two_clients_spend_one_budget_to_the_cent",
            "ten_agents_at_once_spend_one_budget_and_not_a_cent_more",
            "sixty_four_clients_race_for_one_budget_each_host_and_each_session",
        ],
    ),
    ("LG-003", &["fifty_threads_and_exactly_the_limit_wins"]),
    (
        "LG-007",
        &[
            "what_was_never_answered_and_ran_out_stays_unresolved_and_counted",
            "a_late_claim_settles_what_was_presumed_spent_and_counts_it_once",
        ],
    ),
    (
        "LG-019",
        &[
            "a_jump_forwards_frees_no_window_and_goes_on_by_the_boot_clock",
            "a_clock_that_leaps_forwards_shuts_the_ledger_and_frees_no_window",
        ],
    ),
    ("LG-020", &["what_was_settled_slides_out_of_the_window_to_the_second"]),
    ("LG-021", &["a_lock_of_somebody_else_refuses_the_ask_of_that_moment_and_nothing_else"]),
    (
        "LG-023",
        &[
            "a_full_disk_latches_until_a_person_looks_and_loses_nothing",
            "when_the_commit_fails_everyone_who_waits_for_it_hears_so",
        ],
    ),
    ("LG-024", &["every_file_is_for_the_owner_alone", "a_file_that_can_no_longer_be_written_latches_in_memory_alone"]),
    ("LG-027", &["damaged_pages_are_noticed", "what_is_not_a_ledger_is_not_opened", "opening_never_creates"]),
    ("LG-028", &["a_newer_schema_is_not_touched", "what_is_not_a_ledger_is_not_opened"]),
    (
        "LG-031",
        &[
            "every_yes_and_every_sum_is_what_a_list_says",
            "a_number_too_large_for_sqlite_is_refused_not_cut",
            "a_foreign_or_overflowing_session_refuses",
        ],
    ),
    (
        "LG-033",
        &["three_failed_deliveries_in_a_row_quarantine_the_host_and_no_other", "every_story_ends_as_it_is_told"],
    ),
    ("LG-036", &["ten_identical_calls_at_once_are_one_purchase", "the_same_purchase_from_two_clients_is_signed_once"]),
    (
        "LG-043",
        &[
            "two_queries_on_one_path_and_two_sessions_are_different_purchases",
            "a_caller_may_set_a_payment_header_once_and_no_other_header",
        ],
    ),
    ("LG-047", &["settled_never_regresses", "a_late_claim_settles_what_was_presumed_spent_and_counts_it_once"]),
    (
        "LG-048",
        &["a_handle_that_runs_out_gives_the_money_back_with_proof", "the_database_itself_refuses_another_story"],
    ),
    // The conversation with the client.
    ("MC-001", &["each_bad_line_is_answered_and_the_next_good_one_too", "a_variable_that_is_no_key_is_no_reason"]),
    ("MC-002", &["a_panic_is_an_answer_and_frees_its_place", "a_panic_is_a_fault_and_not_the_end"]),
    ("MC-003", &["an_idle_server_ends_at_once", "the_client_hangs_up_and_hears_nothing_more"]),
    ("MC-004", &["an_idle_server_ends_at_once"]),
    ("MC-005", &["the_end_of_input_waits_for_a_purchase_and_its_answer", "the_client_hangs_up_right_after_the_call"]),
    ("MC-007", &["blank_lines_a_byte_order_mark_and_carriage_returns_are_passed_over"]),
    (
        "MC-008",
        &[
            "each_bad_line_is_answered_and_the_next_good_one_too",
            "what_is_wrong_is_answered_with_the_id_where_there_is_one",
        ],
    ),
    (
        "MC-009",
        &[
            "without_handshake_and_without_meta_nothing_is_bought",
            "a_second_greeting_is_refused_and_changes_nothing",
            "an_unknown_revision_in_a_greeting_is_offered_a_known_one",
        ],
    ),
    ("MC-010", &["an_id_that_is_in_the_air_is_refused_and_the_first_answer_stays_whole"]),
    ("MC-011", &["a_call_is_cancelled_before_anything_is_signed"]),
    (
        "MC-012",
        &[
            "a_call_is_cancelled_while_the_seller_has_the_payment",
            "a_cancelled_purchase_goes_on_unanswered_and_keeps_its_id_until_it_is_done",
        ],
    ),
    ("MC-023", &["each_end_of_a_purchase_is_told_as_what_it_is", "every_schema_is_one_that_strict_clients_take"]),
    ("MC-025", &["before_init_every_command_says_to_run_it", "no_variable_moves_the_profile_or_answers_for_a_person"]),
    (
        "MC-026",
        &[
            "a_path_of_windows_is_kept_to_the_letter_and_wrapped_in_no_shell",
            "blank_lines_a_byte_order_mark_and_carriage_returns_are_passed_over",
            "a_path_with_a_space_or_a_quote_stays_one_shell_word",
        ],
    ),
    ("MC-033", &["a_vault_that_cannot_start_is_told_by_a_code_and_without_a_path"]),
    ("MC-035", &["an_odd_progress_token_counts_as_none"]),
    // A running business.
    (
        "OP-002",
        &[
            "a_full_disk_latches_until_a_person_looks_and_loses_nothing",
            "what_is_reported_while_shut_is_still_written_down",
        ],
    ),
    (
        "OP-004",
        &[
            "no_argument_body_or_seller_text_is_logged_at_any_level",
            "a_view_finds_every_value_of_a_name_in_order_and_shows_none",
            "a_signature_has_one_text_and_no_debug",
        ],
    ),
    (
        "OP-007",
        &["three_failed_deliveries_in_a_row_quarantine_the_host_and_no_other", "every_story_ends_as_it_is_told"],
    ),
    ("OP-008", &["every_story_ends_as_it_is_told"]),
    (
        "OP-011",
        &[
            "a_serve_without_descriptors_to_spare_loses_no_money_from_sight",
            "a_vault_without_descriptors_to_spare_loses_no_money_from_sight",
            "of_two_hundred_calls_at_once_as_many_run_as_there_are_places",
        ],
    ),
    (
        "OP-013",
        &["a_folder_whose_name_is_not_utf_8_or_very_long_works", "the_home_is_the_accounts_and_need_not_be_utf_8"],
    ),
    ("OP-014", &["time_passes_with_both_clocks", "what_was_never_answered_and_ran_out_stays_unresolved_and_counted"]),
    ("OP-025", &["a_price_that_creeps_goes_to_a_person_in_however_small_steps", "every_story_ends_as_it_is_told"]),
    (
        "OP-016",
        &[
            "what_is_known_decides_and_pending_payments_are_taken_off",
            "a_balance_that_has_to_be_known_is_asked_for_before_a_payment_is_counted",
            "every_story_ends_as_it_is_told",
        ],
    ),
    (
        "OP-018",
        &[
            "a_use_is_found_wherever_its_block_is_and_nowhere_before_it_is_final",
            "a_use_without_its_exact_transfer_proves_nothing",
            "endpoints_on_two_forks_prove_nothing",
        ],
    ),
    (
        "LG-040",
        &[
            "what_was_not_used_is_open_until_its_end_and_a_margin_have_passed_on_the_chain",
            "the_head_is_the_newest_block_that_enough_of_them_call_final",
            "no_proof_of_disuse_is_taken_that_was_read_before_the_end",
        ],
    ),
    (
        "LG-050",
        &[
            "what_was_presumed_spent_and_never_moved_is_back_in_budget_and_limits",
            "goods_that_were_never_cashed_are_told_again_and_nothing_is_lost",
            "what_a_chain_shows_unused_is_back_when_a_person_asks",
        ],
    ),
    (
        "OP-021",
        &[
            "what_is_registered_is_the_program_that_is_here_and_nothing_that_fetches_another",
            "the_documents_install_one_version_by_its_checksum_and_never_the_newest_of_a_name",
        ],
    ),
    ("OP-023", &["every_story_ends_as_it_is_told", "the_model_hears_one_word_about_offers_and_limits"]),
];

/// The tests that do what row `id` tells, if any do.
pub(crate) fn tests(id: &str) -> Option<&'static [&'static str]> {
    BOUND.iter().find(|(row, _)| *row == id).map(|(_, tests)| *tests)
}

/// The name of every function under a `#[test]` or its like in the sources.
fn tests_that_exist() -> BTreeSet<String> {
    let mut found = BTreeSet::new();
    for room in ["src", "policy", "vault", "tools", "tests"] {
        walk(&Path::new(env!("CARGO_MANIFEST_DIR")).join(room), &mut found);
    }
    found
}

fn walk(folder: &Path, found: &mut BTreeSet<String>) {
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() && !path.ends_with("node_modules") {
            walk(&path, found);
        } else if path.extension().is_some_and(|ending| ending == "rs") {
            names(&fs::read_to_string(&path).unwrap(), found);
        }
    }
}

/// A test's function stands at most two further attributes below its mark.
fn names(text: &str, found: &mut BTreeSet<String>) {
    let lines: Vec<&str> = text.lines().map(str::trim_start).collect();
    for (at, line) in lines.iter().enumerate() {
        if line.starts_with("#[test]") || line.starts_with("#[tokio::test") {
            let function = lines.iter().skip(at + 1).take(3).find_map(|line| {
                let rest = line.strip_prefix("async fn ").or_else(|| line.strip_prefix("fn "))?;
                rest.split(['(', '<']).next()
            });
            found.extend(function.map(str::to_owned));
        }
    }
}

#[test]
fn every_test_that_a_row_is_bound_to_exists() {
    let exist = tests_that_exist();
    assert!(exist.len() > 500, "only {} tests were found", exist.len());
    let of_differences = otherwise::DIFFERENCES.iter().map(|one| (one.kind, one.tests));
    let named = BOUND.iter().copied().chain(of_differences);
    let mut gone = Vec::new();
    for (what, tests) in named {
        assert!(!tests.is_empty(), "{what} has no test");
        gone.extend(tests.iter().filter(|test| !exist.contains(**test)).map(|test| format!("{what}: {test}")));
    }
    assert!(gone.is_empty(), "no such tests:\n{}", gone.join("\n"));
}

#[test]
fn no_row_is_bound_twice_or_both_bound_and_decided_otherwise() {
    let mut seen = BTreeSet::new();
    let bound = BOUND.iter().map(|(row, _)| *row);
    for row in bound.chain(otherwise::DIFFERENCES.iter().flat_map(|one| one.rows.iter().map(|case| case.row))) {
        assert!(seen.insert(row), "{row} is listed twice");
    }
}
