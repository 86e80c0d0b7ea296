//! Runs the families of cases that need a server on the memory store behind a connection. The correct store passes, and
//! the suite catches each client and server with one mistake.

mod client;
mod harness;
mod server;
mod wire;

use std::process::ExitCode;

use libtest_mimic::{Arguments, Failed, Trial};
use storagebox_conformance::Family::{Cancel, Crash, Network};
use storagebox_conformance::{Case, FailureKind, Family, Outcome, Part, Profile, Runner, Selection, cases};

use crate::client::Mistake;
use crate::harness::Wired;

/// Each mistake, the family that must notice it, and a part that has cases of the family.
const MUTANTS: [(Mistake, Family, &str); 8] = [
    (Mistake::SaysNotApplied, Network, "item_bank"),
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
    let right = cases()
        .into_iter()
        .filter(|case| needs_a_server(case) && is_spoken(case))
        .map(|case| Trial::test(format!("right::{}", case.name()), move || passes(&case, Profile::QUICK, seed)));
    let smoke = Selection::Smoke
        .cases()
        .into_iter()
        .filter(is_spoken)
        .map(|case| Trial::test(format!("smoke::{}", case.name()), move || passes(&case, Profile::SMOKE, seed)));
    let mutants = MUTANTS.map(|(mistake, family, part)| {
        Trial::test(format!("mutant::{mistake:?}"), move || is_caught(mistake, family, part, seed))
    });
    println!("memory behind a connection, seed {seed}");
    libtest_mimic::run(&Arguments::from_args(), right.chain(smoke).chain(mutants).collect()).exit_code()
}

/// Returns whether the protocol between this client and this server supports the case.
fn is_spoken(case: &Case) -> bool {
    // The protocol has no entities, and the harness begins no transactions of callers.
    !matches!(case.part(), Part::Entities | Part::JoinedEntities | Part::Transactions)
}

fn needs_a_server(case: &Case) -> bool {
    matches!(case.family(), Cancel | Network | Crash)
}

fn passes(case: &Case, profile: Profile, seed: u64) -> Result<(), Failed> {
    match Runner::new(Wired(Mistake::None), profile)?.run(case, seed) {
        Outcome::Passed => Ok(()),
        Outcome::Ignored(reason) if LEFT_OUT.iter().any(|what| reason.starts_with(what)) => Ok(()),
        Outcome::Ignored(reason) => Err(format!("{case:?} was ignored: {reason}").into()),
        Outcome::Failed(failure) => Err(format!("{case:?}, seed {seed}: {failure}").into()),
    }
}

fn is_caught(mistake: Mistake, family: Family, part: &str, seed: u64) -> Result<(), Failed> {
    let runner = Runner::new(Wired(mistake), Profile::SMOKE)?;
    let against = cases().into_iter().filter(|case| case.family() == family && case.part().name() == part);
    for case in against {
        if let Outcome::Failed(failure) = runner.run(&case, seed) {
            println!("{mistake:?} by {}: {failure}", case.name());
            return if failure.kind() == FailureKind::Broken { Ok(()) } else { Err(failure.to_string().into()) };
        }
    }
    Err(format!("{mistake:?} survived {family:?} in {part}, seed {seed}").into())
}
