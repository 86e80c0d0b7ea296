//! Tokens: T-1 to T-10, and the one-time tokens that are built on them: OT-1 to OT-4.

mod ambiguous;
mod calls;
mod cancel;
mod concurrent;
mod crash;
mod edge;
mod histories;
mod model;
mod network;
mod one_time;
mod sequential;

use std::sync::Arc;

use storagebox_core::{Backend, Created, OpId, Result, TokenId, TokenStore};

use crate::case::cases;
use crate::race::answered;

cases! { Tokens:
    "T-1" Sequential model: random_calls_match_the_model;
    "T-1" Sequential sequential: every_client_sees_the_same;
    "T-1" Concurrent histories: histories_of_a_token_are_linearizable;
    "T-2" Sequential sequential: created_tokens_are_seen_by_every_client;
    "T-2" Concurrent concurrent: racing_creators_find_their_own_tokens;
    "T-2" Ambiguous ambiguous: a_create_whose_reply_is_lost_is_finished_by_a_retry;
    "T-2" Crash crash: what_was_acknowledged_survives_a_restart;
    "T-3" Ambiguous ambiguous: a_batch_without_a_reply_may_exist_now_or_later;
    "T-4" Sequential sequential: live_tokens_do_not_expire;
    "T-5" Sequential sequential: the_first_consumer_gets_now, an_unknown_token_is_already_gone;
    "T-5" Concurrent concurrent: one_of_all_consumers_gets_now, a_token_is_consumed_or_discarded_once;
    "T-5" Ambiguous ambiguous: random_faults_have_one_winner;
    "T-6" Sequential sequential: the_winners_retry_is_again, discarding_again_changes_nothing;
    "T-6" Concurrent concurrent: racing_calls_of_the_winner_are_now_once, racing_discards_end_each_token_once;
    "T-6" Ambiguous ambiguous:
        a_consume_whose_reply_is_lost_is_again, a_consume_that_lands_late_or_twice_takes_nothing_from_another,
        a_discard_whose_reply_is_lost_is_repeated;
    "T-6" Cancel cancel: dropping_any_call_leaves_the_tokens_whole;
    "T-6" Network network: a_cut_connection_ends_each_token_once;
    "T-7" Sequential sequential:
        a_gone_token_is_not_created_again, discarding_an_unknown_token_fences_it,
        gone_tokens_are_remembered_for_the_retention, a_token_discarded_anew_is_remembered_anew;
    "T-7" Sequential @Clock sequential: a_discard_is_remembered_to_the_end_of_the_retention;
    "T-7" Sequential @Answers crate::decisions: a_token_is_answered_by_its_table;
    "T-7" Concurrent concurrent: racing_creates_bring_nothing_back;
    "T-7" Ambiguous ambiguous: a_create_that_lands_after_the_end_creates_nothing;
    "T-8" Edge edge: batches_of_any_length, duplicates_in_one_call_count_once, a_batch_reports_each_token_for_itself;
    "T-9" Sequential sequential: creating_a_live_token_changes_nothing;
    "T-9" Concurrent concurrent: racing_creates_create_once;
    "T-10" Sequential sequential: absent_is_an_answer_that_leaves_no_trace, a_closed_client_never_says_absent;
    "T-10" Concurrent concurrent: a_live_token_is_never_absent;
    "OT-1" Sequential [Dedup] one_time::sequential: peeking_changes_nothing, a_guess_leaves_no_trace;
    "OT-1" Cancel [Dedup] one_time::cancel: a_begin_that_is_dropped_anywhere_blocks_nobody_for_long;
    "OT-2" Sequential [Dedup] one_time::sequential:
        one_call_begins_at_a_time, a_token_that_is_given_back_begins_again, an_overtaken_lease_commits_nothing,
        an_extended_lease_lasts, a_lapsed_lease_that_nobody_took_commits, a_used_token_is_not_created_again,
        a_discarded_token_is_gone;
    "OT-2" Edge [Dedup] one_time::edge: what_breaks_a_limit_is_refused, tokens_and_callers_that_look_alike_are_apart;
    "OT-2" Concurrent [Dedup] one_time::concurrent: racing_callers_have_one_result;
    "OT-2" Ambiguous [Dedup] one_time::ambiguous: random_faults_leave_one_result;
    "OT-3" Sequential [Dedup] one_time::sequential: the_caller_gets_the_result_again, the_first_commit_of_a_lease_stays;
    "OT-3" Sequential [Dedup] one_time::time: a_result_is_replayed_for_its_time;
    "OT-3" Sequential [Dedup] @Answers @Clock one_time::time: a_token_that_is_created_again_has_a_result_of_its_own;
    "OT-3" Concurrent [Dedup] one_time::concurrent: racing_calls_of_one_caller_work_once;
    "OT-3" Ambiguous [Dedup] one_time::ambiguous: a_commit_that_stops_anywhere_is_finished_by_the_next_call;
    "OT-4" Sequential [Dedup] one_time::time: nothing_is_left_of_a_used_token;
    "OT-4" Cancel [Dedup] one_time::cancel: a_commit_that_is_dropped_anywhere_is_finished;
}

const NEW: Created = Created { created: 1, already_live: 0, gone: 0 };
const LIVE: Created = Created { created: 0, already_live: 1, gone: 0 };
const GONE: Created = Created { created: 0, already_live: 0, gone: 1 };

fn token(text: impl Into<Arc<str>>) -> Result<TokenId> {
    TokenId::new(text)
}

fn op(text: impl Into<Arc<str>>) -> Result<OpId> {
    OpId::new(text)
}

/// Returns tokens named `batch/0` and so on.
fn batch(name: &str, count: usize) -> Result<Vec<TokenId>> {
    (0..count).map(|index| token(format!("{name}/{index}"))).collect()
}

fn tokens_of(store: &Arc<dyn Backend>) -> Result<Arc<dyn TokenStore>> {
    store.token_store(&"tokens".parse()?)
}

async fn create(tokens: &(impl TokenStore + ?Sized), token: &TokenId) -> Result<Created> {
    tokens.create_tokens(std::slice::from_ref(token)).await
}
