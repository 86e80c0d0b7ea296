//! Recorded histories of concurrent clients. Some order of the calls must explain each history.

use std::collections::BTreeMap;
use std::sync::Arc;

use fastrand::Rng;
use storagebox_core::{Bounds, Cancelled, Counted, Remember, Result};

use super::{Kind, Subject};
use crate::failure::{Verdict, ensure};
use crate::history::{Limits, Recorder, Specification, check};
use crate::race::{race, recorded};
use crate::world::World;

#[derive(Clone, Copy, Debug)]
enum Call {
    Apply(u8, i64),
    Cancel(u8),
    Value,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Reply {
    Counted(Counted),
    Cancelled(Cancelled),
    Value(i64),
}

/// The value of a counter, and its operations: `None` if cancelled, otherwise the delta and the answered value.
type State = (i64, BTreeMap<u8, Option<(i64, Option<i64>)>>);

struct OneKey {
    /// The bounds of each change, or no bounds for `Sharded`, which may check its shards at different moments.
    bounds: Bounds,
    remembers: bool,
    /// Whether the counter remembers only the last writer.
    only_the_last: bool,
    tells_repeats: bool,
    answers_value: bool,
}

impl OneKey {
    fn told(&self, value: i64) -> Option<i64> {
        self.answers_value.then_some(value)
    }

    fn apply(&self, state: &State, op: u8, delta: i64) -> (State, Counted) {
        let (value, ops) = state;
        match ops.get(&op) {
            Some(None) => return (state.clone(), Counted::Fenced),
            Some(Some((known, _))) if *known != delta => return (state.clone(), Counted::Mismatch),
            Some(Some((_, then))) if self.tells_repeats => {
                return (state.clone(), Counted::AlreadyApplied { value: *then });
            }
            Some(Some((_, then))) => return (state.clone(), Counted::Applied { value: *then }),
            None => {}
        }
        let result = value + delta;
        if !self.bounds.contains(result) {
            return (state.clone(), Counted::OutOfBounds);
        }
        let mut ops = if self.only_the_last { BTreeMap::new() } else { ops.clone() };
        if self.remembers {
            ops.insert(op, Some((delta, self.told(result))));
        }
        ((result, ops), Counted::Applied { value: self.told(result) })
    }

    fn cancel(&self, state: &State, op: u8) -> (State, Cancelled) {
        let (value, mut ops) = state.clone();
        match ops.entry(op).or_insert(None) {
            None => ((value, ops), Cancelled::Cancelled),
            Some((_, then)) => {
                let told = *then;
                ((value, ops), Cancelled::AlreadyApplied { value: told })
            }
        }
    }
}

impl Specification for OneKey {
    type State = State;
    type Op = Call;
    type Reply = Reply;

    fn initial(&self) -> State {
        State::default()
    }

    fn step(&self, state: &State, call: &Call) -> Vec<(State, Reply)> {
        let (state, reply) = match *call {
            Call::Apply(op, delta) => {
                let (state, counted) = self.apply(state, op, delta);
                (state, Reply::Counted(counted))
            }
            Call::Cancel(op) => {
                let (state, cancelled) = self.cancel(state, op);
                (state, Reply::Cancelled(cancelled))
            }
            Call::Value => (state.clone(), Reply::Value(state.0)),
        };
        vec![(state, reply)]
    }
}

impl Call {
    /// Returns a random call. `powers` says whether the counter supports fences and snapshots.
    fn random(rng: &mut Rng, powers: (bool, bool)) -> Self {
        let (fences, snapshot) = powers;
        // There are few operation ids, so calls conflict.
        match rng.u8(..10) {
            0 if fences => Self::Cancel(rng.u8(..12)),
            1..=3 if snapshot => Self::Value,
            _ => Self::Apply(rng.u8(..12), [-3, 1, 1, 2][rng.usize(..4)]),
        }
    }

    async fn make(self, counter: &Subject) -> Result<Reply> {
        Ok(match self {
            Self::Apply(op, delta) => Reply::Counted(counter.attempt(&format!("op-{op}"), delta).await?),
            Self::Cancel(op) => Reply::Cancelled(counter.attempt_cancel(&format!("op-{op}")).await?),
            Self::Value => Reply::Value(counter.counter.value(&counter.key).await?),
        })
    }
}

pub(super) async fn histories_are_linearizable(world: &World, kind: Kind) -> Verdict {
    let bounds = if kind == Kind::Sharded { Bounds::NONE } else { kind.bounds(Bounds::between(-2, 5)?) };
    let (any, mut rng) = (Subject::within(world, kind, bounds)?, world.rng());
    let promise = any.promise();
    let specification = OneKey {
        bounds,
        remembers: promise.remember != Remember::None,
        only_the_last: kind == Kind::Optimistic,
        tells_repeats: any.tells_repeats(),
        answers_value: promise.answers_value,
    };
    let powers = (kind.fences(), promise.snapshot);
    for round in 0..world.profile().rounds * 6 {
        let counter = any.at(format!("round-{round}"))?;
        let (recorder, seed) = (Arc::new(Recorder::new()), rng.u64(..));
        race(8, |client| {
            let (counter, recorder) = (counter.clone(), Arc::clone(&recorder));
            let rng = Rng::with_seed(seed.wrapping_add(client as u64));
            async move { record(&counter, &recorder, client, powers, rng).await }
        })
        .await?;
        let verdict = check(&specification, &recorder.history(), Limits::default());
        ensure!(verdict.is_linearizable(), "round {round}: {verdict}");
    }
    Ok(())
}

async fn record(
    counter: &Subject,
    recorder: &Recorder<Call, Reply>,
    client: usize,
    powers: (bool, bool),
    mut rng: Rng,
) -> Verdict {
    for _ in 0..6 {
        let call = Call::random(&mut rng, powers);
        let pending = recorder.invoke(client, call);
        // Without a reply the attempt may have had an effect or not, and stays pending.
        if let Some(reply) = recorded(|| call.make(counter)).await? {
            pending.respond(reply);
        }
    }
    Ok(())
}
