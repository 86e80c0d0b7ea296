//! Mistakes of broken stores, clause by clause. Each is a store of `tests/mutants` that the suite must catch, and a
//! likely cause of a failure.

use crate::case::Case;
use crate::part::Family::{self, Ambiguous, Cancel, Concurrent, Edge, Sequential};

/// A mistake that a store may make.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Mistake {
    /// The name, such as `bank::loses_on_drop`.
    pub name: &'static str,
    /// The clause that the mistake breaks. At least one case of the clause must fail.
    pub clause: &'static str,
    /// The family of cases that is expected to notice.
    pub family: Family,
    /// What is wrong.
    pub wrong: &'static str,
}

impl Mistake {
    /// Returns the mistakes of broken stores that fail the case. Mistakes that break the case's own clause come first.
    /// Among them, mistakes that fail fewer cases come first.
    pub fn noticed_by(case: &Case) -> Vec<&'static Self> {
        let name = case.name();
        let line = NOTICED.lines().find(|line| line.split(' ').next() == Some(&name)).unwrap_or_default();
        let mut noticed: Vec<_> = MISTAKES.iter().filter(|known| known.is_in(line)).collect();
        noticed.sort_by_key(|known| {
            let failed = NOTICED.lines().filter(|line| known.is_in(line)).count();
            (known.clause != case.clause(), failed)
        });
        noticed
    }

    fn is_in(&self, line: &str) -> bool {
        line.split(' ').skip(1).any(|name| name == self.name)
    }
}

/// The mistakes that each case notices, one case per line. This command writes the file:
/// `STORAGEBOX_NOTICED=1 cargo test -p storagebox-conformance --test mutants`.
const NOTICED: &str = include_str!("mistakes/noticed.txt");

const fn mistake(name: &'static str, clause: &'static str, family: Family, wrong: &'static str) -> Mistake {
    Mistake { name, clause, family, wrong }
}

/// All known mistakes, part by part.
#[rustfmt::skip]
pub const MISTAKES: &[Mistake] = &[
    // Banks.
    mistake("bank::reads_then_deletes", "IB-1", Concurrent, "two takers that read before either deletes get the same item"),
    mistake("bank::loses_on_drop", "IB-2", Cancel, "a take that is dropped between its steps loses the item"),
    mistake("bank::restore_frees_held", "IB-2", Sequential, "restore frees items that are held"),
    mistake("bank::empty_before_lookup", "IB-3", Sequential, "an empty bank is Empty for a claim that holds an item"),
    mistake("bank::retry_takes_another", "IB-3", Sequential, "the same claim takes a second item"),
    mistake("bank::retry_renews_the_hold", "IB-3", Sequential, "taking again makes the hold longer"),
    mistake("bank::claims_of_one_client", "IB-3", Sequential, "a new client does not know the claims of an earlier one"),
    mistake("bank::empty_when_locked", "IB-4", Concurrent, "Empty while another holds the lock of the candidate"),
    mistake("bank::empty_on_throttle", "IB-4", Concurrent, "a throttle is answered as Empty"),
    mistake("bank::empty_is_remembered", "IB-4", Sequential, "a claim that met an empty bank is ended"),
    mistake("bank::waits_for_a_worker", "IB-4", Sequential, "a lapsed hold is free only when a worker comes by"),
    mistake("bank::add_frees_held", "IB-5", Sequential, "adding a held item frees it"),
    mistake("bank::add_counts_duplicates", "IB-5", Edge, "duplicates in one call count as added"),
    mistake("bank::confirms_the_expired", "IB-6", Sequential, "a lapsed hold is confirmed if nobody took the item meanwhile"),
    mistake("bank::extend_shortens", "IB-6", Sequential, "extend sets the end, also to an earlier one"),
    mistake("bank::extend_revives", "IB-6", Sequential, "extend revives a lapsed hold"),
    mistake("bank::clients_clock", "IB-6", Sequential, "holds end by the client's clock"),
    mistake("bank::no_put_back", "IB-7", Sequential, "release ends the claim and does not free the item"),
    mistake("bank::stale_release_frees", "IB-7", Sequential, "releasing an ended claim frees the item that is another's by now"),
    mistake("bank::release_does_not_fence", "IB-7", Ambiguous, "a take that lands after the release of its unknown claim gets an item"),
    mistake("bank::release_undoes_confirm", "IB-7", Sequential, "release ends a confirmed claim"),
    mistake("bank::ended_takes_again", "IB-7", Sequential, "an ended claim takes a new item"),
    mistake("bank::retires_holders", "IB-7", Sequential, "a claim that holds an item is forgotten"),
    mistake("bank::drops_the_tail", "IB-8", Edge, "the tail of a batch is reported and not written"),
    mistake("bank::thirty_candidates", "IB-9", Concurrent, "a taker whose 30 candidates are all gone gives up"),
    mistake("bank::counts_withdrawn_as_free", "IB-10", Sequential, "withdrawn items count as free as well"),
    mistake("bank::list_skips_one", "IB-10", Sequential, "the entry between two pages is shown on neither"),
    mistake("bank::trims_claims", "V-2", Edge, "claims are trimmed"),
    mistake("bank::claims_span_banks", "V-5", Sequential, "a claim of one bank holds its item in every other"),
    mistake("bank::applies_then_checks", "ER-1", Edge, "a call is refused after it was applied"),
    mistake("bank::looks_at_one_page", "IB-4", Edge, "a take that finds a page of items in use says Empty"),
    mistake("bank::add_counts_the_lapsed", "IB-5", Sequential, "an item whose hold has lapsed is added once more"),
    mistake("bank::restores_one_page", "IB-8", Edge, "the rest of a large batch is not restored"),
    mistake("bank::clamps_durations", "V-6", Edge, "a hold out of range is made to fit"),
    mistake("bank::refusal_voids_nothing", "ER-5", Ambiguous, "a take that lands after its call was told Empty takes an item"),
    mistake("bank::void_has_no_number", "ER-5", Ambiguous, "a refused call makes every call of its claim void"),
    mistake("bank::void_never_ends", "ER-5", Ambiguous, "void calls are kept longer than an ended claim is remembered"),
    // Deduplicators.
    mistake("deduplicator::checks_then_puts", "A-1", Concurrent, "two intents of one id both win"),
    mistake("deduplicator::forgets_sometimes", "A-1", Sequential, "every fourth record is acknowledged and not kept"),
    mistake("deduplicator::reads_then_deletes", "A-2", Concurrent, "two ids get the same item"),
    mistake("deduplicator::loses_on_drop", "A-3", Cancel, "a take that is dropped between its steps loses the item"),
    mistake("deduplicator::release_does_not_fence", "A-4", Ambiguous, "a take that lands after its bank was given up gets an item"),
    // Records.
    mistake("dedup::checks_then_puts", "D-1", Concurrent, "two that look before either writes both win"),
    mistake("dedup::last_wins", "D-1", Sequential, "a later record takes the place of the first"),
    mistake("dedup::replaces_any_version", "D-1", Sequential, "replace does not look at the version"),
    mistake("dedup::forgets_sometimes", "D-1", Edge, "every fourth record is acknowledged and not kept"),
    mistake("dedup::returns_own", "D-2", Sequential, "a loser is told its own value"),
    mistake("dedup::retry_is_existing", "D-3", Sequential, "the winner's own retry looks like another's"),
    mistake("dedup::never_expires", "D-4", Sequential, "a record past its retention stays until it is swept"),
    mistake("dedup::forever_is_a_year", "D-4", Sequential, "Forever ends after a year"),
    mistake("dedup::repeats_versions", "D-7", Sequential, "versions begin at one again after forget"),
    mistake("dedup::forgets_any_version", "D-7", Sequential, "forget does not look at the version"),
    mistake("dedup::forget_leaves_no_fence", "D-7", Sequential, "a record that lands after it was forgotten is recorded again"),
    mistake("dedup::records_over_a_lease", "D-8", Sequential, "record wins over another's lease"),
    mistake("dedup::trims_ids", "V-2", Edge, "ids are trimmed"),
    mistake("dedup::lowercases_ids", "V-2", Edge, "ids are compared without case"),
    mistake("dedup::cuts_ids", "V-2", Edge, "ids are cut at 200 bytes"),
    mistake("dedup::payloads_are_text", "V-3", Edge, "bytes that are no text are replaced"),
    mistake("dedup::joins_names", "S-3", Edge, "namespace `a:b` with id `c` is namespace `a` with id `b:c`"),
    mistake("dedup::list_reads_once", "D-4", Sequential, "a page ends with what one read shows, and so does the listing"),
    // Leases.
    mistake("lease::results_for_ever", "D-4", Sequential, "a completed result outlives its retention"),
    mistake("lease::fenced_completes", "D-5", Sequential, "a lease that was begun by another meanwhile completes"),
    mistake("lease::fenced_extends", "D-5", Sequential, "a lease that was begun by another meanwhile is extended"),
    mistake("lease::own_retry_is_in_flight", "D-5", Sequential, "the same op does not get its lease again"),
    mistake("lease::fence_stands_still", "D-5", Sequential, "the number of a lease does not grow"),
    mistake("lease::never_lapses", "D-5", Sequential, "a lease does not end at its time"),
    mistake("lease::fingerprint_ignored", "D-6", Sequential, "another fingerprint gets the first one's result"),
    mistake("lease::lapse_loses_fingerprint", "D-6", Sequential, "a begin on a lapsed lease starts whatever the fingerprint"),
    mistake("lease::remembers_failures", "D-7", Sequential, "an aborted run is kept as done"),
    mistake("lease::abort_leaves_no_fence", "D-7", Sequential, "an operation that aborted begins again"),
    mistake("lease::two_live_leases", "D-8", Concurrent, "two that look before either writes both get a lease"),
    // Tokens.
    mistake("token::caches_exists", "T-1", Sequential, "a client answers exists out of what it saw before"),
    mistake("token::acknowledges_before_writing", "T-2", Sequential, "created tokens stay in the client until its next call"),
    mistake("token::live_tokens_expire", "T-4", Sequential, "a live token is gone after a month"),
    mistake("token::checks_then_deletes", "T-5", Concurrent, "two that look before either deletes both get Now"),
    mistake("token::unknown_consumes", "T-5", Sequential, "an unknown token can be consumed"),
    mistake("token::again_for_anyone", "T-5", Sequential, "any operation is told Again"),
    mistake("token::retry_denied", "T-6", Sequential, "the winner's own retry is AlreadyGone"),
    mistake("token::discard_tells_twice", "T-6", Sequential, "a token that is gone is discarded once more"),
    mistake("token::creates_the_gone", "T-7", Sequential, "a repeated create revives a token that is gone"),
    mistake("token::creates_the_discarded", "T-7", Sequential, "a repeated create revives a token that was discarded"),
    mistake("token::discard_does_not_fence", "T-7", Ambiguous, "a create that lands after the discard of its unknown token makes it"),
    mistake("token::drops_the_tail", "T-8", Edge, "the tail of a batch is reported and not written"),
    mistake("token::creates_the_live", "T-9", Sequential, "a live token is reported as created"),
    mistake("token::busy_is_absent", "T-10", Concurrent, "a token that another call has locked is absent"),
    // One-time tokens.
    mistake("one_time::caches_exists", "OT-1", Sequential, "a client answers exists out of what it saw before"),
    mistake("one_time::two_live_leases", "OT-2", Concurrent, "two that look before either writes both get a lease"),
    mistake("one_time::fenced_completes", "OT-2", Sequential, "a lease that was begun by another meanwhile completes"),
    mistake("one_time::never_lapses", "OT-2", Sequential, "a lease does not end at its time"),
    mistake("one_time::creates_the_gone", "OT-2", Sequential, "a repeated create revives a token that is gone"),
    mistake("one_time::forgets_sometimes", "OT-3", Sequential, "every fourth record is acknowledged and not kept"),
    mistake("one_time::never_expires", "OT-4", Sequential, "a record past its retention stays until it is swept"),
    // Entities.
    mistake("entities::ignores_the_version", "E-1", Sequential, "a commit is made whatever version the entity has"),
    mistake("entities::creates_over", "E-1", Sequential, "a commit that found no entity changes one that was created meanwhile"),
    mistake("entities::commits_in_two_steps", "E-2", Cancel, "a commit that is dropped between its steps changes the state and adds no entry"),
    mistake("entities::removes_other_entries", "E-2", Sequential, "a commit leaves its own entry alone beside the entity"),
    mistake("entities::does_not_know_a_repetition", "E-2", Sequential, "a commit that is made again is a conflict"),
    mistake("entities::last_choice_wins", "E-3", Sequential, "each attempt is told that it is chosen"),
    mistake("entities::chooses_the_unknown", "E-3", Sequential, "an attempt is chosen that was never registered"),
    mistake("entities::registers_late", "E-4", Sequential, "an attempt is told that it is registered after another was chosen"),
    mistake("entities::caches_what_it_opened", "E-5", Sequential, "open answers what the client saw before"),
    mistake("entities::pending_skips_one", "E-5", Sequential, "the entry between two pages is shown on neither"),
    mistake("entities::versions_begin_anew", "E-6", Sequential, "an entity that is created again has the versions of the deleted one"),
    mistake("entities::removes_a_later_entry", "E-7", Sequential, "a removal takes whatever entry the message has"),
    mistake("entities::consumes_before", "E-8", Sequential, "the token is consumed before the commit is made, or is not"),
    mistake("entities::creates_before", "E-8", Sequential, "the new tokens are created before the commit is made, or is not"),
    mistake("entities::gone_is_done", "E-8", Sequential, "a commit whose token is gone is told that it was made"),
    mistake("entities::opens_in_two_steps", "E-8", Concurrent, "the entity and the token are read one after the other"),
    // Counters.
    mistake("counter::no_idempotency", "C-1", Sequential, "an operation is applied each time"),
    mistake("counter::remembers_two", "C-1", Sequential, "only the last two operations are remembered"),
    mistake("counter::ops_of_one_client", "C-1", Sequential, "a new client does not know the operations of an earlier one"),
    mistake("counter::id_before_the_add", "C-1", Cancel, "the operation is recorded in one step and applied in the next"),
    mistake("counter::marker_forgets_early", "C-1", Sequential, "a marker is kept for half its retention"),
    mistake("counter::window_forgets_early", "C-1", Sequential, "a window is kept for half its lifetime"),
    mistake("counter::window_drops_the_oldest", "C-1", Sequential, "a full window forgets its oldest operation"),
    mistake("counter::tag_names_nobody", "C-1", Sequential, "a version that changed does not say by whom"),
    mistake("counter::history_forgets_early", "C-1", Sequential, "half as many writers are remembered as were asked for"),
    mistake("counter::token_is_not_sent", "C-1", Sequential, "every attempt has a request token of its own"),
    mistake("counter::set_drops_the_oldest", "C-1", Sequential, "a full set forgets its oldest operation"),
    mistake("counter::threshold_race", "C-2", Concurrent, "bounds are tested on a value that was read before"),
    mistake("counter::shards_bounded_alone", "C-2", Sequential, "each shard may go as far as the whole"),
    mistake("counter::shares_are_doubles", "C-2", Edge, "the parts of a bound are doubles"),
    mistake("counter::floor_is_exclusive", "C-2", Sequential, "a result that equals the floor is rejected"),
    mistake("counter::repeat_tells_the_present", "C-3", Sequential, "a retry is told the present value"),
    mistake("counter::wraps", "C-4", Edge, "an overflow wraps"),
    mistake("counter::saturates", "C-4", Edge, "an overflow stops at the end of the range"),
    mistake("counter::mismatch_accepted", "C-5", Sequential, "the same operation with another delta looks applied"),
    mistake("counter::caches_values", "C-6", Sequential, "a client answers the value out of what it saw before"),
    mistake("counter::reads_modifies_writes", "C-7", Concurrent, "what comes between a read and its write is lost"),
    mistake("counter::floats", "C-7", Edge, "values are doubles"),
    mistake("counter::sum_misses_a_shard", "C-7", Sequential, "the sum leaves out the first shard"),
    mistake("counter::rejection_remembered", "C-8", Sequential, "an operation that was rejected stays so"),
    mistake("counter::cancel_does_not_fence", "C-8", Ambiguous, "an operation that lands after its cancel is applied"),
    mistake("counter::refusal_voids_nothing", "ER-5", Ambiguous, "an attempt that lands after its call was refused is applied"),
    mistake("counter::void_has_no_number", "ER-5", Ambiguous, "a refused call makes every call of its operation void"),
    mistake("counter::void_never_ends", "ER-5", Ambiguous, "void calls are kept longer than the operation is remembered"),
    mistake("counter::drops_reasons", "C-9", Sequential, "a reason is dropped where there is no log"),
    mistake("counter::ops_span_keys", "V-5", Sequential, "an operation on one key is known on every other"),
    mistake("counter::forgets_a_second_early", "C-1", Sequential, "a marker is kept for a second less than its retention"),
    mistake("counter::counts_places_of_others", "C-1", Sequential, "a key that frees its places leaves those of other keys taken"),
    mistake("counter::forever_is_fifty_years", "C-1", Sequential, "a marker that is kept for ever ends after fifty years"),
    // Ledgers.
    mistake("ledger::keyed_by_time", "C-1", Sequential, "an entry's key begins with its time, so a retry is another entry"),
    mistake("ledger::tests_bounds_on_a_read", "C-2", Sequential, "bounds are tested on a sum that was read before"),
    mistake("ledger::caches_for_ever", "C-6", Sequential, "a cached value is answered whatever its age"),
    mistake("ledger::loses_the_last_merged", "C-7", Sequential, "compaction deletes one entry more than it adds up"),
    mistake("ledger::keeps_the_last_merged", "C-7", Sequential, "compaction leaves an entry beside the sum that holds it"),
    mistake("ledger::merges_in_two_steps", "C-7", Concurrent, "the entries go in one step and their sum comes in the next"),
    mistake("ledger::a_sum_each_time", "C-7", Sequential, "each compaction leaves a sum of its own"),
    mistake("ledger::merges_the_young", "C-7", Sequential, "compaction does not look at the age"),
    mistake("ledger::merges_without_bound", "C-7", Sequential, "compaction does not look at its limit"),
    mistake("ledger::log_by_name", "C-7", Sequential, "the log is in the order of the operations' names"),
    mistake("ledger::log_skips_one", "C-7", Sequential, "the entry between two pages is shown on neither"),
    mistake("ledger::log_shows_fences", "C-7", Sequential, "a cancelled operation is shown as a change of 0"),
    mistake("ledger::log_shows_no_reasons", "C-9", Sequential, "the log does not say why a change was made"),
    mistake("ledger::reason_is_of_the_operation", "C-9", Sequential, "a retry that says why is taken for another operation"),
    // Ordered values.
    mistake("ordered::last_wins", "O-1", Sequential, "an older stamp overwrites a newer one"),
    mistake("ordered::checks_then_writes", "O-1", Concurrent, "an older write that looked early overwrites a newer one"),
    mistake("ordered::delete_ignores_the_stamp", "O-1", Sequential, "a delete wins over any put"),
    mistake("ordered::mismatch_accepted", "O-1", Sequential, "other content under the same stamp is a Duplicate"),
    mistake("ordered::tie_rejected", "O-2", Sequential, "of equal times the first to arrive wins"),
    mistake("ordered::tie_accepted", "O-2", Sequential, "of equal times the last to arrive wins"),
    mistake("ordered::delete_under_put", "O-2", Sequential, "a put wins over a delete of the same stamp"),
    mistake("ordered::float_stamps", "O-2", Edge, "stamps are doubles"),
    mistake("ordered::unsigned_stamps", "O-2", Edge, "a negative stamp is after every positive one"),
    mistake("ordered::physical_delete", "O-3", Sequential, "a delete leaves no tombstone"),
    mistake("ordered::tombstone_shows_the_old", "O-3", Sequential, "get shows the value before the delete"),
    mistake("ordered::list_shows_tombstones", "O-3", Sequential, "list shows what is deleted"),
    mistake("ordered::purges_early", "O-3", Sequential, "a purge ignores the namespace's tombstone age"),
    mistake("ordered::no_purge_horizon", "O-3", Sequential, "a write older than what was purged is accepted"),
    mistake("ordered::clock_for_horizon", "O-3", Sequential, "what is too old is told the clock instead of the horizon"),
    mistake("ordered::skew_ignored", "O-4", Sequential, "a stamp far ahead of the clock is accepted"),
    mistake("ordered::no_skew_by_default", "O-4", Sequential, "a stamp in microseconds is accepted where nothing was said of the skew"),
    mistake("ordered::sequences_by_the_clock", "O-5", Sequential, "sequence numbers are judged by the clock"),
    mistake("ordered::resets_any_stamp", "O-6", Sequential, "a reset removes a value whatever its stamp is"),
    mistake("ordered::reset_spares_tombstones", "O-6", Sequential, "a reset finds no tombstone"),
    mistake("ordered::checks_then_resets", "O-6", Concurrent, "a reset removes the newer write that came after it looked"),
    mistake("ordered::list_reads_once", "O-3", Edge, "a page ends with what one read shows, and so does the listing"),
    // Transactions of a caller.
    mistake("transaction::applies_at_once", "J-1", Sequential, "a call in a transaction stays after its rollback"),
    mistake("transaction::assumes_the_commit", "J-1", Concurrent, "Empty while a transaction that is open has the last item"),
    mistake("transaction::locks_the_banks", "IB-9", Concurrent, "a take waits for every open transaction that took an item"),
    mistake("transaction::purges_within", "J-2", Sequential, "a purge in a transaction is made, and locks what it meets"),
    mistake("transaction::joins_anything", "J-3", Sequential, "a call on a connection without a transaction is made"),
    mistake("transaction::told_as_an_outcome", "J-4", Sequential, "the end of a lease that is over is no error"),
    mistake("transaction::receipt_on_its_own", "J-5", Sequential, "a receipt is written although its transaction is rolled back"),
    // Stores as a whole.
    mistake("store::sets_up_once", "S-1", Sequential, "a second setup fails"),
    mistake("store::set_up_races", "S-1", Concurrent, "a setup fails while another is under way"),
    mistake("store::maintains_without_bound", "S-2", Sequential, "maintain deletes more than it was asked to"),
    mistake("store::maintains_too_much", "S-2", Sequential, "maintain forgets every claim that has ended"),
    mistake("store::forgets_within_an_hour", "IB-7", Sequential, "what has ended is remembered for an hour"),
    mistake("store::lowercases_names", "S-3", Edge, "namespaces whose names differ by case are one"),
    mistake("store::namespaces_of_one_client", "S-3", Sequential, "two clients do not share a namespace"),
    mistake("store::opens_any_way", "S-4", Sequential, "a namespace is opened otherwise than it was created"),
    mistake("store::keeps_the_skew", "S-4", Sequential, "a namespace is opened only with the skew that it was created with"),
    mistake("store::weaker_than_asked", "S-5", Sequential, "a strategy that it does not have becomes a weaker one"),
    mistake("store::forgets_a_second_early", "IB-7", Sequential, "what has ended is forgotten a second early"),
    mistake("store::sets_up_anew", "S-1", Sequential, "a second setup forgets which claims have ended"),
    mistake("store::maintains_one_page", "S-2", Sequential, "maintain leaves some for later, and says that nothing is left"),
];

#[cfg(test)]
mod tests {
    use super::*;
    use crate::suite::cases;

    #[test]
    fn file_of_noticed_mistakes_names_only_known_cases_and_mistakes() {
        let cases: Vec<_> = cases().iter().map(Case::name).collect();
        for line in NOTICED.lines() {
            let mut names = line.split(' ');
            let case = names.next().unwrap();
            assert!(cases.iter().any(|known| known == case), "{case} is no case");
            let unknown = names.find(|name| !MISTAKES.iter().any(|known| known.name == *name));
            assert_eq!(unknown, None, "a mistake that {case} notices");
        }
    }

    /// `Mistake::noticed_by` lists the mistakes that break the clause of the case before other mistakes.
    #[test]
    fn only_mistakes_that_fail_a_case_are_listed_for_the_case() {
        let causes = |name: &str| {
            let case = cases().into_iter().find(|case| case.name() == name).unwrap();
            Mistake::noticed_by(&case).iter().map(|mistake| mistake.name).collect::<Vec<_>>()
        };
        let stays = causes("item_bank::IB-7::an_item_that_was_taken_again_stays_with_its_holder");
        assert_eq!((stays[0], stays.contains(&"bank::retires_holders")), ("bank::stale_release_frees", false));
        let retired = causes("item_bank::IB-7::a_claim_is_answered_by_its_table");
        assert!(retired.contains(&"bank::retires_holders"), "{retired:?}");
    }
}
