//! An assignment: its preconditions, its answer, and the state after it.

use std::sync::Arc;

use storagebox_core::{Assigned, Backend, Deduplicator, Item, ItemState, Namespace, Result, async_trait};

use crate::failure::{Failure, Verdict, ensure_eq, ensure_matches};
use crate::race::answered;
use crate::repeatable::{Repeatable, Told};
use crate::world::{World, items};

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Call {
    OneOfThree,
    FromAnEmptyBank,
}

pub(super) const CALLS: [Call; 2] = [Call::OneOfThree, Call::FromAnEmptyBank];

pub(super) struct Scene {
    id: String,
    bank: Namespace,
}

impl Scene {
    fn at(place: &str) -> Result<Self> {
        Ok(Self { id: format!("student-{place}"), bank: Namespace::new(format!("bank-{place}"))? })
    }

    fn desk(&self, store: &Arc<dyn Backend>) -> Result<Deduplicator> {
        Deduplicator::new(store.dedup_repo(&"students".parse()?)?)
            .bank(self.bank.as_str(), store.item_bank(&self.bank)?)
    }

    async fn assign(&self, store: &Arc<dyn Backend>) -> Result<Assigned> {
        self.desk(store)?.assign(self.id.as_str(), self.bank.as_str()).await
    }

    async fn held(&self, world: &World) -> Result<Vec<Item>> {
        let audited = world.sandbox().audit(&self.bank).await?;
        let held = audited.into_iter().filter(|entry| entry.state != ItemState::Free);
        Ok(held.map(|entry| entry.item).collect())
    }
}

#[async_trait]
impl Repeatable for Call {
    type Scene = Scene;

    async fn set(self, world: &World, place: &str) -> Result<Scene, Failure> {
        let scene = Scene::at(place)?;
        if self == Self::OneOfThree {
            world.store().item_bank(&scene.bank)?.add(&items(3)?).await?;
        }
        Ok(scene)
    }

    fn needle(scene: &Scene) -> &str {
        &scene.id
    }

    async fn make(self, scene: &Scene, store: &Arc<dyn Backend>) -> Result<Told> {
        Ok(match (self, scene.assign(store).await?) {
            (Self::OneOfThree, Assigned::New { .. }) => Told::Now,
            (Self::OneOfThree, Assigned::Again { .. }) => Told::Before,
            (Self::FromAnEmptyBank, Assigned::Empty) => Told::Done,
            (_, other) => Told::wrong(other),
        })
    }

    async fn is_done(self, _scene: &Scene, _store: &Arc<dyn Backend>) -> Result<Option<bool>, Failure> {
        Ok(None)
    }

    async fn ensure_done(self, world: &World, scene: &Scene, store: &Arc<dyn Backend>) -> Verdict {
        let assigned = scene.assign(store).await?;
        let told: Vec<_> = assigned.item().cloned().into_iter().collect();
        ensure_eq!(scene.held(world).await?, told, "the held seats, and the seats that the id was given");
        ensure_eq!(told.len(), usize::from(self == Self::OneOfThree), "seats in the end");
        Ok(())
    }

    async fn unrelated(self, old: &Arc<dyn Backend>, fresh: &Arc<dyn Backend>, place: &str) -> Verdict {
        let scene = Scene::at(place)?;
        let bank = old.item_bank(&scene.bank)?;
        let seats = items(1)?;
        answered(|| bank.add(&seats)).await?;
        let _ = answered(|| scene.assign(old)).await?;
        let again = scene.assign(fresh).await?;
        ensure_matches!(again, Assigned::Again { .. }, "what the old client assigned after that");
        Ok(())
    }
}
