//! Counters: C-1 to C-9, for each strategy.

mod ambiguous;
mod article;
mod calls;
mod cancel;
mod concurrent;
mod crash;
mod edge;
mod fences;
mod histories;
mod ledger;
mod model;
mod network;
mod others;
mod reasons;
mod refusals;
mod retries;
mod sequential;
mod sharded;
mod strategies;
mod subject;
mod window;

use crate::case::cases;
use crate::kind::Kind;
pub(crate) use strategies::CASES as STRATEGY_CASES;
use subject::Subject;

cases! { Counter:
    "C-1" Sequential retries:
        retries_are_applied_once [Marker, Window, Sharded], operations_are_scoped_by_key [Marker, Window, Sharded],
        remembers_anew_what_is_applied_anew [Marker, Window, Sharded],
        remembers_for_its_time [
            Marker as marker_remembers_for_its_retention, Window as window_remembers_for_its_lifetime,
            Sharded as sharded_remembers_for_its_retention
        ],
        remembers_a_delta_of_0 [Marker, Window, Sharded],
        is_remembered_for_ever [Marker as a_marker_for_ever_is_remembered_for_ever],
        strategies_promise_what_they_were_asked_for;
    "C-1" Sequential @Clock fences: remembers_to_the_end_of_its_time [Marker, Window, Sharded];
    "C-1" Sequential model: matches_the_model [Marker, Window, Sharded];
    "C-1" Sequential window:
        full_is_full_and_forgets_nothing [Window as a_full_window_is_full_and_forgets_nothing],
        a_window_frees_its_places_after_the_lifetime, a_window_has_room_after_upkeep,
        each_operation_has_a_lifetime_of_its_own, every_key_frees_its_own_places,
        every_key_has_room_of_its_own [Window as every_key_has_a_window_of_its_own];
    "C-1" Concurrent concurrent: races_of_one_operation_apply_it_once [Marker, Window, Sharded];
    "C-1" Concurrent window: racing_callers_fill_it_exactly [Window as racing_callers_fill_a_window_exactly];
    "C-1" Ambiguous ambiguous:
        lost_replies_are_found_again [Marker, Window, Sharded],
        requests_that_land_again_change_nothing [Marker, Window, Sharded],
        random_faults_lose_and_double_nothing [Marker, Window, Sharded];
    "C-1" Cancel cancel: calls_can_be_dropped_anywhere [Marker, Window, Sharded];
    "C-1" Network network:
        a_cut_connection_counts_once [Marker, Window, Sharded], a_cut_change_is_not_repeated_in_doubt [Atomic];
    "C-1" Network network: a_lost_change_is_not_repeated_once_it_is_forgotten [Marker, Window, Sharded];
    "C-1" Crash crash: what_was_acknowledged_survives_a_restart;
    "C-2" Sequential sequential:
        bounds_are_inclusive [Atomic, Marker, Window, Sharded],
        bounds_are_those_of_each_change [Atomic, Marker, Window];
    "C-2" Sequential sharded:
        bounds_are_fixed_for_the_namespace, bounds_without_0_are_refused,
        a_change_larger_than_any_shards_room_is_applied, the_last_room_is_found_wherever_it_is;
    "C-2" Edge edge: bounds_beyond_2_53_are_exact [Atomic, Marker, Window, Sharded];
    "C-2" Edge sharded: bounds_at_the_edges_are_exact_over_any_number_of_shards;
    "C-2" Concurrent concurrent:
        callers_never_cross_a_bound [Atomic, Marker, Window, Sharded],
        traffic_stays_between_its_bounds [Atomic, Marker, Window, Sharded];
    "C-1" Ambiguous ambiguous: changes_in_doubt_are_repeated_by_nobody [Atomic];
    "C-2" Ambiguous @Answers ambiguous: atomic_landings_count_each_up_to_the_bound;
    "C-2" Cancel @Answers cancel: atomic_calls_can_be_dropped_anywhere;
    "C-3" Edge retries: a_thousand_operations_are_remembered [Marker, Sharded];
    "C-3" Sequential retries:
        retries_tell_the_first_value [Marker, Window, Sharded],
        retries_are_judged_before_anything_else [Marker, Window, Sharded];
    "C-4" Edge edge:
        overflow_changes_nothing [Atomic, Marker, Window, Sharded],
        overflow_is_judged_before_the_bounds [Atomic, Marker, Window, Sharded];
    "C-4" Edge window: other_rejections_come_before_full [Window as overflow_and_bounds_are_judged_before_full];
    "C-5" Sequential retries: another_delta_is_a_mismatch [Marker, Window, Sharded];
    "C-5" Edge edge: deltas_beyond_2_53_are_told_apart [Marker, Window, Sharded];
    "C-6" Sequential sequential: reads_see_what_was_acknowledged [Atomic, Marker, Window, Sharded];
    "C-6" Concurrent concurrent: callers_see_their_own_changes [Atomic, Marker, Window, Sharded];
    "C-6" Concurrent histories: histories_are_linearizable [Atomic, Marker, Window, Sharded];
    "C-7" Sequential sequential: value_is_the_sum [Atomic, Marker, Window, Sharded];
    "C-7" Sequential model: matches_the_model [Atomic];
    "C-7" Sequential sharded: a_retry_never_lands_on_another_shard;
    "C-7" Edge edge: sums_beyond_2_53_are_exact [Atomic, Marker, Window, Sharded];
    "C-7" Concurrent concurrent: races_add_up [Atomic, Marker, Window, Sharded];
    "C-7" Crash @Answers crash: atomic_sums_survive_a_restart;
    "C-8" Sequential sequential: rejections_are_not_remembered [Atomic, Marker, Window, Sharded];
    "C-8" Sequential fences:
        cancel_fences_an_operation [Marker, Window, Sharded],
        cancel_of_an_applied_operation_says_so [Marker, Window, Sharded], remembers_fences [Marker, Window, Sharded],
        cancel_is_unsupported [Atomic];
    "C-8" Sequential window: full_says_so_to_a_cancel [Window as a_full_window_says_so_to_a_cancel];
    "C-8" Sequential @Answers crate::decisions: an_operation_is_answered_by_its_table;
    "C-8" Concurrent fences: races_of_apply_and_cancel_have_one_end [Marker, Window, Sharded];
    "C-8" Ambiguous fences:
        late_attempts_of_a_cancelled_operation_change_nothing [Marker, Window, Sharded],
        lost_cancels_are_repeated [Marker, Window, Sharded];
    "ER-5" Ambiguous refusals:
        a_sold_out_stock_stays_sold_out_for_a_lost_sale [Marker, Window, Sharded],
        a_lost_sale_is_void_after_its_operation_was_applied [Marker, Window, Sharded],
        a_lost_overflow_is_not_applied_later [Marker, Window, Sharded],
        a_cancel_ends_an_operation_that_has_void_calls [Marker, Window, Sharded],
        more_void_calls_than_an_operation_keeps_are_a_doubt [Marker, Window, Sharded],
        void_calls_are_forgotten_in_time [Marker, Window, Sharded],
        a_full_window_is_an_answer_after_a_lost_change;
    "ER-5" Ambiguous @Answers refusals: a_refusal_that_voids_nothing_is_a_doubt [Atomic];
    "ER-5" Concurrent refusals:
        an_attempt_in_progress_counts_before_the_refusal_or_never [Marker, Window, Sharded];
    "C-9" Sequential reasons: reasons_are_unsupported [Atomic, Marker, Window, Sharded];
    "C-1" Sequential @Answers article:
        approach_1_a_lost_reply_may_be_counted_twice, approach_1_without_a_retry_nothing_is_counted_twice;
    "C-1" Sequential article::lasting: approach_5_the_marker_is_exact_beyond_ten_minutes;
    "C-1" Sequential article::window:
        article_3_a_key_that_is_contained_is_not_applied, article_3_a_burst_is_full_instead_of_forgetting,
        article_3_keys_live_for_five_minutes, article_3_the_first_key_needs_nothing_before_it;
    "C-1" Sequential article::sharding: write_sharding_counts_a_retry_once;
    "C-1" Concurrent article::window: article_3_ten_concurrent_requests_all_add_up;
    "C-2" Sequential @Answers article: approach_1_a_threshold_is_never_passed;
    "C-2" Sequential article::sharding: write_sharding_splits_what_no_bin_holds;
    "C-2" Concurrent @Answers article: approach_1_simultaneous_calls_are_applied_one_by_one;
    "C-2" Concurrent article::sharding:
        write_sharding_sells_the_last_piece_of_every_bin, write_sharding_sells_a_delivery_to_the_last_piece;
    "C-2" Concurrent article::window: article_3_an_account_is_never_overdrawn;
    "C-3" Sequential article::lasting: approach_5_a_repeat_is_told_from_a_threshold;
    "C-7" Sequential article::sharding: write_sharding_adds_up_the_bins;
    "S-5" Sequential others: a_ledger_is_there_or_names_a_better_strategy, other_strategies_work_or_name_a_better_one;
}
