//! The model of ordered values with sequence numbers, for one caller.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use proptest::prelude::*;
use proptest::strategy::BoxedStrategy;
use storagebox_core::{Backend, Key, OrderedStore, Payload, Reset, Result, Stamp, Versioned, WriterId, Written};

use super::SEQUENCE;
use crate::failure::{Verdict, ensure_eq};
use crate::model::{self, compare, minutes};
use crate::world::World;

pub(super) async fn random_calls_match_the_model(world: &World) -> Verdict {
    compare(world, Cells { travels: world.can_travel(), ..Cells::default() }).await
}

#[derive(Clone, Debug)]
enum Call {
    Write(Key, Stamp, Content),
    Get(Key),
    List(Option<Key>),
    Purge(u64),
    Reset(Key, Stamp),
}

/// The content of a write; `None` is a delete.
type Content = Option<Payload>;

#[derive(Clone, Debug, Default)]
struct Cells {
    travels: bool,
    now: Duration,
    cells: BTreeMap<Key, Cell>,
}

#[derive(Clone, Debug)]
struct Cell {
    stamp: Stamp,
    content: Content,
    arrived: Duration,
}

impl Cells {
    fn write(&mut self, key: &Key, stamp: &Stamp, content: &Content) -> Written {
        if let Some(cell) = self.cells.get(key) {
            // Of two writes with one stamp, the delete is greater.
            let (asked, stands) = ((stamp, content.is_none()), (&cell.stamp, cell.content.is_none()));
            if asked < stands {
                return Written::Stale { current: cell.stamp.clone() };
            }
            if asked == stands {
                return if *content == cell.content { Written::Duplicate } else { Written::Mismatch };
            }
        }
        let cell = Cell { stamp: stamp.clone(), content: content.clone(), arrived: self.now };
        self.cells.insert(key.clone(), cell);
        Written::Applied
    }

    fn get(&self, key: &Key) -> Option<Versioned> {
        let cell = self.cells.get(key)?;
        Some(Versioned { value: cell.content.clone()?, stamp: cell.stamp.clone() })
    }

    fn list(&self, prefix: Option<&Key>) -> BTreeMap<Key, Versioned> {
        let prefix = prefix.map_or("", Key::as_str);
        let keys = self.cells.keys().filter(|key| key.as_str().starts_with(prefix));
        keys.filter_map(|key| Some((key.clone(), self.get(key)?))).collect()
    }

    fn reset(&mut self, key: &Key, stamp: &Stamp) -> Reset {
        match self.cells.get(key) {
            None => Reset::Absent,
            Some(cell) if cell.stamp != *stamp => Reset::Stale { current: cell.stamp.clone() },
            Some(_) => {
                self.cells.remove(key);
                Reset::Reset
            }
        }
    }

    fn purge(&mut self, age: Duration) -> u64 {
        let (before, now) = (self.cells.len(), self.now);
        self.cells.retain(|_, cell| cell.content.is_some() || cell.arrived + age > now);
        (before - self.cells.len()) as u64
    }
}

impl model::Model for Cells {
    type Call = Call;
    type Namespaces = Arc<dyn OrderedStore>;

    fn calls() -> BoxedStrategy<Call> {
        let key = || "[a-c]|ab|a:|é".prop_map(|text| Key::new(text).expect("a short text"));
        let numbers = prop_oneof![
            6 => -2..5_i64,
            1 => Just(i64::MIN), 1 => Just(i64::MAX), 1 => Just(1 << 53), 1 => Just((1 << 53) + 1),
        ];
        let stamp = (numbers, "[aA]|b")
            .prop_map(|(at, writer)| Stamp::new(at, WriterId::new(writer).expect("a letter")))
            .boxed();
        let content = prop_oneof![
            3 => "[xy]?".prop_map(|text| Some(Payload::try_from(text.as_str()).expect("a short text"))),
            2 => Just(None),
        ];
        prop_oneof![
            2 => (key(), stamp.clone()).prop_map(|(key, stamp)| Call::Reset(key, stamp)),
            8 => (key(), stamp, content).prop_map(|(key, stamp, content)| Call::Write(key, stamp, content)),
            2 => key().prop_map(Call::Get),
            1 => prop::option::of(key()).prop_map(Call::List),
            1 => prop_oneof![Just(1_u64), Just(5), Just(60)].prop_map(Call::Purge),
        ]
        .boxed()
    }

    fn open(&self, store: &Arc<dyn Backend>) -> Result<Arc<dyn OrderedStore>> {
        store.ordered_store(&"ordered".parse()?, SEQUENCE)
    }

    async fn step(&mut self, store: &Arc<dyn OrderedStore>, call: &Call) -> Verdict {
        match call {
            Call::Write(key, stamp, content) => {
                let found = match content {
                    Some(value) => store.put(key, value, stamp).await?,
                    None => store.delete(key, stamp).await?,
                };
                ensure_eq!(found, self.write(key, stamp, content), "the outcome");
            }
            Call::Get(key) => ensure_eq!(store.get(key).await?, self.get(key), "the value"),
            Call::List(prefix) => {
                let page = store.list(prefix.as_ref(), None, 100).await?;
                let found: Vec<_> = page.entries.into_iter().map(|entry| (entry.key, entry.versioned)).collect();
                let expected = self.list(prefix.as_ref());
                ensure_eq!(found.len(), expected.len(), "how many are listed");
                ensure_eq!(found.into_iter().collect::<BTreeMap<_, _>>(), expected, "what is listed");
            }
            Call::Reset(key, stamp) => {
                ensure_eq!(store.reset(key, stamp).await?, self.reset(key, stamp), "resetting {key} at {stamp:?}");
            }
            Call::Purge(number) => {
                // On a clock that the suite cannot move, no tombstone may reach the age.
                let age = minutes(if self.travels { *number } else { 60 });
                ensure_eq!(store.purge(age, 100).await?.deleted, self.purge(age), "tombstones purged");
            }
        }
        Ok(())
    }

    fn pass(&mut self, duration: Duration) {
        self.now += duration;
    }
}
