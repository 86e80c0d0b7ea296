//! Runs the families of cases that need a server on the memory store behind a connection. The correct store passes, and
//! the suite catches each client and server with one mistake.

mod client;
mod harness;
mod locks;
mod server;
mod wire;

use std::process::ExitCode;

use libtest_mimic::{Arguments, Failed, Trial};
use storagebox_conformance::Family::{Cancel, Crash, Network};
use storagebox_conformance::{Case, FailureKind, Family, Outcome, Part, Profile, Runner, Selection, cases};

use crate::client::Mistake;
use crate::harness::Wired;
use crate::locks::Locks;

const SMOKE: Profile = Profile::SMOKE;

/// The clients that lock before they write. All of them are correct.
const LOCKING: [Locks; 4] = [Locks::Row, Locks::RowForAMoment, Locks::RowUntilCommit, Locks::Store];

/// Each mistake of a client, what the client locks, the family that must notice the mistake, and a part that has cases
/// of the family.
const MUTANTS: [(Mistake, Locks, Family, &str); 16] = [
    (Mistake::SaysNotApplied, Locks::None, Network, "item_bank"),
    (Mistake::SaysNotApplied, Locks::None, Network, "dedup"),
    (Mistake::SaysNotApplied, Locks::None, Network, "tokens"),
    (Mistake::SaysNotApplied, Locks::None, Network, "counter"),
    (Mistake::SaysNotApplied, Locks::None, Network, "strategies"),
    (Mistake::SaysNotApplied, Locks::None, Network, "ordered"),
    (Mistake::SaysNotRetryable, Locks::None, Network, "tokens"),
    (Mistake::KeepsCutConnections, Locks::None, Network, "dedup"),
    (Mistake::KeepsDroppedConnections, Locks::None, Cancel, "counter"),
    (Mistake::LosesWhatFollowsADrop, Locks::None, Cancel, "ordered"),
    (Mistake::RemembersBeforeItCounts, Locks::None, Network, "counter"),
    (Mistake::RepeatsInDoubt, Locks::None, Network, "counter"),
    (Mistake::LosesAllInAKill, Locks::None, Crash, "item_bank"),
    (Mistake::SaysNotApplied, Locks::RowUntilCommit, Network, "item_bank"),
    (Mistake::RepeatsInDoubt, Locks::RowUntilCommit, Network, "counter"),
    (Mistake::CommitsWhatWasRefused, Locks::None, Network, "errors"),
];

/// The prefixes of the reasons for which a case may be ignored.
const LEFT_OUT: [&str; 2] = ["without entities: ", "without other processes: "];

fn main() -> ExitCode {
    let seed = fastrand::Rng::new().u64(..);
    let right = cases().into_iter().filter(|case| needs_a_server(case) && is_spoken(case));
    let right = right.map(|case| trial("right", case, Profile::QUICK, Locks::None, seed));
    let smoke = Selection::Smoke.cases().into_iter().filter(is_spoken);
    let smoke = smoke.map(|case| trial("smoke", case, SMOKE, Locks::None, seed));
    let locking = LOCKING.into_iter().flat_map(|locks| {
        let cut = cases().into_iter().filter(|case| case.family() == Network && is_spoken(case));
        cut.map(move |case| trial(&format!("{locks:?}"), case, SMOKE, locks, seed))
    });
    let mutants = MUTANTS.map(|(mistake, locks, family, part)| {
        let name = format!("mutant::{mistake:?} in {part}, {locks:?}");
        Trial::test(name, move || is_caught(mistake, locks, family, part, seed))
    });
    println!("memory behind a connection, seed {seed}");
    let trials = right.chain(smoke).chain(locking).chain(mutants).collect();
    // Most cases wait for locks.
    let mut arguments = Arguments::from_args();
    arguments.test_threads = arguments.test_threads.or(Some(16));
    libtest_mimic::run(&arguments, trials).exit_code()
}

/// Returns whether the protocol between this client and this server supports the case.
fn is_spoken(case: &Case) -> bool {
    // The protocol has no entities, and the harness begins no transactions of callers.
    !matches!(case.part(), Part::Entities | Part::JoinedEntities | Part::Transactions)
}

fn needs_a_server(case: &Case) -> bool {
    matches!(case.family(), Cancel | Network | Crash)
}

fn trial(group: &str, case: Case, profile: Profile, locks: Locks, seed: u64) -> Trial {
    Trial::test(format!("{group}::{}", case.name()), move || passes(&case, profile, locks, seed))
}

fn passes(case: &Case, profile: Profile, locks: Locks, seed: u64) -> Result<(), Failed> {
    match Runner::new(Wired(Mistake::None, locks), profile)?.run(case, seed) {
        Outcome::Passed => Ok(()),
        Outcome::Ignored(reason) if LEFT_OUT.iter().any(|what| reason.starts_with(what)) => Ok(()),
        Outcome::Ignored(reason) => Err(format!("{case:?} was ignored: {reason}").into()),
        Outcome::Failed(failure) => Err(format!("{case:?}, seed {seed}: {failure}").into()),
    }
}

fn is_caught(mistake: Mistake, locks: Locks, family: Family, part: &str, seed: u64) -> Result<(), Failed> {
    let runner = Runner::new(Wired(mistake, locks), SMOKE)?;
    let against = cases().into_iter().filter(|case| case.family() == family && case.part().name() == part);
    for case in against {
        if let Outcome::Failed(failure) = runner.run(&case, seed) {
            println!("{mistake:?} by {}: {failure}", case.name());
            return if failure.kind() == FailureKind::Broken { Ok(()) } else { Err(failure.to_string().into()) };
        }
    }
    Err(format!("{mistake:?} survived {family:?} in {part}, seed {seed}").into())
}
