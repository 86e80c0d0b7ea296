//! Ordered values: O-1 to O-6.

mod ambiguous;
mod article;
mod calls;
mod cancel;
mod clock;
mod concurrent;
mod crash;
mod edge;
mod model;
mod network;
mod order;
mod pages;
mod purge;
mod reset;
mod sequential;

use std::fmt;

use storagebox_core::{OrderedOptions, OrderedStore, Stamp, WriterId, Written};

use crate::case::cases;
use crate::failure::{Failure, Verdict, ensure, ensure_matches};
use crate::pages::after;
use crate::race::answered;

cases! { Ordered:
    "O-1" Sequential article:
        the_articles_tables_come_out_row_by_row, a_hedged_write_does_not_undo_what_came_between,
        a_retry_counts_from_its_first_attempt;
    "O-1" Sequential sequential:
        an_older_put_changes_nothing, ones_own_retry_is_a_duplicate, the_same_stamp_with_other_content_is_a_mismatch,
        each_key_has_its_own_order;
    "O-1" Sequential model: random_calls_match_the_model;
    "O-1" Concurrent concurrent:
        racing_writes_leave_the_newest, racing_copies_of_one_write_are_applied_once;
    "O-1" Concurrent @Answers concurrent: racing_writes_of_one_key_are_linearizable;
    "O-1" Ambiguous ambiguous:
        a_lost_reply_is_found_again, a_lost_request_is_made_again, what_lands_late_or_twice_changes_nothing,
        random_faults_leave_the_newest;
    "O-1" Cancel cancel: dropping_any_write_leaves_one_winner;
    "O-1" Network network: a_cut_connection_leaves_one_winner;
    "O-1" Crash crash: what_was_acknowledged_survives_a_restart;
    "O-2" Edge order:
        every_pair_of_stamps_has_one_winner, numbers_close_to_each_other_are_told_apart,
        writers_are_compared_byte_by_byte;
    "O-2" Sequential order: a_delete_is_over_a_put_of_its_stamp, any_order_of_arrival_has_one_winner;
    "O-2" Sequential @Answers crate::decisions: a_write_is_answered_by_its_table;
    "O-2" Concurrent concurrent: racing_writes_of_one_instant_converge;
    "O-3" Sequential sequential:
        a_deleted_key_is_not_shown, an_older_put_does_not_bring_a_key_back, an_older_delete_deletes_nothing,
        deleting_what_never_was_fences_it, a_newer_put_is_over_a_tombstone, a_listing_shows_each_live_value_once;
    "O-3" Edge pages: pages_of_a_prefix_show_each_live_key_once, pages_of_many_values_show_each_once;
    "O-3" Edge edge:
        a_prefix_is_a_prefix_and_no_pattern, a_listing_refuses_what_it_cannot_go_on_from,
        a_prefix_may_be_the_longest_key;
    "O-3" Sequential clock:
        a_stamp_before_the_horizon_is_too_old, what_is_too_old_names_the_horizon,
        a_newer_stamp_before_the_horizon_is_too_old, what_stands_there_decides_before_the_horizon;
    "O-3" Edge clock: the_earliest_and_latest_times_are_judged_right;
    "O-3" Sequential purge:
        a_tombstone_stays_for_its_age, a_tombstone_goes_after_its_age, a_callers_longer_age_is_kept,
        a_tombstone_ahead_of_the_clock_stays;
    "O-3" Edge purge: nothing_comes_back_at_the_edge_of_the_horizon;
    "O-3" Sequential purge: values_are_never_purged, a_purge_is_bounded, upkeep_purges_by_the_same_rules;
    "O-3" Concurrent concurrent: a_deleted_key_never_shows_an_older_value, purging_beside_writers_resurrects_nothing;
    "O-3" Cancel cancel: dropping_a_purge_resurrects_nothing;
    "O-4" Sequential clock:
        a_stamp_too_far_ahead_is_refused, a_refused_stamp_leaves_nothing, a_stamp_within_the_skew_is_taken;
    "O-4" Sequential clock: the_guard_and_the_horizon_have_one_time;
    "O-4" Sequential clock: a_stamp_in_a_smaller_unit_is_refused_by_default;
    "O-4" Edge clock: without_a_skew_any_stamp_ahead_is_taken;
    "O-5" Edge order: sequence_numbers_may_be_anything;
    "O-5" Sequential purge:
        a_sequences_tombstones_go_by_an_explicit_call_alone, an_explicit_purge_forgets_the_tombstone;
    "O-5" Sequential clock: time_means_nothing_to_a_sequence;
    "O-6" Sequential reset:
        a_locked_key_is_freed, another_stamp_is_not_reset, a_tombstone_is_reset, what_is_reset_leaves_nothing;
    "O-6" Edge reset: stamps_close_to_each_other_are_told_apart;
    "O-6" Concurrent reset: racing_resets_undo_no_newer_write;
    "O-6" Ambiguous reset: a_lost_reset_is_made_again;
}

fn stamp(at: i64, writer: &str) -> Result<Stamp, Failure> {
    Ok(Stamp::new(at, WriterId::new(writer)?))
}

/// Returns what a read of the key shows: the value as text, and the time of its stamp.
async fn shown(store: &dyn OrderedStore, key: &str) -> Result<Option<(String, i64)>, Failure> {
    let key = storagebox_core::Key::new(key)?;
    let found = answered(|| store.get(&key)).await?;
    Ok(found.map(|found| {
        let text = String::from_utf8_lossy(found.value.as_bytes()).into_owned();
        (text, found.stamp.at)
    }))
}

/// Returns the keys that a listing shows, read page by page and sorted.
async fn listed(store: &dyn OrderedStore, limit: usize) -> Result<Vec<String>, Failure> {
    let (mut keys, mut cursor) = (Vec::new(), None);
    loop {
        let page = store.list(None, cursor.as_ref(), limit).await?;
        ensure!(page.entries.len() <= limit, "{} entries for a limit of {limit}", page.entries.len());
        keys.extend(page.entries.into_iter().map(|entry| entry.key.as_str().to_owned()));
        cursor = after(cursor.as_ref(), page.next)?;
        if cursor.is_none() {
            keys.sort();
            return Ok(keys);
        }
    }
}

/// Puts a value as the writer `w`, and checks that the put is applied.
async fn put_new(store: &dyn OrderedStore, key: &str, value: &str, at: i64) -> Result<(), Failure> {
    let (name, value, stamp) = (key.parse()?, value.try_into()?, stamp(at, "w")?);
    let written = answered(|| store.put(&name, &value, &stamp)).await?;
    ensure_matches!(written, Written::Applied, "putting {key} at {at}");
    Ok(())
}

/// Deletes a key as the writer `w`, and checks that the delete is applied.
async fn delete_new(store: &dyn OrderedStore, key: &str, at: i64) -> Result<(), Failure> {
    let (name, stamp) = (key.parse()?, stamp(at, "w")?);
    let written = answered(|| store.delete(&name, &stamp)).await?;
    ensure_matches!(written, Written::Applied, "deleting {key} at {at}");
    Ok(())
}

/// Checks that a write was refused because of the newer write at the stamp `by`.
#[track_caller]
fn ensure_stale(written: &Written, by: i64, what: impl fmt::Display) -> Verdict {
    let is_stale = matches!(written, Written::Stale { current } if current.at == by);
    ensure!(is_stale, "{what} is not stale because of the write at {by}: {written:?}");
    Ok(())
}

const SEQUENCE: OrderedOptions = OrderedOptions::sequence();
