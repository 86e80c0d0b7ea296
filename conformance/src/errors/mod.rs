//! Errors and retries: ER-1 to ER-5.

mod certainty;
mod kept;
mod orders;
mod refusals;
mod retry;
mod shown;

use crate::case::cases;
pub(crate) use retry::Counting;

cases! { Errors:
    "ER-1" Sequential certainty:
        each_kind_has_its_certainty, a_step_after_an_unresolved_one_is_unknown,
        what_would_not_be_known_again_is_not_retryable;
    "ER-1" Edge [ItemBank, Dedup, Ordered] certainty: what_is_refused_surely_changed_nothing;
    "ER-1" Ambiguous [..] certainty: a_lost_call_of_any_trait_is_unknown;
    "ER-2" Sequential shown: an_error_says_what_failed_and_what_to_do_next, an_unresolved_error_asks_for_the_same_call;
    "ER-2" Edge [ItemBank, Dedup] shown:
        no_refusal_shows_an_item_or_a_payload, a_stored_record_that_cannot_be_read_is_named;
    "ER-2" Edge [ItemBank, Dedup, Ordered] shown: no_refused_cursor_is_shown;
    "ER-3" Sequential shown:
        the_source_stays_reachable, no_debug_shows_the_sources_own, the_source_survives_retries_and_markings;
    "ER-4" Sequential retry:
        what_cannot_succeed_is_not_tried_again, what_may_count_twice_is_not_tried_again, attempts_are_bounded,
        no_wait_is_longer_than_the_longest, callers_wait_differently, an_outcome_ends_the_attempts,
        the_least_certain_attempt_decides;
    "ER-4" Ambiguous [ItemBank] retry:
        a_lost_call_is_made_again_and_settled, an_exhausted_retry_leaves_the_call_to_be_made_again;
    "ER-5" Sequential retry: an_attempt_after_a_lost_one_says_so;
    "ER-5" Sequential [ItemBank] @Answers orders: every_order_of_two_calls_and_a_delivery_takes_as_it_is_told;
    "ER-5" Sequential [Counter] @Answers orders: every_order_of_two_calls_and_a_delivery_sells_as_it_is_told;
    "ER-5" Ambiguous [ItemBank] refusals:
        an_empty_bank_stays_empty_for_a_lost_take, a_lost_take_is_void_after_its_claim_took,
        an_unknown_claim_is_neither_confirmed_nor_extended_later, a_holder_is_not_retired_later,
        a_release_ends_a_claim_that_has_void_calls, more_void_calls_than_a_claim_keeps_are_a_doubt,
        void_calls_are_forgotten_in_time, random_faults_never_answer_what_may_still_change;
    "ER-5" Network [ItemBank] kept:
        a_kept_take_takes_nothing_after_its_refusal, a_kept_confirm_spends_nothing_after_its_refusal,
        a_kept_retire_forgets_nothing_after_its_refusal;
    "ER-5" Network [Counter] kept: a_kept_sale_sells_nothing_after_its_refusal;
    "ER-5" Concurrent [ItemBank] refusals: an_attempt_in_progress_takes_before_the_refusal_or_never;
    "ER-5" Ambiguous [Dedup] refusals:
        anothers_lease_is_an_answer_as_it_stands, a_mismatch_is_an_answer_as_it_stands;
    "ER-5" Ambiguous [ItemBank, Dedup, Tokens, Counter] refusals: what_is_final_is_answered_after_what_was_lost;
}
