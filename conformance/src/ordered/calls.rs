//! Every write: its preconditions, its answer, and the state after it.

use std::sync::Arc;

use storagebox_core::{Backend, Key, OrderedStore, Result, Stamp, Written, async_trait};

use super::order::Write;
use super::{SEQUENCE, ensure_stale, shown};
use crate::failure::{Failure, Verdict, ensure, ensure_eq};
use crate::race::answered;
use crate::repeatable::{Repeatable, Told};
use crate::world::World;

/// A write whose stamp is the sequence number 2.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Call {
    deletes: bool,
    /// Whether the key already has a value, whose stamp is the sequence number 1.
    known: bool,
}

pub(super) const CALLS: [Call; 4] = [
    Call { deletes: false, known: false },
    Call { deletes: false, known: true },
    Call { deletes: true, known: false },
    Call { deletes: true, known: true },
];

pub(super) struct Scene {
    key: Key,
    write: Write,
}

#[async_trait]
impl Repeatable for Call {
    type Scene = Scene;

    async fn set(self, world: &World, place: &str) -> Result<Scene, Failure> {
        let key = Key::new(format!("key-{place}"))?;
        if self.known {
            let _ = Write::new(1, "w", false)?.make(&*world.ordered(SEQUENCE)?, &key).await?;
        }
        Ok(Scene { key, write: Write::new(2, "w", self.deletes)? })
    }

    fn needle(scene: &Scene) -> &str {
        scene.key.as_str()
    }

    async fn make(self, scene: &Scene, store: &Arc<dyn Backend>) -> Result<Told> {
        let ordered = store.ordered_store(&"ordered".parse()?, SEQUENCE)?;
        Ok(match scene.write.make(&*ordered, &scene.key).await? {
            Written::Applied => Told::Now,
            Written::Duplicate => Told::Before,
            other => Told::wrong(other),
        })
    }

    async fn is_done(self, scene: &Scene, store: &Arc<dyn Backend>) -> Result<Option<bool>, Failure> {
        let found = store.ordered_store(&"ordered".parse()?, SEQUENCE)?.get(&scene.key).await?;
        let stamp = found.map(|found| found.stamp.at);
        ensure!(stamp.is_none_or(|at| at == 2 || self.known), "no write has the stamp {stamp:?} of the value");
        // A read cannot distinguish a deleted key from a key that was never written.
        Ok((self.known || !self.deletes).then_some(stamp == (!self.deletes).then_some(2)))
    }

    fn is_checked_by_a_change(self) -> bool {
        self.deletes && !self.known
    }

    async fn ensure_done(self, _world: &World, scene: &Scene, store: &Arc<dyn Backend>) -> Verdict {
        let ordered = store.ordered_store(&"ordered".parse()?, SEQUENCE)?;
        scene.write.ensure_shown(&*ordered, &scene.key).await?;
        let older = Write::new(1, "x", false)?.make(&*ordered, &scene.key).await?;
        ensure_stale(&older, 2, "an older write after it")?;
        Ok(())
    }

    async fn unrelated(self, old: &Arc<dyn Backend>, fresh: &Arc<dyn Backend>, place: &str) -> Verdict {
        let (old, fresh) =
            (old.ordered_store(&"ordered".parse()?, SEQUENCE)?, fresh.ordered_store(&"ordered".parse()?, SEQUENCE)?);
        let (key, value, stamp) = (place.parse()?, "value".try_into()?, Stamp::new(1, "w".parse()?));
        let _ = answered(|| old.put(&key, &value, &stamp)).await?;
        let found = shown(&*fresh, place).await?;
        ensure_eq!(found, Some(("value".to_owned(), 1)), "what the old client put after that");
        Ok(())
    }
}
