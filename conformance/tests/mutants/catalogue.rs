//! Every mutant, with the name of its mistake.

use storagebox_conformance::{Family, MISTAKES};

use crate::bank::BankMistake as B;
use crate::counter::CounterMistake as C;
use crate::dedup::DedupMistake as D;
use crate::entities::EntityMistake as E;
use crate::lease::LeaseMistake as L;
use crate::ledger::LedgerMistake as G;
use crate::ordered::OrderedMistake as O;
use crate::store::Mistake::{self, Bank, Counter, Dedup, Entity, Lease, Ledger, Ordered, Store, Token, Transaction};
use crate::store::StoreMistake as S;
use crate::tokens::TokenMistake as T;
use crate::transactions::TransactionMistake as X;

/// A store with one mistake.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Mutant {
    pub(crate) name: &'static str,
    pub(crate) mistake: Mistake,
    /// The clause that the mistake breaks, so that at least one case of the clause must fail.
    pub(crate) clause: &'static str,
    /// The family of cases that is expected to notice the mistake.
    pub(crate) family: Family,
    pub(crate) wrong: &'static str,
}

pub(crate) fn mutants() -> Vec<Mutant> {
    let made = MUTANTS.iter().filter_map(|(name, mistake)| {
        let known = MISTAKES.iter().find(|known| known.name == *name)?;
        Some(Mutant { name, mistake: *mistake, clause: known.clause, family: known.family, wrong: known.wrong })
    });
    made.collect()
}

/// Returns whether the suite's known mistakes and the mutants are the same, in the same order.
pub(crate) fn is_complete() -> bool {
    let made: Vec<_> = MUTANTS.iter().map(|(name, _)| *name).collect();
    made == MISTAKES.iter().map(|known| known.name).collect::<Vec<_>>()
}

const MUTANTS: &[(&str, Mistake)] = &[
    // Banks.
    ("bank::reads_then_deletes", Bank(B::ReadsThenDeletes)),
    ("bank::loses_on_drop", Bank(B::LosesOnDrop)),
    ("bank::restore_frees_held", Bank(B::RestoreFreesHeld)),
    ("bank::empty_before_lookup", Bank(B::EmptyBeforeLookup)),
    ("bank::retry_takes_another", Bank(B::RetryTakesAnother)),
    ("bank::retry_renews_the_hold", Bank(B::RetryRenewsTheHold)),
    ("bank::claims_of_one_client", Bank(B::ClaimsOfOneClient)),
    ("bank::empty_when_locked", Bank(B::EmptyWhenLocked)),
    ("bank::empty_on_throttle", Bank(B::EmptyOnThrottle)),
    ("bank::empty_is_remembered", Bank(B::EmptyIsRemembered)),
    ("bank::waits_for_a_worker", Bank(B::WaitsForAWorker)),
    ("bank::add_frees_held", Bank(B::AddFreesHeld)),
    ("bank::add_counts_duplicates", Bank(B::AddCountsDuplicates)),
    ("bank::confirms_the_expired", Bank(B::ConfirmsTheExpired)),
    ("bank::extend_shortens", Bank(B::ExtendShortens)),
    ("bank::extend_revives", Bank(B::ExtendRevives)),
    ("bank::clients_clock", Bank(B::ClientsClock)),
    ("bank::no_put_back", Bank(B::NoPutBack)),
    ("bank::stale_release_frees", Bank(B::StaleReleaseFrees)),
    ("bank::release_does_not_fence", Bank(B::ReleaseDoesNotFence)),
    ("bank::release_undoes_confirm", Bank(B::ReleaseUndoesConfirm)),
    ("bank::ended_takes_again", Bank(B::EndedTakesAgain)),
    ("bank::retires_holders", Bank(B::RetiresHolders)),
    ("bank::drops_the_tail", Bank(B::DropsTheTail)),
    ("bank::thirty_candidates", Bank(B::ThirtyCandidates)),
    ("bank::counts_withdrawn_as_free", Bank(B::CountsWithdrawnAsFree)),
    ("bank::list_skips_one", Bank(B::ListSkipsOne)),
    ("bank::trims_claims", Bank(B::TrimsClaims)),
    ("bank::claims_span_banks", Bank(B::ClaimsSpanBanks)),
    ("bank::applies_then_checks", Bank(B::AppliesThenChecks)),
    ("bank::looks_at_one_page", Bank(B::LooksAtOnePage)),
    ("bank::add_counts_the_lapsed", Bank(B::AddCountsTheLapsed)),
    ("bank::restores_one_page", Bank(B::RestoresOnePage)),
    ("bank::clamps_durations", Bank(B::ClampsDurations)),
    ("bank::refusal_voids_nothing", Bank(B::RefusalVoidsNothing)),
    ("bank::void_has_no_number", Bank(B::VoidHasNoNumber)),
    ("bank::void_never_ends", Bank(B::VoidNeverEnds)),
    // Deduplicators.
    ("deduplicator::checks_then_puts", Dedup(D::ChecksThenPuts)),
    ("deduplicator::forgets_sometimes", Dedup(D::ForgetsSometimes)),
    ("deduplicator::reads_then_deletes", Bank(B::ReadsThenDeletes)),
    ("deduplicator::loses_on_drop", Bank(B::LosesOnDrop)),
    ("deduplicator::release_does_not_fence", Bank(B::ReleaseDoesNotFence)),
    // Records.
    ("dedup::checks_then_puts", Dedup(D::ChecksThenPuts)),
    ("dedup::last_wins", Dedup(D::LastWins)),
    ("dedup::replaces_any_version", Dedup(D::ReplacesAnyVersion)),
    ("dedup::forgets_sometimes", Dedup(D::ForgetsSometimes)),
    ("dedup::returns_own", Dedup(D::ReturnsOwn)),
    ("dedup::retry_is_existing", Dedup(D::RetryIsExisting)),
    ("dedup::never_expires", Dedup(D::NeverExpires)),
    ("dedup::forever_is_a_year", Dedup(D::ForeverIsAYear)),
    ("dedup::repeats_versions", Dedup(D::RepeatsVersions)),
    ("dedup::forgets_any_version", Dedup(D::ForgetsAnyVersion)),
    ("dedup::forget_leaves_no_fence", Dedup(D::ForgetLeavesNoFence)),
    ("dedup::records_over_a_lease", Dedup(D::RecordsOverALease)),
    ("dedup::trims_ids", Dedup(D::TrimsIds)),
    ("dedup::lowercases_ids", Dedup(D::LowercasesIds)),
    ("dedup::cuts_ids", Dedup(D::CutsIds)),
    ("dedup::payloads_are_text", Dedup(D::PayloadsAreText)),
    ("dedup::joins_names", Dedup(D::JoinsNames)),
    ("dedup::list_reads_once", Dedup(D::ListReadsOnce)),
    // Leases.
    ("lease::results_for_ever", Lease(L::ResultsForEver)),
    ("lease::fenced_completes", Lease(L::FencedCompletes)),
    ("lease::fenced_extends", Lease(L::FencedExtends)),
    ("lease::own_retry_is_in_flight", Lease(L::OwnRetryIsInFlight)),
    ("lease::fence_stands_still", Lease(L::FenceStandsStill)),
    ("lease::never_lapses", Lease(L::NeverLapses)),
    ("lease::fingerprint_ignored", Lease(L::FingerprintIgnored)),
    ("lease::lapse_loses_fingerprint", Lease(L::LapseLosesFingerprint)),
    ("lease::remembers_failures", Lease(L::RemembersFailures)),
    ("lease::abort_leaves_no_fence", Lease(L::AbortLeavesNoFence)),
    ("lease::two_live_leases", Lease(L::TwoLiveLeases)),
    // Tokens.
    ("token::caches_exists", Token(T::CachesExists)),
    ("token::acknowledges_before_writing", Token(T::AcknowledgesBeforeWriting)),
    ("token::live_tokens_expire", Token(T::LiveTokensExpire)),
    ("token::checks_then_deletes", Token(T::ChecksThenDeletes)),
    ("token::unknown_consumes", Token(T::UnknownConsumes)),
    ("token::again_for_anyone", Token(T::AgainForAnyone)),
    ("token::retry_denied", Token(T::RetryDenied)),
    ("token::discard_tells_twice", Token(T::DiscardTellsTwice)),
    ("token::creates_the_gone", Token(T::CreatesTheGone)),
    ("token::creates_the_discarded", Token(T::CreatesTheDiscarded)),
    ("token::discard_does_not_fence", Token(T::DiscardDoesNotFence)),
    ("token::drops_the_tail", Token(T::DropsTheTail)),
    ("token::creates_the_live", Token(T::CreatesTheLive)),
    ("token::busy_is_absent", Token(T::BusyIsAbsent)),
    // One-time tokens.
    ("one_time::caches_exists", Token(T::CachesExists)),
    ("one_time::two_live_leases", Lease(L::TwoLiveLeases)),
    ("one_time::fenced_completes", Lease(L::FencedCompletes)),
    ("one_time::never_lapses", Lease(L::NeverLapses)),
    ("one_time::creates_the_gone", Token(T::CreatesTheGone)),
    ("one_time::forgets_sometimes", Dedup(D::ForgetsSometimes)),
    ("one_time::never_expires", Dedup(D::NeverExpires)),
    // Entities.
    ("entities::ignores_the_version", Entity(E::IgnoresTheVersion)),
    ("entities::creates_over", Entity(E::CreatesOver)),
    ("entities::commits_in_two_steps", Entity(E::CommitsInTwoSteps)),
    ("entities::removes_other_entries", Entity(E::RemovesOtherEntries)),
    ("entities::does_not_know_a_repetition", Entity(E::DoesNotKnowARepetition)),
    ("entities::last_choice_wins", Entity(E::LastChoiceWins)),
    ("entities::chooses_the_unknown", Entity(E::ChoosesTheUnknown)),
    ("entities::registers_late", Entity(E::RegistersLate)),
    ("entities::caches_what_it_opened", Entity(E::CachesWhatItOpened)),
    ("entities::pending_skips_one", Entity(E::PendingSkipsOne)),
    ("entities::versions_begin_anew", Entity(E::VersionsBeginAnew)),
    ("entities::removes_a_later_entry", Entity(E::RemovesALaterEntry)),
    ("entities::consumes_before", Entity(E::ConsumesBefore)),
    ("entities::creates_before", Entity(E::CreatesBefore)),
    ("entities::gone_is_done", Entity(E::GoneIsDone)),
    ("entities::opens_in_two_steps", Entity(E::OpensInTwoSteps)),
    // Counters.
    ("counter::no_idempotency", Counter(C::NoIdempotency)),
    ("counter::remembers_two", Counter(C::RemembersTwo)),
    ("counter::ops_of_one_client", Counter(C::OpsOfOneClient)),
    ("counter::id_before_the_add", Counter(C::IdBeforeTheAdd)),
    ("counter::marker_forgets_early", Counter(C::MarkerForgetsEarly)),
    ("counter::window_forgets_early", Counter(C::WindowForgetsEarly)),
    ("counter::window_drops_the_oldest", Counter(C::WindowDropsTheOldest)),
    ("counter::tag_names_nobody", Counter(C::TagNamesNobody)),
    ("counter::history_forgets_early", Counter(C::HistoryForgetsEarly)),
    ("counter::token_is_not_sent", Counter(C::TokenIsNotSent)),
    ("counter::set_drops_the_oldest", Counter(C::SetDropsTheOldest)),
    ("counter::threshold_race", Counter(C::ThresholdRace)),
    ("counter::shards_bounded_alone", Counter(C::ShardsBoundedAlone)),
    ("counter::shares_are_doubles", Counter(C::SharesAreDoubles)),
    ("counter::floor_is_exclusive", Counter(C::FloorIsExclusive)),
    ("counter::repeat_tells_the_present", Counter(C::RepeatTellsThePresent)),
    ("counter::wraps", Counter(C::Wraps)),
    ("counter::saturates", Counter(C::Saturates)),
    ("counter::mismatch_accepted", Counter(C::MismatchAccepted)),
    ("counter::caches_values", Counter(C::CachesValues)),
    ("counter::reads_modifies_writes", Counter(C::ReadsModifiesWrites)),
    ("counter::floats", Counter(C::Floats)),
    ("counter::sum_misses_a_shard", Counter(C::SumMissesAShard)),
    ("counter::rejection_remembered", Counter(C::RejectionRemembered)),
    ("counter::cancel_does_not_fence", Counter(C::CancelDoesNotFence)),
    ("counter::refusal_voids_nothing", Counter(C::RefusalVoidsNothing)),
    ("counter::void_has_no_number", Counter(C::VoidHasNoNumber)),
    ("counter::void_never_ends", Counter(C::VoidNeverEnds)),
    ("counter::drops_reasons", Counter(C::DropsReasons)),
    ("counter::ops_span_keys", Counter(C::OpsSpanKeys)),
    ("counter::forgets_a_second_early", Counter(C::ForgetsASecondEarly)),
    ("counter::counts_places_of_others", Counter(C::CountsPlacesOfOthers)),
    ("counter::forever_is_fifty_years", Counter(C::ForeverIsFiftyYears)),
    // Ledgers.
    ("ledger::keyed_by_time", Ledger(G::KeyedByTime)),
    ("ledger::tests_bounds_on_a_read", Ledger(G::TestsBoundsOnARead)),
    ("ledger::caches_for_ever", Ledger(G::CachesForEver)),
    ("ledger::loses_the_last_merged", Ledger(G::LosesTheLastMerged)),
    ("ledger::keeps_the_last_merged", Ledger(G::KeepsTheLastMerged)),
    ("ledger::merges_in_two_steps", Ledger(G::MergesInTwoSteps)),
    ("ledger::a_sum_each_time", Ledger(G::ASumEachTime)),
    ("ledger::merges_the_young", Ledger(G::MergesTheYoung)),
    ("ledger::merges_without_bound", Ledger(G::MergesWithoutBound)),
    ("ledger::log_by_name", Ledger(G::LogByName)),
    ("ledger::log_skips_one", Ledger(G::LogSkipsOne)),
    ("ledger::log_shows_fences", Ledger(G::LogShowsFences)),
    ("ledger::log_shows_no_reasons", Ledger(G::LogShowsNoReasons)),
    ("ledger::reason_is_of_the_operation", Ledger(G::ReasonIsOfTheOperation)),
    // Ordered values.
    ("ordered::last_wins", Ordered(O::LastWins)),
    ("ordered::checks_then_writes", Ordered(O::ChecksThenWrites)),
    ("ordered::delete_ignores_the_stamp", Ordered(O::DeleteIgnoresTheStamp)),
    ("ordered::mismatch_accepted", Ordered(O::MismatchAccepted)),
    ("ordered::tie_rejected", Ordered(O::TieRejected)),
    ("ordered::tie_accepted", Ordered(O::TieAccepted)),
    ("ordered::delete_under_put", Ordered(O::DeleteUnderPut)),
    ("ordered::float_stamps", Ordered(O::FloatStamps)),
    ("ordered::unsigned_stamps", Ordered(O::UnsignedStamps)),
    ("ordered::physical_delete", Ordered(O::PhysicalDelete)),
    ("ordered::tombstone_shows_the_old", Ordered(O::TombstoneShowsTheOld)),
    ("ordered::list_shows_tombstones", Ordered(O::ListShowsTombstones)),
    ("ordered::purges_early", Ordered(O::PurgesEarly)),
    ("ordered::no_purge_horizon", Ordered(O::NoPurgeHorizon)),
    ("ordered::clock_for_horizon", Ordered(O::ClockForHorizon)),
    ("ordered::skew_ignored", Ordered(O::SkewIgnored)),
    ("ordered::no_skew_by_default", Ordered(O::NoSkewByDefault)),
    ("ordered::sequences_by_the_clock", Ordered(O::SequencesByTheClock)),
    ("ordered::resets_any_stamp", Ordered(O::ResetsAnyStamp)),
    ("ordered::reset_spares_tombstones", Ordered(O::ResetSparesTombstones)),
    ("ordered::checks_then_resets", Ordered(O::ChecksThenResets)),
    ("ordered::list_reads_once", Ordered(O::ListReadsOnce)),
    // Transactions of a caller.
    ("transaction::applies_at_once", Transaction(X::AppliesAtOnce)),
    ("transaction::assumes_the_commit", Transaction(X::AssumesTheCommit)),
    ("transaction::locks_the_banks", Transaction(X::LocksTheBanks)),
    ("transaction::purges_within", Transaction(X::PurgesWithin)),
    ("transaction::joins_anything", Transaction(X::JoinsAnything)),
    ("transaction::told_as_an_outcome", Transaction(X::ToldAsAnOutcome)),
    ("transaction::receipt_on_its_own", Transaction(X::ReceiptOnItsOwn)),
    // Stores as a whole.
    ("store::sets_up_once", Store(S::SetsUpOnce)),
    ("store::set_up_races", Store(S::SetUpRaces)),
    ("store::maintains_without_bound", Store(S::MaintainsWithoutBound)),
    ("store::maintains_too_much", Store(S::MaintainsTooMuch)),
    ("store::forgets_within_an_hour", Store(S::ForgetsWithinAnHour)),
    ("store::lowercases_names", Store(S::LowercasesNames)),
    ("store::namespaces_of_one_client", Store(S::NamespacesOfOneClient)),
    ("store::opens_any_way", Store(S::OpensAnyWay)),
    ("store::keeps_the_skew", Store(S::KeepsTheSkew)),
    ("store::weaker_than_asked", Store(S::WeakerThanAsked)),
    ("store::forgets_a_second_early", Store(S::ForgetsASecondEarly)),
    ("store::sets_up_anew", Store(S::SetsUpAnew)),
    ("store::maintains_one_page", Store(S::MaintainsOnePage)),
];
