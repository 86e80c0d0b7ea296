//! The clauses that the suite checks, and the table of the cases of each clause.

use std::fmt::Write;

use crate::suite::cases;

/// One promise of the contract.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Clause {
    /// The id, such as `IB-3`.
    pub id: &'static str,
    /// What the clause promises.
    pub promise: &'static str,
}

const fn clause(id: &'static str, promise: &'static str) -> Clause {
    Clause { id, promise }
}

/// Every clause, in the order of `docs/CONTRACT.md`.
pub const CLAUSES: &[Clause] = &[
    clause(
        "V-1",
        "a value that is empty, too long or holds U+0000 is refused before any I/O, by field, limit and length",
    ),
    clause("V-2", "texts are compared byte by byte; nothing is trimmed, folded or normalised"),
    clause("V-3", "payloads have up to 256 KiB; more is TooLarge; they come back byte for byte"),
    clause("V-4", "the Debug of an item, a payload or a reason shows its length alone"),
    clause("V-5", "claims are scoped by bank, operations by namespace and key; an item is one per bank"),
    clause("V-6", "durations are 1 ms to 100 years, checked before any I/O"),
    clause("ER-1", "only what surely changed nothing is NotApplied; everything else is Unknown"),
    clause(
        "ER-2",
        "an error names the operation, where there is one, and its advice the next step; never an item, a payload or a secret",
    ),
    clause("ER-3", "the driver's own error stays reachable through source()"),
    clause(
        "ER-4",
        "only what may be retried is repeated, a bounded number of times; the least certain attempt decides",
    ),
    clause("ER-5", "a refusal is an answer: an attempt of its call that arrives later changes nothing"),
    clause(
        "S-1",
        "setup is idempotent and safe from many callers at once; until then every call is refused as NotSetUp",
    ),
    clause("S-2", "maintain deletes only what no promise needs, a bounded amount per call"),
    clause("S-3", "namespaces of different names and kinds share nothing; handles of one name share one namespace"),
    clause("S-4", "a namespace is opened the way it was created"),
    clause("S-5", "what the backend cannot do is Unsupported, with what to use instead"),
    clause("S-8", "what was acknowledged is there for every process, also when its process or its server was killed"),
    clause("IB-1", "exclusive: at any moment an item is held by at most one claim"),
    clause("IB-2", "conserved: every item added is free, held, spent or withdrawn at every moment"),
    clause("IB-3", "same claim, same item, also from an empty bank; nothing is taken and the hold does not change"),
    clause("IB-4", "Empty is true: no item stayed free throughout the call; a lapsed hold counts as free"),
    clause("IB-5", "add is idempotent; a held or spent item is never handed to a second claim, whatever is added"),
    clause(
        "IB-6",
        "a hold ends at its time without a worker; confirm before it makes it permanent, after it says Expired",
    ),
    clause("IB-7", "a claim is single-use; release is idempotent and fences; retire ends the memory of an ended claim"),
    clause("IB-8", "any size: batches of any length, work per step bounded"),
    clause(
        "IB-9",
        "no order is promised; takers of different claims all get their item, and where several write, none waits for another",
    ),
    clause("IB-10", "counts are exact while no call is in progress; list shows an unchanged entry exactly once"),
    clause("A-1", "the same id gets the same item of one bank"),
    clause("A-2", "never two items for an id, nor one item for two ids"),
    clause("A-3", "a crash after any step loses nothing: a retry resumes and recover finishes"),
    clause("A-4", "an id that met an empty bank may choose another"),
    clause("D-1", "one winner"),
    clause("D-2", "all others see the winner's value"),
    clause("D-3", "the winner's own retry sees Again, not Existing"),
    clause("D-4", "retention is judged at read time; Forever exists"),
    clause(
        "D-5",
        "two-phase runs are fenced by a number that only grows; the same op gets the same lease while it lives",
    ),
    clause("D-6", "the same id with another fingerprint is Mismatch"),
    clause("D-7", "failures are not remembered; an id can be reset; versions never repeat, and forget leaves a fence"),
    clause("D-8", "run: at most one live lease and one recorded result, replayed to everyone"),
    clause("T-1", "linearizable per token"),
    clause("T-2", "what create acknowledged is seen by every reader"),
    clause("T-3", "after an error any part of a batch may exist now or later"),
    clause("T-4", "live tokens do not expire"),
    clause("T-5", "one of all concurrent consumers gets Now; an unknown token is AlreadyGone"),
    clause("T-6", "consume and discard are idempotent"),
    clause("T-7", "no resurrection: a gone token is not created again"),
    clause("T-8", "batches of any size, none included"),
    clause("T-9", "creating a live token changes nothing"),
    clause("T-10", "absent is an answer; errors are never turned into it"),
    clause("OT-1", "looking at a one-time token has no effect; a guess leaves no trace"),
    clause("OT-2", "of all commits of a one-time token one result is recorded, and none begins after that"),
    clause(
        "OT-3",
        "the caller who used a one-time token gets the recorded result again for its time, and no other does",
    ),
    clause("OT-4", "nothing is left of a used one-time token after that time"),
    clause(
        "E-1",
        "a commit is a compare-and-set on the version; an absent entity is created only if it is still absent",
    ),
    clause("E-2", "a commit changes the entity and adds its message's entry in one step, and changes no other entry"),
    clause("E-3", "of all attempts of an entry at most one is chosen"),
    clause("E-4", "no attempt is registered after one is chosen"),
    clause("E-5", "open is a strong read of one moment; an entry that stays is listed exactly once"),
    clause(
        "E-6",
        "a version never repeats for a key, also across a deletion, for as long as operation ids are remembered",
    ),
    clause("E-7", "remove is idempotent, and changes no later entry of the same message"),
    clause("E-8", "a ledger that joins tokens consumes and creates them in the step of the commit, or changes nothing"),
    clause("P-1", "the change of one run of the handler is stored, and only that run's messages are sent"),
    clause(
        "P-2",
        "every copy of a message that is sent carries the same id and token, which exists before the first copy",
    ),
    clause("P-3", "after a crash at any step the next copy, or resume, finishes what was begun"),
    clause(
        "P-4",
        "nothing is left of a finished message: no token, no entry, no token of an attempt that was given up",
    ),
    clause("C-1", "each operation is applied once, within what promise() says"),
    clause("C-2", "a bound is never crossed, not even for a moment"),
    clause("C-3", "AlreadyApplied answers the value stored with the operation"),
    clause("C-4", "an overflow changes nothing and says so"),
    clause("C-5", "the same operation with another delta is Mismatch"),
    clause("C-6", "what was acknowledged is seen by the next read"),
    clause("C-7", "the value is the sum of the applied operations, over all shards"),
    clause("C-8", "a rejection is not remembered; cancel fences an operation"),
    clause("C-9", "a log shows why each change was made; without a log a reason is Unsupported"),
    clause("O-1", "an older stamp never overwrites a newer one, whatever the order of arrival"),
    clause("O-2", "stamps are totally ordered: time, then writer, then delete over put"),
    clause("O-3", "a delete leaves a tombstone that reads never show and that outlives every older write"),
    clause("O-4", "a stamp too far ahead of the store's clock is refused, by default more than a day"),
    clause("O-5", "sequence numbers need no clock"),
    clause("O-6", "a reset removes a key of exactly the stamp that it names"),
    clause("J-1", "a call in a transaction of the caller takes effect with its commit, or not at all"),
    clause("J-2", "a call in a transaction is made once, one at a time, and never half"),
    clause("J-3", "a connection that is not in a transaction is refused before anything is applied"),
    clause("J-4", "what was done under a lease that is over cannot be completed and committed"),
    clause("J-5", "a receipt tells exactly whether its transaction was committed"),
];

/// Returns the table of clauses and their cases, as in `CLAUSES.md`.
pub fn table() -> String {
    let cases = cases();
    let mut text = String::from(
        "# Clauses and their cases\n\nGenerated by `cargo xtask clauses`. A case runs with \
         `cargo test --test conformance -- NAME`.\n\n| clause | promise | cases |\n|---|---|---|\n",
    );
    for clause in CLAUSES {
        let defended = cases.iter().filter(|case| case.clause() == clause.id);
        let names: Vec<_> = defended.map(|case| format!("`{}`", case.name())).collect();
        let _ = writeln!(text, "| {} | {} | {} |", clause.id, clause.promise, names.join("<br>"));
    }
    let _ = writeln!(text, "\n{} clauses, {} cases.", CLAUSES.len(), cases.len());
    text
}
