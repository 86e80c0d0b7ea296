//! Changes of counters, each made twice.

use storagebox::counters::Bounds;
use storagebox::{Counted, Counters, Result, Retention, Store, Strategy};

use super::wrong;
use crate::caller::{Caller, MEMORY, Wrong};

/// The number of keys per caller and strategy.
const KEYS: u32 = 3;
/// The capacity of a window, larger than the number of operations that a store remembers at once.
const CAPACITY: u32 = 2_000;
const SHARDS: u16 = 4;

/// The counters of one strategy, with the expected value of each of the caller's keys.
struct Counting {
    counters: Counters,
    totals: [i64; KEYS as usize],
}

pub(super) struct Counts(Vec<Counting>);

impl Counts {
    pub(super) fn of(store: &Store) -> Result<Self> {
        let retention = Retention::For(MEMORY);
        let strategies = [
            ("soak-marker", Strategy::Marker { retention }),
            ("soak-window", Strategy::Window { lifetime: MEMORY, capacity: CAPACITY }),
            ("soak-sharded", Strategy::Sharded { shards: SHARDS, bounds: Bounds::NONE, retention }),
        ];
        let of = |(name, strategy)| Ok(Counting { counters: store.counters_with(name, strategy)?, totals: [0; 3] });
        strategies.into_iter().map(of).collect::<Result<_>>().map(Self)
    }

    pub(super) async fn one(&mut self, caller: &mut Caller) -> Result<(), Wrong> {
        let chosen = fastrand::usize(..self.0.len());
        self.0[chosen].one(caller).await
    }
}

impl Counting {
    async fn one(&mut self, caller: &mut Caller) -> Result<(), Wrong> {
        let (number, op, delta) = (fastrand::usize(..self.totals.len()), caller.fresh(), fastrand::i64(-3..=3));
        let key = format!("{}-{number}", caller.name);
        let add = || self.counters.add(key.as_str(), delta).by(op.as_str());
        match caller.answer("add", add).await? {
            Counted::Applied { .. } | Counted::AlreadyApplied { .. } => self.totals[number] += delta,
            other => return Err(wrong("add", other)),
        }
        match caller.answer("add again", add).await? {
            Counted::AlreadyApplied { .. } => {}
            other => return Err(wrong("the same change again", other)),
        }
        match caller.answer("value", || self.counters.value(key.as_str())).await? {
            value if value == self.totals[number] => Ok(()),
            other => Err(format!("{key} is {other} instead of {}", self.totals[number])),
        }
    }
}
