//! The cases of the counter strategies that not every backend has.

use super::{
    ambiguous, article, cancel, concurrent, crash, edge, fences, histories, ledger, model, network, others, reasons,
    refusals, retries, sequential, window,
};
use crate::case::cases;

cases! { Strategies:
    "C-1" Sequential retries:
        retries_are_applied_once [History, Token, Ledger, Set],
        operations_are_scoped_by_key [Optimistic, History, Token, Ledger, Set],
        remembers_a_delta_of_0 [History, Token, Ledger, Set],
        is_remembered_for_ever [
            Ledger as an_entry_of_a_ledger_is_remembered_for_ever, Set as a_place_in_a_set_is_remembered_for_ever
        ];
    "C-1" Sequential others: other_strategies_promise_what_they_were_asked_for;
    "C-1" Sequential model: matches_the_model [Optimistic, History, Ledger, Set];
    "C-1" Sequential window:
        full_is_full_and_forgets_nothing [Set as a_full_set_is_full_and_forgets_nothing],
        every_key_has_room_of_its_own [Set as every_key_has_a_set_of_its_own];
    "C-1" Sequential ledger::compaction: retries_after_a_compaction_are_exact_for_what_is_left;
    "C-1" Sequential ledger: a_ledger_and_its_counter_are_one_namespace;
    "C-1" Concurrent concurrent: races_of_one_operation_apply_it_once [Optimistic, History, Token, Ledger, Set];
    "C-1" Concurrent window: racing_callers_fill_it_exactly [Set as racing_callers_fill_a_set_exactly];
    "C-1" Ambiguous ambiguous:
        lost_replies_are_found_again [Optimistic, History, Token, Ledger, Set],
        requests_that_land_again_change_nothing [History, Token, Ledger, Set],
        changes_in_doubt_are_repeated_by_nobody [Optimistic, History],
        random_faults_lose_and_double_nothing [Ledger, Set], random_faults_count_once_without_fences [History, Token];
    "C-1" Cancel cancel: calls_can_be_dropped_anywhere [Optimistic, History, Token, Ledger, Set];
    "C-1" Network network:
        a_cut_connection_counts_once [Optimistic, History], a_cut_change_is_not_repeated_in_doubt [Optimistic, History],
        a_cut_connection_counts_once [Token, Ledger, Set];
    "C-1" Crash crash: what_others_acknowledged_survives_a_restart;
    "C-2" Sequential sequential:
        bounds_are_inclusive [Optimistic, History, Token, Set],
        bounds_are_those_of_each_change [Optimistic, History, Token, Set];
    "C-2" Sequential ledger: bounds_of_a_ledger_are_unsupported;
    "C-2" Edge edge: bounds_beyond_2_53_are_exact [Optimistic, History, Token, Set];
    "C-2" Concurrent concurrent:
        callers_never_cross_a_bound [Optimistic, History, Token, Set],
        traffic_stays_between_its_bounds [Optimistic, History, Token, Set];
    "C-3" Sequential retries:
        retries_tell_the_first_value [History, Token, Ledger, Set],
        retries_are_judged_before_anything_else [History, Token, Set];
    "C-4" Edge edge:
        overflow_changes_nothing [Optimistic, History, Token, Set],
        overflow_is_judged_before_the_bounds [Optimistic, History, Token, Set];
    "C-4" Edge window: other_rejections_come_before_full [Set as overflow_and_bounds_are_judged_before_a_full_set];
    "C-4" Edge ledger: a_sum_beyond_64_bits_is_told;
    "C-5" Sequential retries: another_delta_is_a_mismatch [Optimistic, History, Token, Ledger, Set];
    "C-5" Edge edge: deltas_beyond_2_53_are_told_apart [Optimistic, History, Token, Ledger, Set];
    "C-6" Sequential sequential: reads_see_what_was_acknowledged [Optimistic, History, Token, Ledger, Set];
    "C-6" Sequential ledger: cached_reads_are_as_old_as_they_say;
    "C-6" Concurrent concurrent: callers_see_their_own_changes [Optimistic, History, Token, Ledger, Set];
    "C-6" Concurrent histories: histories_are_linearizable [Optimistic, History, Token, Ledger, Set];
    "C-7" Sequential sequential: value_is_the_sum [Optimistic, History, Token, Ledger, Set];
    "C-7" Sequential ledger: the_log_shows_each_change_once;
    "C-7" Sequential ledger::compaction: compaction_keeps_the_value_and_one_sum, compaction_leaves_what_is_younger;
    "C-7" Edge ledger: a_page_of_nothing_and_foreign_cursors_are_refused;
    "C-7" Edge edge: sums_beyond_2_53_are_exact [Optimistic, History, Token, Ledger, Set];
    "C-7" Concurrent concurrent: races_add_up [Optimistic, History, Token, Ledger, Set];
    "C-7" Concurrent ledger::compaction: compaction_is_never_seen;
    "C-7" Concurrent @Answers ledger::compaction: writers_and_compactions_lose_nothing;
    "C-7" Ambiguous @Answers ledger::compaction: lost_compactions_are_repeated;
    "C-7" Cancel @Answers ledger::compaction: a_compaction_can_be_dropped_anywhere;
    "C-8" Sequential sequential: rejections_are_not_remembered [Optimistic, History, Token, Set];
    "C-8" Sequential fences:
        cancel_is_unsupported [Optimistic, History, Token], cancel_fences_an_operation [Ledger, Set],
        cancel_of_an_applied_operation_says_so [Ledger, Set], remembers_fences [Ledger, Set];
    "C-8" Sequential window: full_says_so_to_a_cancel [Set as a_full_set_says_so_to_a_cancel];
    "C-8" Concurrent fences: races_of_apply_and_cancel_have_one_end [Ledger, Set];
    "C-8" Ambiguous fences:
        late_attempts_of_a_cancelled_operation_change_nothing [Ledger, Set], lost_cancels_are_repeated [Ledger, Set];
    "ER-5" Ambiguous refusals:
        a_sold_out_stock_stays_sold_out_for_a_lost_sale [Set],
        a_lost_sale_is_void_after_its_operation_was_applied [Set], a_lost_overflow_is_not_applied_later [Set],
        a_cancel_ends_an_operation_that_has_void_calls [Set],
        more_void_calls_than_an_operation_keeps_are_a_doubt [Set];
    "ER-5" Ambiguous @Answers refusals: a_refusal_that_voids_nothing_is_a_doubt [Optimistic, History, Token];
    "ER-5" Concurrent refusals: an_attempt_in_progress_counts_before_the_refusal_or_never [Set];
    "C-9" Sequential ledger::reasons:
        a_log_shows_why_each_change_was_made, a_retry_for_another_reason_is_the_same_operation,
        a_merged_change_leaves_its_amount_and_no_reason;
    "C-9" Sequential reasons: reasons_are_unsupported [Optimistic, History, Token, Set];
    "C-1" Sequential article:
        approach_2_an_unchanged_tag_means_it_did_not_happen, approach_2_ones_own_tag_means_it_happened,
        approach_2_a_third_writer_leaves_it_unknown_or_counted_again, approach_3_within_its_history_a_retry_is_exact,
        approach_3_beyond_its_history_it_is_unknown_or_counted_again, approach_3_the_oldest_writer_makes_room,
        approach_4_repeats_of_a_token_apply_once;
    "C-1" Sequential article::lasting:
        approach_6_a_retry_writes_the_same_entry, approach_6_a_retry_at_another_time_is_the_same_entry,
        approach_7_a_full_set_says_so, approach_7_a_full_set_stays_full,
        approach_7_a_token_in_the_set_is_not_applied_again;
    "C-2" Sequential article: approach_2_a_threshold_stops_the_process, approach_4_a_threshold_goes_with_the_token;
    "C-2" Sequential article::lasting: approach_6_bounds_are_refused, approach_7_bounds_beside_the_set;
    "C-6" Sequential article::lasting:
        approach_6_a_crossing_can_be_observed, approach_6_a_cached_value_is_no_older_than_asked;
    "C-7" Sequential article::lasting:
        approach_6_entries_merge_without_changing_the_value, approach_6_the_log_is_in_order;
    "C-7" Concurrent @Answers article: approach_2_contention_ends;
    "C-7" Concurrent article::lasting: approach_6_changes_of_one_moment_are_not_confused;
}
