//! Lost replies, requests that land late or twice.

use std::collections::BTreeMap;

use fastrand::Rng;
use storagebox_core::{Bounds, Cancelled, Counted, ErrorKind, Result};

use super::{Kind, Subject};
use crate::failure::{Failure, Verdict, ensure, ensure_eq, ensure_matches};
use crate::link::{Fate, Link};
use crate::world::World;

pub(super) fn ensure_lost<T: std::fmt::Debug>(answer: Result<T>) -> Verdict {
    ensure_matches!(answer, Err(error) if error.kind() == ErrorKind::OutcomeUnknown, "a call whose reply is lost");
    Ok(())
}

pub(super) async fn lost_replies_are_found_again(world: &World, kind: Kind) -> Verdict {
    let counter = Subject::new(world, kind)?;
    let mut value = 0;
    for number in 0..6 {
        let reply_lost = number % 2 == 0;
        let far = counter.behind(&Link::script([if reply_lost { Fate::ReplyLost } else { Fate::RequestLost }]));
        let op = format!("op-{number}");
        ensure_lost(far.attempt(&op, 5).await)?;
        value += 5;
        let expected = if reply_lost { counter.already(value) } else { counter.applied(value) };
        ensure_eq!(far.apply(&op, 5).await?, expected, "a retry, with the reply lost: {reply_lost}");
        ensure_eq!(counter.value().await?, value, "the value after the retry");
        ensure_eq!(counter.apply(&op, 5).await?, counter.already(value), "a second retry");
        ensure_eq!(counter.apply(&op, 6).await?, Counted::Mismatch, "another delta");
    }
    Ok(())
}

pub(super) async fn requests_that_land_again_change_nothing(world: &World, kind: Kind) -> Verdict {
    let counter = Subject::new(world, kind)?;
    let mut value = 0;
    for number in 0..6 {
        let late = number % 2 == 0;
        let link = Link::script([if late { Fate::Late } else { Fate::Twice }]);
        let (far, op) = (counter.behind(&link), format!("op-{number}"));
        if late {
            ensure_lost(far.attempt(&op, 5).await)?;
        }
        value += 5;
        ensure_eq!(far.apply(&op, 5).await?, counter.applied(value), "the attempt that is answered");
        let first = value;
        value -= 2;
        ensure_eq!(counter.apply(&format!("{op}-other"), -2).await?, counter.applied(value), "another one");
        ensure_eq!(link.under_way(), 1, "requests under way");
        link.land().await;
        ensure_eq!(counter.value().await?, value, "the value after it landed again, late: {late}");
        ensure_eq!(counter.apply(&op, 5).await?, counter.already(first), "its retry after that");
    }
    Ok(())
}

/// Operations are applied and cancelled under faults, and each call is repeated until it is answered. In the end every
/// answer is still true, and the value is the sum of the applied operations.
pub(super) async fn random_faults_lose_and_double_nothing(world: &World, kind: Kind) -> Verdict {
    let bounds = kind.bounds(Bounds::between(0, 20)?);
    let (any, mut rng) = (Subject::within(world, kind, bounds)?, world.rng());
    for round in 0..world.profile().rounds * 2 {
        let counter = any.at(format!("round-{round}"))?;
        let link = Link::random(rng.u64(..), 30);
        let far = counter.behind(&link);
        let mut applied = BTreeMap::new();
        for number in 0..40 {
            let (op, delta) = (format!("op-{number}"), rng.i64(-5..=7));
            let was_applied = live(&far, &op, delta, &mut rng).await?;
            applied.insert(op, (delta, was_applied));
            if rng.u8(..4) == 0 {
                link.land().await;
            }
            let value = counter.value().await?;
            ensure!(bounds.contains(value), "the value {value} is outside {bounds:?}");
        }
        link.heal();
        link.land().await;
        check_ends(&counter, &applied).await?;
    }
    Ok(())
}

/// Applies or cancels an operation, and returns whether the operation was applied.
async fn live(far: &Subject, op: &str, delta: i64, rng: &mut Rng) -> Result<bool, Failure> {
    if rng.u8(..6) == 0 {
        // The operation is cancelled after one attempt, whatever the result of the attempt.
        let _ = far.attempt(op, delta).await;
        return was_applied_when_cancelled(far, op).await;
    }
    match far.apply_until_answered(op, delta).await? {
        Counted::Applied { .. } | Counted::AlreadyApplied { .. } => Ok(true),
        // An earlier attempt may still land: the fence makes the answer final.
        Counted::OutOfBounds => was_applied_when_cancelled(far, op).await,
        other => Err(Failure::new(format!("{op} with {delta} is answered {other:?}"))),
    }
}

async fn was_applied_when_cancelled(far: &Subject, op: &str) -> Result<bool, Failure> {
    match far.cancel_until_answered(op).await? {
        Cancelled::Cancelled => Ok(false),
        Cancelled::AlreadyApplied { .. } => Ok(true),
        Cancelled::Full => Err(Failure::new("a counter with room is answered Full")),
    }
}

async fn check_ends(counter: &Subject, applied: &BTreeMap<String, (i64, bool)>) -> Verdict {
    let sum: i64 = applied.values().filter(|(_, applied)| *applied).map(|(delta, _)| delta).sum();
    ensure_eq!(counter.value().await?, sum, "the value, and the sum of the acknowledged changes");
    for (op, (delta, was_applied)) in applied {
        let retried = counter.apply(op, *delta).await?;
        if *was_applied {
            ensure_matches!(retried, Counted::AlreadyApplied { .. }, "{op}, which was applied");
        } else {
            ensure_eq!(retried, Counted::Fenced, "{op}, which was cancelled");
        }
    }
    ensure_eq!(counter.value().await?, sum, "the value after all were tried again");
    Ok(())
}

/// On a strategy without cancel, each change is repeated until it is answered. Each change counts once.
pub(super) async fn random_faults_count_once_without_fences(world: &World, kind: Kind) -> Verdict {
    let (any, mut rng) = (Subject::new(world, kind)?, world.rng());
    for round in 0..world.profile().rounds * 2 {
        let counter = any.at(format!("round-{round}"))?;
        let link = Link::random(rng.u64(..), 30);
        let (far, mut sum) = (counter.behind(&link), 0);
        for number in 0..40 {
            let delta = rng.i64(-5..=7);
            let counted = far.apply_until_answered(&format!("op-{number}"), delta).await?;
            sum += delta;
            let expected = [counter.applied(sum), counter.already(sum)];
            ensure!(expected.contains(&counted), "{delta}, which makes {sum}, is answered {counted:?}");
            if rng.u8(..4) == 0 {
                link.land().await;
            }
            ensure_eq!(counter.value().await?, sum, "the value after operation {number}");
        }
        link.land().await;
        ensure_eq!(counter.value().await?, sum, "the value after everything landed");
    }
    Ok(())
}

/// If the store would not recognise a repetition, no retry policy repeats a change whose outcome is unknown.
pub(super) async fn changes_in_doubt_are_repeated_by_nobody(world: &World, kind: Kind) -> Verdict {
    let counter = Subject::new(world, kind)?;
    for (number, fate) in [Fate::RequestLost, Fate::ReplyLost, Fate::Late].into_iter().enumerate() {
        let before = counter.value().await?;
        let link = Link::script([fate]);
        let (far, op) = (counter.behind(&link), format!("op-{number}"));
        let answer = far.retried(&op, 5).await;
        ensure_matches!(answer, Err(error) if !error.is_retryable(), "a change whose fate is {fate:?}");
        link.land().await;
        let landed = if fate == Fate::RequestLost { 0 } else { 5 };
        ensure_eq!(counter.value().await?, before + landed, "the value after a change whose fate is {fate:?}");
    }
    Ok(())
}

/// A store that does not remember operations counts each attempt that lands, but never beyond the bound.
pub(super) async fn atomic_landings_count_each_up_to_the_bound(world: &World) -> Verdict {
    let (any, mut rng) = (Subject::within(world, Kind::Atomic, Bounds::at_most(20))?, world.rng());
    let fates = [Fate::Delivered, Fate::RequestLost, Fate::ReplyLost, Fate::Late, Fate::Twice];
    for round in 0..world.profile().rounds * 2 {
        let counter = any.at(format!("round-{round}"))?;
        let mut landings = 0;
        for number in 0..30 {
            let fate = fates[rng.usize(..fates.len())];
            let link = Link::script([fate]);
            let _ = counter.behind(&link).attempt(&format!("op-{number}"), 1).await;
            link.land().await;
            landings += match fate {
                Fate::RequestLost => 0,
                Fate::Delivered | Fate::ReplyLost | Fate::Late => 1,
                Fate::Twice => 2,
            };
            let value = counter.value().await?;
            ensure_eq!(value, landings.min(20), "the value after {landings} landings, the last {fate:?}");
        }
    }
    Ok(())
}
