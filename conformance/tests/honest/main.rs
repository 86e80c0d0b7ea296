//! Honest stores that a suite could mistake for broken ones: each keeps every promise, and has a trait that real
//! backends have and the memory store does not. Every case must pass on them.

mod contention;
mod latency;

use std::process::ExitCode;

use libtest_mimic::{Arguments, Failed, Trial};
use storagebox_conformance::{Case, Harness, Outcome, Profile, Runner, cases};

use crate::latency::Remote;

/// The number of cases that run at once: more than cores, because some cases mostly wait.
const AT_ONCE: usize = 8;

fn main() -> ExitCode {
    let seed = fastrand::Rng::new().u64(..);
    println!("honest stores, seed {seed}");
    let contended = cases().into_iter().map(|case| trial("contention", case, seed, contention::harness));
    let remote = cases().into_iter().filter(latency::is_timed);
    let remote = remote.map(|case| trial("latency", case, seed, || Remote));
    let mut arguments = Arguments::from_args();
    arguments.test_threads.get_or_insert(AT_ONCE);
    libtest_mimic::run(&arguments, remote.chain(contended).collect()).exit_code()
}

fn trial<H: Harness>(store: &str, case: Case, seed: u64, harness: fn() -> H) -> Trial {
    Trial::test(format!("{store}::{}", case.name()), move || passes(harness(), &case, seed))
}

fn passes(harness: impl Harness, case: &Case, seed: u64) -> Result<(), Failed> {
    match Runner::new(harness, Profile::SMOKE)?.run(case, seed) {
        Outcome::Failed(failure) => Err(format!("seed {seed}: {:?}: {failure}", failure.kind()).into()),
        Outcome::Passed | Outcome::Ignored(_) => Ok(()),
    }
}
