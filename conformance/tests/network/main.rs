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
const LOCKING: [Locks; 3] = [Locks::Row, Locks::RowForAMoment, Locks::Store];

/// Each mistake, the family that must notice it, and a part that has cases of the family.
const MUTANTS: [(Mistake, Family, &str); 13] = [
    (Mistake::SaysNotApplied, Network, "item_bank"),
    (Mistake::SaysNotApplied, Network, "dedup"),
    (Mistake::SaysNotApplied, Network, "tokens"),
    (Mistake::SaysNotApplied, Network, "counter"),
    (Mistake::SaysNotApplied, Network, "strategies"),
    (Mistake::SaysNotApplied, Network, "ordered"),
    (Mistake::SaysNotRetryable, Network, "tokens"),
    (Mistake::KeepsCutConnections, Network, "dedup"),
    (Mistake::KeepsDroppedConnections, Cancel, "counter"),
    (Mistake::LosesWhatFollowsADrop, Cancel, "ordered"),
    (Mistake::RemembersBeforeItCounts, Network, "counter"),
    (Mistake::RepeatsInDoubt, Network, "counter"),
    (Mistake::LosesAllInAKill, Crash, "item_bank"),
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
    let mutants = MUTANTS.map(|(mistake, family, part)| {
        Trial::test(format!("mutant::{mistake:?} in {part}"), move || is_caught(mistake, family, part, seed))
    });
    println!("memory behind a connection, seed {seed}");
    let trials = right.chain(smoke).chain(locking).chain(mutants).collect();
    libtest_mimic::run(&Arguments::from_args(), trials).exit_code()
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

fn is_caught(mistake: Mistake, family: Family, part: &str, seed: u64) -> Result<(), Failed> {
    let runner = Runner::new(Wired(mistake, Locks::None), SMOKE)?;
    let against = cases().into_iter().filter(|case| case.family() == family && case.part().name() == part);
    for case in against {
        if let Outcome::Failed(failure) = runner.run(&case, seed) {
            println!("{mistake:?} by {}: {failure}", case.name());
            return if failure.kind() == FailureKind::Broken { Ok(()) } else { Err(failure.to_string().into()) };
        }
    }
    Err(format!("{mistake:?} survived {family:?} in {part}, seed {seed}").into())
}
