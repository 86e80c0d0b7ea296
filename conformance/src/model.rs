//! Random sequences of calls. Each reply is compared with a sequential model, and a failing sequence is shrunk.

use std::fmt::Debug;
use std::future::Future;
use std::marker::PhantomData;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use proptest::prelude::*;
use proptest::strategy::BoxedStrategy;
use proptest::test_runner::{Config, RngAlgorithm, TestCaseError, TestRng, TestRunner};
use proptest_state_machine::ReferenceStateMachine;
use storagebox_core::{Backend, Result, Retention};
use tokio::runtime::Handle;

use crate::failure::{Failure, Verdict, ensure};
use crate::progress::bounded;
use crate::world::World;

/// The expected state of a namespace, as one caller sees it.
pub(crate) trait Model: Clone + Send + Sync + 'static {
    /// A call with its arguments, which come from small pools so that the calls conflict.
    type Call: Clone + Debug + Send + Sync + 'static;
    /// The handles that the calls use.
    type Namespaces: Send + Sync;

    fn calls() -> BoxedStrategy<Self::Call>;

    fn open(&self, store: &Arc<dyn Backend>) -> Result<Self::Namespaces>;

    /// Makes the call, compares the reply with the model, and updates the model.
    fn step(&mut self, namespaces: &Self::Namespaces, call: &Self::Call) -> impl Future<Output = Verdict> + Send;

    /// Moves the time of the model forward.
    fn pass(&mut self, duration: Duration);
}

#[derive(Clone, Debug)]
pub(crate) enum Step<C> {
    Call(C),
    /// A retry of an earlier call, with a copy of that call, so that shrinking may remove the original call.
    Retry(C),
    /// Opens a new client of the same sandbox.
    Reopen,
    /// Runs upkeep that deletes at most this many entries.
    Maintain(usize),
    Pass(Duration),
}

/// The most attempts to shorten a failing sequence.
const SHRINKS: u32 = 256;

struct Sequence<M>(PhantomData<M>);

pub(crate) const fn minutes(number: u64) -> Duration {
    // Models count in minutes. A clock that the suite moves may also run in real time, but by less than a minute per
    // sequence.
    Duration::from_secs(60 * number)
}

/// Returns the time for which a store must remember ended entries. After this time, a model accepts both answers,
/// because the store may remember the entries for longer.
pub(crate) fn memory() -> Duration {
    match Retention::DEFAULT {
        Retention::For(time) => time,
        Retention::Forever => Duration::MAX,
    }
}

/// Generates the length of a pause: mostly minutes, sometimes days.
fn pass() -> impl Strategy<Value = Duration> {
    // Within minutes, holds and leases end. Within days, the store may forget ended entries.
    prop_oneof![
        6 => prop_oneof![Just(1), Just(4), Just(11)].prop_map(minutes),
        1 => Just(memory() / 2),
        2 => Just(memory() + minutes(1)),
    ]
}

impl<M: Model> ReferenceStateMachine for Sequence<M> {
    type State = Vec<M::Call>;
    type Transition = Step<M::Call>;

    fn init_state() -> BoxedStrategy<Self::State> {
        Just(Vec::new()).boxed()
    }

    fn transitions(calls: &Self::State) -> BoxedStrategy<Self::Transition> {
        let maintain = prop_oneof![Just(1_usize), Just(100)].prop_map(Step::Maintain);
        let fresh = prop_oneof![
            12 => M::calls().prop_map(Step::Call),
            1 => Just(Step::Reopen),
            1 => maintain,
            2 => pass().prop_map(Step::Pass),
        ];
        if calls.is_empty() {
            return fresh.boxed();
        }
        let retry = prop::sample::select(calls.clone()).prop_map(Step::Retry);
        prop_oneof![4 => fresh, 1 => retry].boxed()
    }

    fn apply(mut calls: Self::State, step: &Self::Transition) -> Self::State {
        if let Step::Call(call) = step {
            calls.push(call.clone());
        }
        calls
    }
}

/// Runs random sequences of calls, each in a new sandbox, and compares the replies with the model.
pub(crate) async fn compare<M: Model>(world: &World, model: M) -> Verdict {
    let profile = world.profile();
    let config =
        Config { cases: profile.sequences, max_shrink_iters: SHRINKS, failure_persistence: None, ..Config::default() };
    let mut runner = TestRunner::new_with_rng(config, rng(world.seed()));
    let strategy = Sequence::<M>::sequential_strategy(1..profile.steps);
    let here = Handle::current();
    let attempt = |steps: &[Step<M::Call>], seen: Option<&AtomicUsize>| {
        let replay = bounded(replay(world, model.clone(), steps, seen));
        here.block_on(world.over().or(replay)).unwrap_or_else(|| Ok(Err(over()))).flatten()
    };
    let failed = Mutex::new(None);
    tokio::task::block_in_place(|| {
        let compared = runner.run(&strategy, |(_, steps, seen)| {
            attempt(&steps, seen.as_deref()).map_err(|failure| {
                let why = TestCaseError::fail(failure.to_string());
                *failed.lock().unwrap_or_else(PoisonError::into_inner) = Some((steps, failure));
                why
            })
        });
        let found = failed.into_inner().unwrap_or_else(PoisonError::into_inner);
        let found = found.map(|(steps, why)| shortened(steps, why, |steps| attempt(steps, None)));
        match (compared, found) {
            (Ok(()), _) => Ok(()),
            (Err(_), Some((steps, why))) => Err(why.after(listed(&steps))),
            (Err(why), None) => Err(Failure::new(format!("no sequence of calls could be generated: {why}"))),
        }
    })
}

/// Returns the failure of a sequence that did not end before the run was over. This failure also ends the shrinking,
/// because every further attempt fails at once.
fn over() -> Failure {
    Failure::new("the run is over")
}

/// Removes steps from a failing sequence until every further removal would make the sequence pass.
fn shortened<C: Clone>(
    mut steps: Vec<Step<C>>,
    mut why: Failure,
    attempt: impl Fn(&[Step<C>]) -> Verdict,
) -> (Vec<Step<C>>, Failure) {
    let (mut attempts, mut before) = (0, usize::MAX);
    // A removal can make a step unnecessary that was checked before, so the loop runs until nothing changes.
    while steps.len() < before {
        before = steps.len();
        for position in (0..before).rev() {
            if attempts == SHRINKS {
                return (steps, why);
            }
            attempts += 1;
            let others = [&steps[..position], &steps[position + 1..]].concat();
            if let Err(failure) = attempt(&others) {
                (steps, why) = (others, failure);
            }
        }
    }
    (steps, why)
}

/// Runs the steps, and counts in `seen` how many have begun. Shrinking first removes the steps that never began.
async fn replay<M: Model>(world: &World, mut model: M, steps: &[Step<M::Call>], seen: Option<&AtomicUsize>) -> Verdict {
    let world = world.another().await?;
    let mut namespaces = model.open(world.store())?;
    for step in steps {
        if let Some(seen) = seen {
            seen.fetch_add(1, Ordering::SeqCst);
        }
        match step {
            Step::Call(call) | Step::Retry(call) => {
                model.step(&namespaces, call).await.map_err(|failure| failure.during(format!("{call:?}")))?;
            }
            Step::Reopen => namespaces = model.open(&world.client().await?)?,
            Step::Maintain(most) => maintain(&world, *most).await?,
            // Waiting in real time would take too long. Expiry has its own cases.
            Step::Pass(_) if !world.can_travel() => {}
            Step::Pass(duration) if *duration >= memory() / 2 && !world.can_forget() => {}
            Step::Pass(duration) => {
                world.pass(*duration).await;
                model.pass(*duration);
            }
        }
    }
    Ok(())
}

/// Formats the steps as a numbered list.
fn listed<C: Debug>(steps: &[Step<C>]) -> String {
    let mut shown: Vec<String> = vec![];
    for step in steps {
        let text = match step {
            // A retry whose original was removed is shown as a call.
            Step::Retry(call) => Some(format!("{:?}", Step::Call(call))).filter(|first| !shown.contains(first)),
            _ => None,
        };
        shown.push(text.unwrap_or_else(|| format!("{step:?}")));
    }
    shown.iter().enumerate().map(|(number, text)| format!("\n{:>4}. {text}", number + 1)).collect()
}

async fn maintain(world: &World, most: usize) -> Verdict {
    let done = world.store().maintain(most).await?;
    ensure!(done.deleted <= most as u64, "upkeep deleted {} entries of at most {most}", done.deleted);
    Ok(())
}

fn rng(seed: u64) -> TestRng {
    let mut bytes = [0; 32];
    bytes[..8].copy_from_slice(&seed.to_le_bytes());
    TestRng::from_seed(RngAlgorithm::ChaCha, &bytes)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[derive(Clone)]
    struct Numbers;

    impl Model for Numbers {
        type Call = u8;
        type Namespaces = ();

        fn calls() -> BoxedStrategy<u8> {
            any::<u8>().boxed()
        }

        fn open(&self, _: &Arc<dyn Backend>) -> Result<()> {
            Ok(())
        }

        async fn step(&mut self, (): &(), _: &u8) -> Verdict {
            Ok(())
        }

        fn pass(&mut self, _: Duration) {}
    }

    /// Fails for a sequence that contains 3, 7 and 11 in this order, with any steps between them.
    fn fails(steps: &[Step<u8>]) -> Verdict {
        let mut missing = vec![11, 7, 3];
        for step in steps {
            if matches!(step, Step::Call(call) | Step::Retry(call) if missing.last() == Some(call)) {
                missing.pop();
            }
        }
        ensure!(!missing.is_empty(), "all came");
        Ok(())
    }

    #[test]
    fn a_sequence_is_shown_without_idle_steps() {
        let idle = || [Step::Reopen, Step::Call(3), Step::Maintain(1), Step::Pass(minutes(4))];
        let needed = [Step::Call(3), Step::Retry(7), Step::Call(11)];
        let steps: Vec<_> = needed.into_iter().flat_map(|step| [idle().as_slice(), &[step]].concat()).collect();
        let why = fails(&steps).unwrap_err();
        let (steps, why) = shortened(steps, why, fails);
        assert_eq!(listed(&steps), "\n   1. Call(3)\n   2. Call(7)\n   3. Call(11)");
        assert_eq!(why.to_string(), "all came");
    }

    #[test]
    fn shrinking_keeps_a_sequence_that_needs_every_step() {
        let steps = vec![Step::Call(3), Step::Call(7), Step::Call(11)];
        let (steps, why) = shortened(steps, Failure::new("the first"), fails);
        assert_eq!((steps.len(), why.to_string()), (3, "the first".to_owned()));
    }

    #[test]
    fn a_failing_retry_is_shown_without_the_calls_before_it() {
        for seed in 0..20 {
            let config =
                Config { cases: 200, max_shrink_iters: SHRINKS, failure_persistence: None, ..Config::default() };
            let strategy = Sequence::<Numbers>::sequential_strategy(1..60);
            let (mut runner, shortest) = (TestRunner::new_with_rng(config, rng(seed)), Mutex::new(vec![]));
            let found = runner.run(&strategy, |(_, steps, seen)| {
                for (number, step) in steps.iter().enumerate() {
                    let _begun = seen.as_ref().map(|seen| seen.fetch_add(1, Ordering::SeqCst));
                    if matches!(step, Step::Retry(call) if *call > 200) {
                        *shortest.lock().unwrap_or_else(PoisonError::into_inner) = steps[..=number].to_vec();
                        return Err(TestCaseError::fail("a large number came again"));
                    }
                }
                Ok(())
            });
            assert!(found.is_err(), "seed {seed}: no retry failed");
            let shortest = shortest.into_inner().unwrap_or_else(PoisonError::into_inner);
            assert!(shortest.len() <= 3, "seed {seed}:{}", listed(&shortest));
        }
    }
}
