//! Many concurrent callers.

use std::collections::BTreeSet;

use storagebox_core::{Bounds, Counted};

use super::subject::HOUR;
use super::{Kind, Subject};
use crate::failure::{Failure, Verdict, ensure, ensure_eq};
use crate::race::{SIZES, race};
use crate::world::World;

fn applied(answers: &[Counted]) -> impl Iterator<Item = &Counted> {
    answers.iter().filter(|answer| matches!(answer, Counted::Applied { .. }))
}

/// Concurrent callers send one operation id with two different deltas. Only the delta that arrives first is applied.
pub(super) async fn races_of_one_operation_apply_it_once(world: &World, kind: Kind) -> Verdict {
    let any = Subject::new(world, kind)?;
    for round in 0..world.profile().rounds * 4 {
        for size in SIZES {
            let counter = any.at(format!("{round}-{size}"))?;
            let delta = |number: usize| if number.is_multiple_of(3) { 4 } else { 3 };
            let answers = race(size, |number| {
                let counter = counter.clone();
                async move { counter.apply("op", delta(number)).await }
            })
            .await?;
            if counter.tells_repeats() {
                ensure_eq!(applied(&answers).count(), 1, "calls of one operation that were applied");
            }
            let value = counter.value().await?;
            ensure!([3, 4].contains(&value), "the value after one operation of 3 or 4 is {value}");
            for (number, answer) in answers.iter().enumerate() {
                let expected = match delta(number) == value {
                    true => [counter.applied(value), counter.already(value)],
                    false => [Counted::Mismatch; 2],
                };
                ensure!(expected.contains(answer), "{} when {value} won: {answer:?}", delta(number));
            }
        }
    }
    Ok(())
}

/// At each bound, the counter applies exactly as many changes as fit.
pub(super) async fn callers_never_cross_a_bound(world: &World, kind: Kind) -> Verdict {
    let any = Subject::within(world, kind, Bounds::between(0, 20)?)?;
    for round in 0..world.profile().rounds * 2 {
        for size in SIZES {
            let room = size.min(40) / 2;
            for (direction, start) in [(-1, room), (1, 20 - room)] {
                let counter = any.at(format!("{round}/{size}/{direction}"))?;
                let _ = counter.apply("start", i64::try_from(start).unwrap_or_default()).await?;
                let answers = race(size, |number| {
                    let counter = counter.clone();
                    async move { counter.apply(&format!("op-{number}"), direction).await }
                })
                .await?;
                let rejected = answers.iter().filter(|answer| **answer == Counted::OutOfBounds).count();
                ensure_eq!(applied(&answers).count(), room, "changes of {size} that had room for {room}");
                ensure_eq!(rejected, size - room, "changes of {size} that had none");
                let bound = if direction < 0 { 0 } else { 20 };
                ensure_eq!(counter.value().await?, bound, "the value at the bound");
            }
        }
    }
    Ok(())
}

/// No reader ever sees a value outside the bounds, and the value is the sum of the applied changes.
pub(super) async fn traffic_stays_between_its_bounds(world: &World, kind: Kind) -> Verdict {
    let bounds = Bounds::between(-3, 6)?;
    let (any, mut rng) = (Subject::within(world, kind, bounds)?, world.rng());
    for round in 0..world.profile().rounds * 2 {
        let counter = any.at(format!("round-{round}"))?;
        let deltas: Vec<i64> = std::iter::repeat_with(|| rng.i64(-4..=4)).take(24 * 6).collect();
        let sums = race(24, |number| {
            let (counter, deltas) = (counter.clone(), deltas[number * 6..][..6].to_vec());
            async move { change_and_look(&counter, bounds, number, &deltas).await }
        })
        .await?;
        let (sum, value): (i64, i64) = (sums.iter().sum(), counter.value().await?);
        ensure_eq!(value, sum, "the value, and the sum of what was applied");
        ensure!(bounds.contains(value), "the value {value} is outside {bounds:?}");
    }
    Ok(())
}

/// Applies the deltas, checks that the value stays within the bounds, and returns the sum of the applied deltas.
async fn change_and_look(counter: &Subject, bounds: Bounds, number: usize, deltas: &[i64]) -> Result<i64, Failure> {
    let (mut sum, snapshot) = (0, counter.promise().snapshot);
    for (step, delta) in deltas.iter().enumerate() {
        match counter.apply(&format!("op-{number}-{step}"), *delta).await? {
            Counted::Applied { value } => {
                let within = value.is_none_or(|value| bounds.contains(value));
                ensure!(within, "{delta} was applied within {bounds:?} and led to {value:?}");
                sum += delta;
            }
            Counted::OutOfBounds => {}
            other => return Err(Failure::new(format!("a new operation is answered {other:?}"))),
        }
        let value = counter.value().await?;
        // A read that is not a snapshot may add up shards of different moments.
        ensure!(!snapshot || bounds.contains(value), "the value is seen at {value} within {bounds:?}");
    }
    Ok(sum)
}

/// A caller sees its own changes on every client.
pub(super) async fn callers_see_their_own_changes(world: &World, kind: Kind) -> Verdict {
    let mine = Subject::new(world, kind)?;
    let other = Subject::open(&world.client().await?, kind.strategy(Bounds::NONE, HOUR), Bounds::NONE)?;
    for round in 0..world.profile().rounds {
        let key = format!("round-{round}");
        let (mine, other) = (mine.at(&*key)?, other.at(key)?);
        race(24, |number| {
            let clients = [mine.clone(), other.clone()];
            async move {
                let mut seen = 0;
                for step in 0..6 {
                    let _ = clients[0].apply(&format!("op-{number}-{step}"), 1).await?;
                    for client in clients.iter().rev() {
                        let value = client.value().await?;
                        // All changes are positive.
                        ensure!(value > seen, "{value} is seen after {seen} and a change that was applied");
                    }
                    seen = clients[1].value().await?;
                }
                Ok(())
            }
        })
        .await?;
        ensure_eq!(other.value().await?, 24 * 6, "the value after 144 changes");
    }
    Ok(())
}

/// The value is the sum of all changes. If the answers contain values, no two answers contain the same value.
pub(super) async fn races_add_up(world: &World, kind: Kind) -> Verdict {
    let any = Subject::new(world, kind)?;
    let elsewhere = Subject::open(&world.client().await?, kind.strategy(Bounds::NONE, HOUR), Bounds::NONE)?;
    for round in 0..world.profile().rounds {
        for size in SIZES {
            let key = format!("{round}-{size}");
            let (counter, other) = (any.at(key.as_str())?, elsewhere.at(key)?);
            let answers = race(size, |number| {
                let counter = if number % 2 == 0 { counter.clone() } else { other.clone() };
                async move { add_three(&counter, number).await }
            })
            .await?
            .concat();
            let sum = i64::try_from(3 * size * (size + 1) / 2).unwrap_or_default();
            ensure_eq!(counter.value().await?, sum, "the sum of {} changes", 3 * size);
            ensure_eq!(applied(&answers).count(), 3 * size, "changes that were applied");
            if counter.promise().answers_value {
                let distinct: BTreeSet<_> = answers.iter().map(|answer| format!("{answer:?}")).collect();
                ensure_eq!(distinct.len(), 3 * size, "distinct values that they were answered");
                let last = format!("{:?}", counter.applied(sum));
                ensure!(distinct.contains(&last), "no change was answered with the last value, {sum}");
            }
        }
    }
    Ok(())
}

async fn add_three(counter: &Subject, number: usize) -> Result<Vec<Counted>, Failure> {
    let delta = i64::try_from(number + 1).unwrap_or_default();
    let mut answers = Vec::new();
    for step in 0..3 {
        answers.push(counter.apply(&format!("op-{number}-{step}"), delta).await?);
    }
    Ok(answers)
}
