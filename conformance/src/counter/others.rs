//! The counter strategies that not every backend has.

use std::sync::Arc;
use std::time::Duration;

use storagebox_core::{Backend, Bounds, Counter, Error, ErrorKind, Remember, Strategy};

use super::Subject;
use crate::failure::{Failure, Verdict, ensure, ensure_eq};
use crate::world::World;

const OTHERS: [Strategy; 5] = [
    Strategy::Optimistic,
    Strategy::OptimisticHistory { len: 100 },
    Strategy::TransactionToken,
    Strategy::Ledger,
    Strategy::TokenSet { max: 100 },
];

const NAMES: [&str; 9] = [
    "Atomic",
    "Optimistic",
    "OptimisticHistory",
    "TransactionToken",
    "Marker",
    "Ledger",
    "TokenSet",
    "Window",
    "Sharded",
];

/// A strategy works, or the store refuses the strategy and names another strategy. A refusal leaves the namespace free
/// for another strategy.
pub(super) async fn other_strategies_work_or_name_a_better_one(world: &World) -> Verdict {
    for (number, strategy) in OTHERS.into_iter().enumerate() {
        let name = format!("namespace-{number}");
        match world.store().counter(&name.parse()?, strategy) {
            Ok(counter) => works(counter).await.map_err(|failure| failure.during(format!("{strategy:?}")))?,
            Err(error) => {
                ensure_names_another(strategy, &error)?;
                let instead = Subject::named(world.store(), &name, Strategy::default(), Bounds::NONE)?;
                ensure_eq!(instead.apply("op", 1).await?, instead.applied(1), "the default in its place");
            }
        }
    }
    Ok(())
}

/// `ledger` opens a working counter, or its error names another strategy.
pub(super) async fn a_ledger_is_there_or_names_a_better_strategy(world: &World) -> Verdict {
    match world.store().ledger(&"ledger".parse()?) {
        Ok(ledger) => works(ledger).await,
        Err(error) => ensure_names_another(Strategy::Ledger, &error),
    }
}

fn ensure_names_another(strategy: Strategy, error: &Error) -> Verdict {
    ensure_eq!(error.kind(), ErrorKind::Unsupported, "the kind of the refusal of {strategy:?}");
    let shown = format!("{strategy:?}");
    let own = shown.split_once(' ').map_or(&*shown, |(name, _)| name);
    let message = error.to_string();
    let mut words = message.split(|character: char| !character.is_alphanumeric());
    let named = words.any(|word| word != own && NAMES.contains(&word));
    ensure!(named, "the refusal of {strategy:?} names no other strategy: {message}");
    Ok(())
}

/// A counter promises at least the memory, the bounds and the capacity that its strategy asks for.
pub(super) async fn other_strategies_promise_what_they_were_asked_for(world: &World) -> Verdict {
    for (number, strategy) in OTHERS.into_iter().enumerate() {
        let promise = world.store().counter(&format!("namespace-{number}").parse()?, strategy)?.promise();
        let memory = promise.remember;
        ensure!(is_enough(strategy, memory), "{strategy:?} promises {memory:?}");
        let bounded = strategy != Strategy::Ledger;
        ensure_eq!(promise.bounds_per_change, bounded, "bounds of a change of {strategy:?}");
        let capacity = if let Strategy::TokenSet { max } = strategy { Some(max) } else { None };
        ensure_eq!(promise.capacity, capacity, "the capacity of {strategy:?}");
    }
    Ok(())
}

fn is_enough(strategy: Strategy, memory: Remember) -> bool {
    let writers = |least: u16| match memory {
        Remember::None | Remember::For(_) => false,
        Remember::Writers(last) => last >= least,
        Remember::Forever => true,
    };
    match strategy {
        Strategy::Optimistic => writers(1),
        Strategy::OptimisticHistory { len } => writers(len),
        Strategy::TransactionToken => {
            let ten_minutes = Duration::from_secs(600);
            memory == Remember::Forever || matches!(memory, Remember::For(time) if time >= ten_minutes)
        }
        _ => memory == Remember::Forever,
    }
}

async fn works(counter: Arc<dyn Counter>) -> Verdict {
    let counter = Subject::of(counter)?;
    ensure!(counter.promise().remember != Remember::None, "it promises to remember no operation");
    for (number, value) in (1..=5).zip([3, 6, 9, 12, 15]) {
        let op = format!("op-{number}");
        ensure_eq!(counter.apply(&op, 3).await?, counter.applied(value), "operation {number}");
        let _ = counter.apply(&op, 3).await.map_err(|failure: Failure| failure.during("a retry"))?;
        ensure_eq!(counter.value().await?, value, "the value after operation {number} and its retry");
    }
    Ok(())
}
