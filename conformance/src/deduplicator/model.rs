//! The model of several banks and one record, for one caller.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;
use std::time::Duration;

use proptest::prelude::*;
use proptest::strategy::BoxedStrategy;
use storagebox_core::{Assigned, Backend, Deduplicator, Item, Result};

use super::{CLASSES, counts, desk};
use crate::failure::{Failure, Verdict, ensure_eq};
use crate::model::{self, compare};
use crate::world::World;

pub(super) async fn random_calls_match_the_model(world: &World) -> Verdict {
    compare(world, Desk::default()).await
}

#[derive(Clone, Debug)]
enum Call {
    Assign(String, &'static str),
    Fill(&'static str, u8),
    Withdraw(&'static str, u8),
    Recover,
}

#[derive(Clone, Debug, Default)]
struct Desk {
    free: BTreeSet<(&'static str, String)>,
    withdrawn: BTreeSet<(&'static str, String)>,
    assigned: BTreeMap<String, (String, String)>,
    asked: BTreeSet<String>,
}

impl Desk {
    fn assign(&mut self, id: &str, class: &'static str, found: &Assigned) -> Verdict {
        self.asked.insert(id.to_owned());
        let before = self.assigned.get(id).cloned();
        let right = match (before, found) {
            (Some((bank, item)), Assigned::Again { bank: told, item: again }) => {
                told.as_str() == bank && again.as_str() == item
            }
            (None, Assigned::Empty) => !self.free.iter().any(|(bank, _)| *bank == class),
            (None, Assigned::New { bank, item }) => {
                let item = item.as_str().to_owned();
                self.assigned.insert(id.to_owned(), (class.to_owned(), item.clone()));
                bank.as_str() == class && self.free.remove(&(class, item))
            }
            _ => false,
        };
        if right {
            return Ok(());
        }
        Err(Failure::new(format!("{id} asks for {class} and is answered {found:?}; the model is {self:?}")))
    }

    fn knows(&self, item: &(&'static str, String)) -> bool {
        let assigned = self.assigned.values().any(|(class, name)| *class == item.0 && *name == item.1);
        assigned || self.free.contains(item) || self.withdrawn.contains(item)
    }
}

type Namespaces = (Deduplicator, Arc<dyn Backend>);

impl model::Model for Desk {
    type Call = Call;
    type Namespaces = Namespaces;

    fn calls() -> BoxedStrategy<Call> {
        let class = || prop::sample::select(&CLASSES[..]);
        prop_oneof![
            6 => ("[a-e]", class()).prop_map(|(id, class)| Call::Assign(id, class)),
            3 => (class(), 0..4_u8).prop_map(|(class, number)| Call::Fill(class, number)),
            1 => (class(), 0..4_u8).prop_map(|(class, number)| Call::Withdraw(class, number)),
            1 => Just(Call::Recover),
        ]
        .boxed()
    }

    fn open(&self, store: &Arc<dyn Backend>) -> Result<Namespaces> {
        Ok((desk(&**store)?, Arc::clone(store)))
    }

    async fn step(&mut self, (desk, store): &Namespaces, call: &Call) -> Verdict {
        match call {
            Call::Assign(id, class) => {
                let found = desk.assign(id.as_str(), *class).await?;
                self.assign(id, class, &found)
            }
            Call::Fill(class, number) => {
                let item = (*class, format!("{class}-{number}"));
                let added = store.item_bank(&class.parse()?)?.add(&[Item::new(item.1.as_str())?]).await?.added;
                ensure_eq!(added, u64::from(!self.knows(&item)), "items added");
                if added == 1 {
                    self.free.insert(item);
                }
                Ok(())
            }
            Call::Withdraw(class, number) => {
                let item = (*class, format!("{class}-{number}"));
                let report = store.item_bank(&class.parse()?)?.withdraw(&[Item::new(item.1.as_str())?]).await?;
                let was_free = self.free.remove(&item);
                ensure_eq!(report.withdrawn, u64::from(was_free), "items withdrawn");
                self.withdrawn.extend(was_free.then_some(item));
                Ok(())
            }
            Call::Recover => {
                let found = desk.recover(None, 100).await?;
                let expected = [self.asked.len() as u64, 0, 0];
                ensure_eq!(counts(&found), expected, "what recovery did although no caller crashed");
                Ok(())
            }
        }
    }

    fn pass(&mut self, _: Duration) {}
}
