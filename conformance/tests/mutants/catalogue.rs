//! Every mutant: what is wrong with it, and the clause and the family of cases that must catch it.

use storagebox_conformance::Family::{self, Ambiguous, Cancel, Concurrent, Edge, Sequential};

use crate::bank::BankMistake as B;
use crate::counter::CounterMistake as C;
use crate::dedup::DedupMistake as D;
use crate::lease::LeaseMistake as L;
use crate::ledger::LedgerMistake as G;
use crate::ordered::OrderedMistake as O;
use crate::store::Mistake::{self, Bank, Counter, Dedup, Lease, Ledger, Ordered, Store, Token};
use crate::store::StoreMistake as S;
use crate::tokens::TokenMistake as T;

/// A store with one mistake.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Mutant {
    pub(crate) name: &'static str,
    pub(crate) mistake: Mistake,
    /// The clause that it breaks: one of its cases must fail.
    pub(crate) clause: &'static str,
    /// The family of cases that is expected to notice.
    pub(crate) family: Family,
    pub(crate) wrong: &'static str,
}

const fn mutant(
    name: &'static str,
    mistake: Mistake,
    clause: &'static str,
    family: Family,
    wrong: &'static str,
) -> Mutant {
    Mutant { name, mistake, clause, family, wrong }
}

/// All mutants, part by part.
pub(crate) fn mutants() -> Vec<Mutant> {
    [BANKS, COMPOSITIONS, RECORDS, LEASES, TOKENS, COUNTERS, LEDGERS, ORDERED, STORES].concat()
}

#[rustfmt::skip]
const BANKS: &[Mutant] = &[
    mutant("bank::reads_then_deletes", Bank(B::ReadsThenDeletes), "IB-1", Concurrent, "two takers that read before either deletes get the same item"),
    mutant("bank::loses_on_drop", Bank(B::LosesOnDrop), "IB-2", Cancel, "a take that is dropped between its steps loses the item"),
    mutant("bank::restore_frees_held", Bank(B::RestoreFreesHeld), "IB-2", Sequential, "restore frees items that are held"),
    mutant("bank::empty_before_lookup", Bank(B::EmptyBeforeLookup), "IB-3", Sequential, "an empty bank is Empty for a claim that holds an item"),
    mutant("bank::retry_takes_another", Bank(B::RetryTakesAnother), "IB-3", Sequential, "the same claim takes a second item"),
    mutant("bank::retry_renews_the_hold", Bank(B::RetryRenewsTheHold), "IB-3", Sequential, "taking again makes the hold longer"),
    mutant("bank::claims_of_one_client", Bank(B::ClaimsOfOneClient), "IB-3", Sequential, "a new client does not know the claims of an earlier one"),
    mutant("bank::empty_when_locked", Bank(B::EmptyWhenLocked), "IB-4", Concurrent, "Empty while another holds the lock of the candidate"),
    mutant("bank::empty_on_throttle", Bank(B::EmptyOnThrottle), "IB-4", Concurrent, "a throttle is answered as Empty"),
    mutant("bank::empty_is_remembered", Bank(B::EmptyIsRemembered), "IB-4", Sequential, "a claim that met an empty bank is ended"),
    mutant("bank::waits_for_a_worker", Bank(B::WaitsForAWorker), "IB-4", Sequential, "a lapsed hold is free only when a worker comes by"),
    mutant("bank::add_frees_held", Bank(B::AddFreesHeld), "IB-5", Sequential, "adding a held item frees it"),
    mutant("bank::add_counts_duplicates", Bank(B::AddCountsDuplicates), "IB-5", Edge, "duplicates in one call count as added"),
    mutant("bank::confirms_the_expired", Bank(B::ConfirmsTheExpired), "IB-6", Sequential, "a lapsed hold is confirmed if nobody took the item meanwhile"),
    mutant("bank::extend_shortens", Bank(B::ExtendShortens), "IB-6", Sequential, "extend sets the end, also to an earlier one"),
    mutant("bank::extend_revives", Bank(B::ExtendRevives), "IB-6", Sequential, "extend revives a lapsed hold"),
    mutant("bank::clients_clock", Bank(B::ClientsClock), "IB-6", Sequential, "holds end by the client's clock"),
    mutant("bank::no_put_back", Bank(B::NoPutBack), "IB-7", Sequential, "release ends the claim and does not free the item"),
    mutant("bank::stale_release_frees", Bank(B::StaleReleaseFrees), "IB-7", Sequential, "releasing an ended claim frees the item that is another's by now"),
    mutant("bank::release_does_not_fence", Bank(B::ReleaseDoesNotFence), "IB-7", Ambiguous, "a take that lands after the release of its unknown claim gets an item"),
    mutant("bank::release_undoes_confirm", Bank(B::ReleaseUndoesConfirm), "IB-7", Sequential, "release ends a confirmed claim"),
    mutant("bank::ended_takes_again", Bank(B::EndedTakesAgain), "IB-7", Sequential, "an ended claim takes a new item"),
    mutant("bank::retires_holders", Bank(B::RetiresHolders), "IB-7", Sequential, "a claim that holds an item is forgotten"),
    mutant("bank::drops_the_tail", Bank(B::DropsTheTail), "IB-8", Edge, "the tail of a batch is reported and not written"),
    mutant("bank::thirty_candidates", Bank(B::ThirtyCandidates), "IB-9", Concurrent, "a taker whose 30 candidates are all gone gives up"),
    mutant("bank::counts_withdrawn_as_free", Bank(B::CountsWithdrawnAsFree), "IB-10", Sequential, "withdrawn items count as free as well"),
    mutant("bank::list_skips_one", Bank(B::ListSkipsOne), "IB-10", Sequential, "the entry between two pages is shown on neither"),
    mutant("bank::trims_claims", Bank(B::TrimsClaims), "V-2", Edge, "claims are trimmed"),
    mutant("bank::claims_span_banks", Bank(B::ClaimsSpanBanks), "V-5", Sequential, "a claim of one bank holds its item in every other"),
    mutant("bank::applies_then_checks", Bank(B::AppliesThenChecks), "ER-1", Edge, "a call is refused after it was applied"),
    mutant("bank::clamps_durations", Bank(B::ClampsDurations), "V-6", Edge, "a hold out of range is made to fit"),
];

#[rustfmt::skip]
const COMPOSITIONS: &[Mutant] = &[
    mutant("deduplicator::checks_then_puts", Dedup(D::ChecksThenPuts), "A-1", Concurrent, "two intents of one id both win"),
    mutant("deduplicator::forgets_sometimes", Dedup(D::ForgetsSometimes), "A-1", Sequential, "every fourth record is acknowledged and not kept"),
    mutant("deduplicator::reads_then_deletes", Bank(B::ReadsThenDeletes), "A-2", Concurrent, "two ids get the same item"),
    mutant("deduplicator::loses_on_drop", Bank(B::LosesOnDrop), "A-3", Cancel, "a take that is dropped between its steps loses the item"),
    mutant("deduplicator::release_does_not_fence", Bank(B::ReleaseDoesNotFence), "A-4", Ambiguous, "a take that lands after its bank was given up gets an item"),
];

#[rustfmt::skip]
const RECORDS: &[Mutant] = &[
    mutant("dedup::checks_then_puts", Dedup(D::ChecksThenPuts), "D-1", Concurrent, "two that look before either writes both win"),
    mutant("dedup::last_wins", Dedup(D::LastWins), "D-1", Sequential, "a later record takes the place of the first"),
    mutant("dedup::replaces_any_version", Dedup(D::ReplacesAnyVersion), "D-1", Sequential, "replace does not look at the version"),
    mutant("dedup::forgets_sometimes", Dedup(D::ForgetsSometimes), "D-1", Edge, "every fourth record is acknowledged and not kept"),
    mutant("dedup::returns_own", Dedup(D::ReturnsOwn), "D-2", Sequential, "a loser is told its own value"),
    mutant("dedup::retry_is_existing", Dedup(D::RetryIsExisting), "D-3", Sequential, "the winner's own retry looks like another's"),
    mutant("dedup::never_expires", Dedup(D::NeverExpires), "D-4", Sequential, "a record past its retention stays until it is swept"),
    mutant("dedup::forever_is_a_year", Dedup(D::ForeverIsAYear), "D-4", Sequential, "Forever ends after a year"),
    mutant("dedup::repeats_versions", Dedup(D::RepeatsVersions), "D-7", Sequential, "versions begin at one again after forget"),
    mutant("dedup::forgets_any_version", Dedup(D::ForgetsAnyVersion), "D-7", Sequential, "forget does not look at the version"),
    mutant("dedup::forget_leaves_no_fence", Dedup(D::ForgetLeavesNoFence), "D-7", Sequential, "a record that lands after it was forgotten is recorded again"),
    mutant("dedup::records_over_a_lease", Dedup(D::RecordsOverALease), "D-8", Sequential, "record wins over another's lease"),
    mutant("dedup::trims_ids", Dedup(D::TrimsIds), "V-2", Edge, "ids are trimmed"),
    mutant("dedup::lowercases_ids", Dedup(D::LowercasesIds), "V-2", Edge, "ids are compared without case"),
    mutant("dedup::cuts_ids", Dedup(D::CutsIds), "V-2", Edge, "ids are cut at 200 bytes"),
    mutant("dedup::payloads_are_text", Dedup(D::PayloadsAreText), "V-3", Edge, "bytes that are no text are replaced"),
    mutant("dedup::joins_names", Dedup(D::JoinsNames), "S-3", Edge, "namespace `a:b` with id `c` is namespace `a` with id `b:c`"),
];

#[rustfmt::skip]
const LEASES: &[Mutant] = &[
    mutant("lease::results_for_ever", Lease(L::ResultsForEver), "D-4", Sequential, "a completed result outlives its retention"),
    mutant("lease::fenced_completes", Lease(L::FencedCompletes), "D-5", Sequential, "a lease that was begun by another meanwhile completes"),
    mutant("lease::fenced_extends", Lease(L::FencedExtends), "D-5", Sequential, "a lease that was begun by another meanwhile is extended"),
    mutant("lease::own_retry_is_in_flight", Lease(L::OwnRetryIsInFlight), "D-5", Sequential, "the same op does not get its lease again"),
    mutant("lease::fence_stands_still", Lease(L::FenceStandsStill), "D-5", Sequential, "the number of a lease does not grow"),
    mutant("lease::never_lapses", Lease(L::NeverLapses), "D-5", Sequential, "a lease does not end at its time"),
    mutant("lease::fingerprint_ignored", Lease(L::FingerprintIgnored), "D-6", Sequential, "another fingerprint gets the first one's result"),
    mutant("lease::remembers_failures", Lease(L::RemembersFailures), "D-7", Sequential, "an aborted run is kept as done"),
    mutant("lease::abort_leaves_no_fence", Lease(L::AbortLeavesNoFence), "D-7", Sequential, "an operation that aborted begins again"),
    mutant("lease::two_live_leases", Lease(L::TwoLiveLeases), "D-8", Concurrent, "two that look before either writes both get a lease"),
];

#[rustfmt::skip]
const TOKENS: &[Mutant] = &[
    mutant("token::caches_exists", Token(T::CachesExists), "T-1", Sequential, "a client answers exists out of what it saw before"),
    mutant("token::acknowledges_before_writing", Token(T::AcknowledgesBeforeWriting), "T-2", Sequential, "created tokens stay in the client until its next call"),
    mutant("token::live_tokens_expire", Token(T::LiveTokensExpire), "T-4", Sequential, "a live token is gone after a month"),
    mutant("token::checks_then_deletes", Token(T::ChecksThenDeletes), "T-5", Concurrent, "two that look before either deletes both get Now"),
    mutant("token::unknown_consumes", Token(T::UnknownConsumes), "T-5", Sequential, "an unknown token can be consumed"),
    mutant("token::again_for_anyone", Token(T::AgainForAnyone), "T-5", Sequential, "any operation is told Again"),
    mutant("token::retry_denied", Token(T::RetryDenied), "T-6", Sequential, "the winner's own retry is AlreadyGone"),
    mutant("token::discard_tells_twice", Token(T::DiscardTellsTwice), "T-6", Sequential, "a token that is gone is discarded once more"),
    mutant("token::creates_the_gone", Token(T::CreatesTheGone), "T-7", Sequential, "a repeated create revives a token that is gone"),
    mutant("token::creates_the_discarded", Token(T::CreatesTheDiscarded), "T-7", Sequential, "a repeated create revives a token that was discarded"),
    mutant("token::discard_does_not_fence", Token(T::DiscardDoesNotFence), "T-7", Ambiguous, "a create that lands after the discard of its unknown token makes it"),
    mutant("token::drops_the_tail", Token(T::DropsTheTail), "T-8", Edge, "the tail of a batch is reported and not written"),
    mutant("token::creates_the_live", Token(T::CreatesTheLive), "T-9", Sequential, "a live token is reported as created"),
    mutant("token::busy_is_absent", Token(T::BusyIsAbsent), "T-10", Concurrent, "a token that another call has locked is absent"),
];

#[rustfmt::skip]
const COUNTERS: &[Mutant] = &[
    mutant("counter::no_idempotency", Counter(C::NoIdempotency), "C-1", Sequential, "an operation is applied each time"),
    mutant("counter::remembers_two", Counter(C::RemembersTwo), "C-1", Sequential, "only the last two operations are remembered"),
    mutant("counter::ops_of_one_client", Counter(C::OpsOfOneClient), "C-1", Sequential, "a new client does not know the operations of an earlier one"),
    mutant("counter::id_before_the_add", Counter(C::IdBeforeTheAdd), "C-1", Cancel, "the operation is recorded in one step and applied in the next"),
    mutant("counter::marker_forgets_early", Counter(C::MarkerForgetsEarly), "C-1", Sequential, "a marker is kept for half its retention"),
    mutant("counter::window_forgets_early", Counter(C::WindowForgetsEarly), "C-1", Sequential, "a window is kept for half its lifetime"),
    mutant("counter::window_drops_the_oldest", Counter(C::WindowDropsTheOldest), "C-1", Sequential, "a full window forgets its oldest operation"),
    mutant("counter::tag_names_nobody", Counter(C::TagNamesNobody), "C-1", Sequential, "a version that changed does not say by whom"),
    mutant("counter::history_forgets_early", Counter(C::HistoryForgetsEarly), "C-1", Sequential, "half as many writers are remembered as were asked for"),
    mutant("counter::token_is_not_sent", Counter(C::TokenIsNotSent), "C-1", Sequential, "every attempt has a request token of its own"),
    mutant("counter::set_drops_the_oldest", Counter(C::SetDropsTheOldest), "C-1", Sequential, "a full set forgets its oldest operation"),
    mutant("counter::threshold_race", Counter(C::ThresholdRace), "C-2", Concurrent, "bounds are tested on a value that was read before"),
    mutant("counter::shards_bounded_alone", Counter(C::ShardsBoundedAlone), "C-2", Sequential, "each shard may go as far as the whole"),
    mutant("counter::shares_are_doubles", Counter(C::SharesAreDoubles), "C-2", Edge, "the parts of a bound are doubles"),
    mutant("counter::floor_is_exclusive", Counter(C::FloorIsExclusive), "C-2", Sequential, "a result that equals the floor is rejected"),
    mutant("counter::repeat_tells_the_present", Counter(C::RepeatTellsThePresent), "C-3", Sequential, "a retry is told the present value"),
    mutant("counter::wraps", Counter(C::Wraps), "C-4", Edge, "an overflow wraps"),
    mutant("counter::saturates", Counter(C::Saturates), "C-4", Edge, "an overflow stops at the end of the range"),
    mutant("counter::mismatch_accepted", Counter(C::MismatchAccepted), "C-5", Sequential, "the same operation with another delta looks applied"),
    mutant("counter::caches_values", Counter(C::CachesValues), "C-6", Sequential, "a client answers the value out of what it saw before"),
    mutant("counter::reads_modifies_writes", Counter(C::ReadsModifiesWrites), "C-7", Concurrent, "what comes between a read and its write is lost"),
    mutant("counter::floats", Counter(C::Floats), "C-7", Edge, "values are doubles"),
    mutant("counter::sum_misses_a_shard", Counter(C::SumMissesAShard), "C-7", Sequential, "the sum leaves out the first shard"),
    mutant("counter::rejection_remembered", Counter(C::RejectionRemembered), "C-8", Sequential, "an operation that was rejected stays so"),
    mutant("counter::cancel_does_not_fence", Counter(C::CancelDoesNotFence), "C-8", Ambiguous, "an operation that lands after its cancel is applied"),
    mutant("counter::drops_reasons", Counter(C::DropsReasons), "C-9", Sequential, "a reason is dropped where there is no log"),
    mutant("counter::ops_span_keys", Counter(C::OpsSpanKeys), "V-5", Sequential, "an operation on one key is known on every other"),
];

#[rustfmt::skip]
const LEDGERS: &[Mutant] = &[
    mutant("ledger::keyed_by_time", Ledger(G::KeyedByTime), "C-1", Sequential, "an entry's key begins with its time, so a retry is another entry"),
    mutant("ledger::tests_bounds_on_a_read", Ledger(G::TestsBoundsOnARead), "C-2", Sequential, "bounds are tested on a sum that was read before"),
    mutant("ledger::caches_for_ever", Ledger(G::CachesForEver), "C-6", Sequential, "a cached value is answered whatever its age"),
    mutant("ledger::loses_the_last_merged", Ledger(G::LosesTheLastMerged), "C-7", Sequential, "compaction deletes one entry more than it adds up"),
    mutant("ledger::keeps_the_last_merged", Ledger(G::KeepsTheLastMerged), "C-7", Sequential, "compaction leaves an entry beside the sum that holds it"),
    mutant("ledger::merges_in_two_steps", Ledger(G::MergesInTwoSteps), "C-7", Concurrent, "the entries go in one step and their sum comes in the next"),
    mutant("ledger::a_sum_each_time", Ledger(G::ASumEachTime), "C-7", Sequential, "each compaction leaves a sum of its own"),
    mutant("ledger::merges_the_young", Ledger(G::MergesTheYoung), "C-7", Sequential, "compaction does not look at the age"),
    mutant("ledger::merges_without_bound", Ledger(G::MergesWithoutBound), "C-7", Sequential, "compaction does not look at its limit"),
    mutant("ledger::log_by_name", Ledger(G::LogByName), "C-7", Sequential, "the log is in the order of the operations' names"),
    mutant("ledger::log_skips_one", Ledger(G::LogSkipsOne), "C-7", Sequential, "the entry between two pages is shown on neither"),
    mutant("ledger::log_shows_fences", Ledger(G::LogShowsFences), "C-7", Sequential, "a cancelled operation is shown as a change of 0"),
    mutant("ledger::log_shows_no_reasons", Ledger(G::LogShowsNoReasons), "C-9", Sequential, "the log does not say why a change was made"),
    mutant("ledger::reason_is_of_the_operation", Ledger(G::ReasonIsOfTheOperation), "C-9", Sequential, "a retry that says why is taken for another operation"),
];

#[rustfmt::skip]
const ORDERED: &[Mutant] = &[
    mutant("ordered::last_wins", Ordered(O::LastWins), "O-1", Sequential, "an older stamp overwrites a newer one"),
    mutant("ordered::checks_then_writes", Ordered(O::ChecksThenWrites), "O-1", Concurrent, "an older write that looked early overwrites a newer one"),
    mutant("ordered::delete_ignores_the_stamp", Ordered(O::DeleteIgnoresTheStamp), "O-1", Sequential, "a delete wins over any put"),
    mutant("ordered::mismatch_accepted", Ordered(O::MismatchAccepted), "O-1", Sequential, "other content under the same stamp is a Duplicate"),
    mutant("ordered::tie_rejected", Ordered(O::TieRejected), "O-2", Sequential, "of equal times the first to arrive wins"),
    mutant("ordered::tie_accepted", Ordered(O::TieAccepted), "O-2", Sequential, "of equal times the last to arrive wins"),
    mutant("ordered::delete_under_put", Ordered(O::DeleteUnderPut), "O-2", Sequential, "a put wins over a delete of the same stamp"),
    mutant("ordered::float_stamps", Ordered(O::FloatStamps), "O-2", Edge, "stamps are doubles"),
    mutant("ordered::unsigned_stamps", Ordered(O::UnsignedStamps), "O-2", Edge, "a negative stamp is after every positive one"),
    mutant("ordered::physical_delete", Ordered(O::PhysicalDelete), "O-3", Sequential, "a delete leaves no tombstone"),
    mutant("ordered::tombstone_shows_the_old", Ordered(O::TombstoneShowsTheOld), "O-3", Sequential, "get shows the value before the delete"),
    mutant("ordered::list_shows_tombstones", Ordered(O::ListShowsTombstones), "O-3", Sequential, "list shows what is deleted"),
    mutant("ordered::purges_early", Ordered(O::PurgesEarly), "O-3", Sequential, "a purge ignores the namespace's tombstone age"),
    mutant("ordered::no_purge_horizon", Ordered(O::NoPurgeHorizon), "O-3", Sequential, "a write older than what was purged is accepted"),
    mutant("ordered::clock_for_horizon", Ordered(O::ClockForHorizon), "O-3", Sequential, "what is too old is told the clock instead of the horizon"),
    mutant("ordered::skew_ignored", Ordered(O::SkewIgnored), "O-4", Sequential, "a stamp far ahead of the clock is accepted"),
    mutant("ordered::sequences_by_the_clock", Ordered(O::SequencesByTheClock), "O-5", Sequential, "sequence numbers are judged by the clock"),
];

#[rustfmt::skip]
const STORES: &[Mutant] = &[
    mutant("store::sets_up_once", Store(S::SetsUpOnce), "S-1", Sequential, "a second setup fails"),
    mutant("store::set_up_races", Store(S::SetUpRaces), "S-1", Concurrent, "a setup fails while another is under way"),
    mutant("store::maintains_without_bound", Store(S::MaintainsWithoutBound), "S-2", Sequential, "maintain deletes more than it was asked to"),
    mutant("store::maintains_too_much", Store(S::MaintainsTooMuch), "S-2", Sequential, "maintain forgets every claim that has ended"),
    mutant("store::forgets_within_an_hour", Store(S::ForgetsWithinAnHour), "IB-7", Sequential, "what has ended is remembered for an hour"),
    mutant("store::lowercases_names", Store(S::LowercasesNames), "S-3", Edge, "namespaces whose names differ by case are one"),
    mutant("store::namespaces_of_one_client", Store(S::NamespacesOfOneClient), "S-3", Sequential, "two clients do not share a namespace"),
    mutant("store::opens_any_way", Store(S::OpensAnyWay), "S-4", Sequential, "a namespace is opened otherwise than it was created"),
    mutant("store::weaker_than_asked", Store(S::WeakerThanAsked), "S-5", Sequential, "a strategy that it does not have becomes a weaker one"),
];
