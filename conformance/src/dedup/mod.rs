//! Deduplication records, leases and runs: D-1 to D-8.

mod ambiguous;
mod calls;
mod cancel;
mod concurrent;
mod crash;
mod edge;
mod model;
mod network;
mod run;
mod sequential;

use std::sync::Arc;
use std::time::Duration;

use storagebox_core::{
    Backend, Begun, DedupId, DedupRepo, Entry, Lease, LeaseRepo, OpId, Payload, Recorded, Retention, Version,
};

use crate::case::cases;
use crate::failure::{Failure, Verdict, ensure_eq, ensure_matches};
use crate::link::Link;
use crate::race::answered;
use crate::world::World;

cases! { Dedup:
    "D-1" Sequential sequential::records:
        the_first_record_wins, a_replaced_version_has_one_winner, a_replace_is_known_by_its_op_and_version,
        another_client_sees_the_same_records;
    "D-1" Edge edge: ids_that_look_alike_are_apart;
    "D-1" Concurrent concurrent::records:
        racing_records_have_one_winner, racing_replaces_have_one_winner, racing_increments_lose_nothing;
    "D-1" Concurrent concurrent::linearizable: racing_calls_are_linearizable;
    "D-1" Ambiguous ambiguous: a_replace_of_any_fate_happens_once;
    "D-2" Sequential sequential::records: others_see_the_winners_value;
    "D-2" Sequential model: random_calls_match_the_model;
    "D-2" Edge edge: values_come_back_byte_for_byte;
    "D-2" Ambiguous ambiguous: random_faults_leave_every_answer_true;
    "D-2" Crash crash: what_was_acknowledged_survives_a_restart;
    "D-3" Sequential sequential::records: the_winners_retry_is_again, an_op_is_scoped_by_its_id;
    "D-3" Sequential sequential::leases: a_completion_is_known_after_its_result_was_replaced;
    "D-3" Edge edge: ops_that_look_alike_are_apart;
    "D-3" Concurrent concurrent::records: racing_retries_of_one_op_are_again;
    "D-3" Ambiguous ambiguous: a_record_of_any_fate_happens_once;
    "D-3" Cancel cancel: dropping_any_call_on_a_record_is_harmless;
    "D-3" Network network: a_cut_connection_is_harmless_to_a_record;
    "D-4" Sequential sequential::retention:
        an_expired_record_is_absent, an_expired_record_is_not_listed, a_record_lives_to_its_end, forever_is_for_ever,
        later_calls_do_not_change_the_retention, a_result_expires_after_its_completion,
        upkeep_deletes_nothing_that_lives, a_listing_shows_each_record_once;
    "D-4" Edge edge: retentions_have_limits, a_listing_refuses_what_it_cannot_read;
    "D-4" Concurrent concurrent::records: an_expired_record_has_one_successor;
    "D-5" Sequential sequential::leases:
        one_lease_at_a_time, beginning_again_does_not_extend, a_lapsed_lease_is_begun_by_another,
        an_overtaken_lease_is_fenced, a_lease_overtaken_by_a_record_is_fenced,
        the_same_op_after_its_lapse_has_a_new_lease, a_lease_that_lapsed_unnoticed_still_works,
        extend_lasts_and_never_shortens, a_completed_lease_is_over, fences_only_grow;
    "D-4" Sequential sequential::ends:
        a_record_ends_at_its_time_and_not_before, a_result_ends_at_its_time_and_not_before,
        a_result_of_a_lapsed_lease_is_kept_from_its_completion;
    "D-4" Sequential sequential::pages:
        pages_show_each_record_that_lives_once, pages_of_many_records_show_each_once;
    "D-5" Sequential sequential::ends:
        a_lease_ends_at_its_time_and_not_before, an_extended_lease_counts_from_now;
    "D-5" Sequential @Clock sequential::ends: a_clock_that_is_set_back_gives_no_lease_twice;
    "D-5" Concurrent @Clock sequential::clock:
        a_lease_that_is_extended_while_a_begin_reads_the_clock_is_in_flight,
        a_call_that_was_held_after_it_read_the_clock_ends_no_other_lease;
    "D-5" Edge edge: leases_have_limits;
    "D-5" Concurrent concurrent::leases:
        racing_begins_have_one_lease, racing_begins_of_one_op_share_one_lease, racing_leases_exclude_each_other,
        a_late_complete_and_a_new_begin_agree, a_lapsed_lease_has_one_successor;
    "D-5" Ambiguous ambiguous:
        a_lease_call_of_any_fate_happens_once, what_lands_after_the_lease_changed_hands_changes_nothing;
    "D-5" Cancel cancel: dropping_any_call_on_a_lease_is_harmless;
    "D-5" Network network: a_cut_connection_is_harmless_to_a_lease;
    "D-6" Sequential sequential::fingerprints:
        another_fingerprint_is_mismatch, the_same_or_none_is_no_mismatch, a_mismatch_changes_nothing,
        a_fingerprint_ends_with_its_record;
    "D-6" Sequential sequential::lapses:
        a_lapsed_lease_keeps_its_fingerprint, a_successor_without_a_fingerprint_inherits,
        a_lapsed_lease_without_a_fingerprint_takes_any, an_abort_leaves_the_fingerprint_of_an_earlier_lapse,
        an_abort_of_the_lapsed_lease_itself_frees_the_id, a_record_settles_a_lapsed_lease,
        a_lapsed_fingerprint_lasts_as_long_as_operations;
    "D-6" Sequential @Answers @Clock sequential::lapses: a_lapsed_fingerprint_is_forgotten_with_operations;
    "D-6" Edge edge: fingerprints_that_look_alike_are_apart;
    "D-6" Concurrent concurrent::leases: racing_fingerprints_are_told_apart;
    "D-6" Sequential run::sequential: another_fingerprint_does_not_run, a_killed_run_is_resumed_by_its_own_request;
    "D-7" Sequential @Answers crate::decisions: an_id_is_answered_by_its_table;
    "D-7" Sequential sequential::reset:
        an_aborted_lease_leaves_the_id_free, an_aborted_op_is_fenced, aborting_what_has_ended_changes_nothing,
        a_forgotten_id_is_used_anew, forgetting_another_version_removes_nothing,
        late_copies_of_what_was_forgotten_are_fenced, an_expired_op_is_fenced,
        an_expired_op_is_fenced_after_upkeep, versions_never_repeat, fences_are_remembered_for_the_retention,
        an_operation_that_ended_anew_is_fenced_anew;
    "D-7" Sequential @Clock sequential::ends: an_end_is_remembered_to_the_end_of_the_retention;
    "D-7" Sequential run::sequential: a_failure_is_not_remembered;
    "D-7" Sequential run::ends: a_name_whose_work_failed_is_over, work_that_panics_gives_its_lease_back;
    "D-7" Concurrent concurrent::records: racing_forgets_have_one_winner, racing_resets_repeat_no_version;
    "D-7" Ambiguous ambiguous: a_reset_of_any_fate_happens_once, what_lands_after_the_end_changes_nothing;
    "D-8" Sequential run::sequential:
        the_first_result_is_replayed, a_record_made_otherwise_is_replayed, anothers_lease_is_in_flight,
        a_record_during_a_lease_is_in_flight, waiting_ends_with_the_deadline, a_waiter_takes_over_a_lapsed_lease,
        long_work_keeps_its_lease, fenced_work_is_dropped, fenced_work_records_nothing, bad_options_are_refused;
    "D-8" Sequential run::ends:
        a_result_that_is_too_long_is_not_made_again, the_lease_lasts_until_the_result_is_recorded;
    "D-8" Concurrent run::concurrent:
        racing_runs_work_once, the_same_request_twice_works_once, racing_runs_wait_for_the_first,
        racing_runs_try_on_after_failures;
    "D-8" Ambiguous run::ambiguous: lost_messages_do_not_repeat_the_work, random_faults_leave_one_result;
    "D-8" Cancel run::cancel:
        a_dropped_run_leaves_a_lease_that_lapses, dropping_a_run_anywhere_records_one_result,
        a_run_to_its_end_outlives_its_caller;
}

/// A time that is longer than any case takes, even on a real clock.
const LONG: Duration = Duration::from_secs(3_600);

#[derive(Clone)]
struct Repos {
    records: Arc<dyn DedupRepo>,
    leases: Arc<dyn LeaseRepo>,
}

impl Repos {
    fn of(store: &Arc<dyn Backend>) -> Result<Self, Failure> {
        Ok(Self { records: store.dedup_repo(&"records".parse()?)?, leases: store.lease_repo(&"records".parse()?)? })
    }

    /// Returns the repositories of the world's client and of another client.
    async fn pair(world: &World) -> Result<[Self; 2], Failure> {
        Ok([Self::of(world.store())?, Self::of(&world.client().await?)?])
    }

    fn behind(&self, link: &Arc<Link>) -> Self {
        Self { records: link.before(&self.records), leases: link.before(&self.leases) }
    }

    async fn record_new(&self, id: &DedupId, value: &str, op: &OpId, retention: Retention) -> Result<Version, Failure> {
        let recorded = self.records.record(id, &text(value)?, op, retention).await?;
        Ok(ensure_matches!(recorded, Recorded::New(version) => version, "{op} records the vacant id {id}"))
    }

    async fn begin_new(&self, id: &DedupId, op: &OpId, duration: Duration) -> Result<Lease, Failure> {
        let begun = self.leases.begin(id, op, duration, None).await?;
        let lease = ensure_matches!(begun, Begun::Started(lease) => lease, "{op} begins the vacant id {id}");
        ensure_eq!((&lease.id, &lease.op), (id, op), "whose lease was started");
        Ok(lease)
    }

    async fn entry(&self, id: &DedupId) -> Result<Entry, Failure> {
        let entry = answered(|| self.records.get(id)).await?;
        entry.ok_or_else(|| Failure::new(format!("nothing is recorded for {id}")))
    }

    async fn ensure_value(&self, id: &DedupId, expected: Option<&str>) -> Verdict {
        let found = answered(|| self.records.get(id)).await?;
        let found = found.as_ref().map(|entry| entry.value.as_bytes());
        ensure_eq!(found.map(String::from_utf8_lossy), expected.map(Into::into), "the value of {id}");
        Ok(())
    }
}

fn id(text: &str) -> Result<DedupId, Failure> {
    Ok(DedupId::new(text)?)
}

fn op(text: &str) -> Result<OpId, Failure> {
    Ok(OpId::new(text)?)
}

fn text(text: &str) -> Result<Payload, Failure> {
    Ok(Payload::try_from(text)?)
}
