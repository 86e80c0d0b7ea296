//! The strategies that not every backend has.

use std::sync::Arc;

use storagebox_core::{Bounds, Counter, Error, ErrorKind, Memory, StoreExt, Strategy};

use super::Subject;
use crate::case::Verdict;
use crate::failure::{Failure, ensure, ensure_eq};
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

/// A box that could not be opened is not there, and its name is free for a strategy that works.
pub(super) async fn other_strategies_work_or_name_a_better_one(world: &World) -> Verdict {
    for (number, strategy) in OTHERS.into_iter().enumerate() {
        let name = format!("box-{number}");
        match world.store().counters(&*name, strategy) {
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

/// Each of them remembers operations, so one that promises none is another strategy in disguise.
async fn works(counter: Arc<dyn Counter>) -> Verdict {
    let counter = Subject::of(counter)?;
    ensure!(counter.promise().memory != Memory::None, "it promises to remember no operation");
    for (number, value) in (1..=5).zip([3, 6, 9, 12, 15]) {
        let op = format!("op-{number}");
        ensure_eq!(counter.apply(&op, 3).await?, counter.applied(value), "operation {number}");
        counter.apply(&op, 3).await.map_err(|failure: Failure| failure.during("a retry"))?;
        ensure_eq!(counter.value().await?, value, "the value after operation {number} and its retry");
    }
    Ok(())
}
