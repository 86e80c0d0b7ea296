//! Every mutating call: its preconditions, its answer, and the state after it.

use std::sync::Arc;

use storagebox_core::{
    Backend, Chosen, Commit, Committed, EntityChange, EntityLedger, Opened, Registered, Result, async_trait,
};

use super::{Messaged, entities_of, fresh_entry, op, payload, split};
use crate::failure::{Failure, Verdict, ensure, ensure_eq};
use crate::race::answered;
use crate::repeatable::{Repeatable, Told};
use crate::world::World;

/// A call about one message of an entity. For all calls but `Create`, another message has changed the entity before.
/// `Register`, `Choose` and `Remove` follow the commit of the message.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Call {
    Create,
    Put,
    Keep,
    Delete,
    Register,
    Choose,
    Remove,
}

pub(super) const CALLS: &[Call] =
    &[Call::Create, Call::Put, Call::Keep, Call::Delete, Call::Register, Call::Choose, Call::Remove];

/// The messages, and the common prefix of their entities' names.
pub(super) struct Scene {
    needle: String,
    before: Messaged,
    one: Messaged,
    commit: Commit,
}

#[async_trait]
impl Repeatable for Call {
    type Scene = Scene;

    async fn set(self, world: &World, place: &str) -> Result<Scene, Failure> {
        let (entities, needle) = (split(world)?, format!("entity-{place}"));
        let (before, one) = (Messaged::new(&needle, "before")?, Messaged::new(&needle, "one")?);
        if self != Self::Create {
            let commit = before.commit(&*entities).await?;
            ensure_eq!(entities.commit(&commit).await?, Committed::Committed, "the commit before");
        }
        let commit = Commit { change: self.change()?, ..one.commit(&*entities).await? };
        if self.is_about_an_entry() {
            ensure_eq!(entities.commit(&commit).await?, Committed::Committed, "the commit of the entry");
        }
        Ok(Scene { needle, before, one, commit })
    }

    fn needle(scene: &Scene) -> &str {
        &scene.needle
    }

    async fn make(self, scene: &Scene, store: &Arc<dyn Backend>) -> Result<Told> {
        let (entities, entry) = (entities_of(store)?, scene.one.entry()?);
        Ok(match self {
            Self::Create | Self::Put | Self::Keep | Self::Delete => match entities.commit(&scene.commit).await? {
                Committed::Committed => Told::Done,
                other => Told::wrong(other),
            },
            Self::Register => match entities.register(&entry, &op("another")?).await? {
                Registered::Registered => Told::Done,
                other => Told::wrong(other),
            },
            Self::Choose => match entities.choose(&entry, &scene.commit.attempt).await? {
                Chosen::Chosen(entry) if entry.chosen.as_ref() == Some(&scene.commit.attempt) => Told::Done,
                other => Told::wrong(other),
            },
            Self::Remove => match entities.remove(&entry).await? {
                true => Told::Now,
                false => Told::Before,
            },
        })
    }

    async fn is_done(self, scene: &Scene, store: &Arc<dyn Backend>) -> Result<Option<bool>, Failure> {
        let opened = scene.one.open(&*entities_of(store)?).await?;
        let entry = opened.entry.as_ref();
        Ok(Some(match self {
            Self::Create | Self::Put | Self::Keep | Self::Delete => entry.is_some(),
            Self::Register => entry.is_some_and(|entry| entry.attempts.len() == 2),
            Self::Choose => entry.is_some_and(|entry| entry.chosen.is_some()),
            Self::Remove => entry.is_none(),
        }))
    }

    async fn ensure_done(self, _world: &World, scene: &Scene, store: &Arc<dyn Backend>) -> Verdict {
        let entities = entities_of(store)?;
        let opened = scene.one.open(&*entities).await?;
        ensure!(opened.version.is_some() && opened.version != scene.commit.opened, "the version did not change");
        ensure_eq!(Opened { version: None, ..opened.clone() }, self.after(scene)?, "the entity");
        let before = scene.before.open(&*entities).await?;
        ensure_eq!(before.entry.is_some(), self != Self::Create, "whether the entry of the message before is there");
        let later = Messaged::new(&scene.needle, "later")?;
        let commit = later.commit(&*entities).await?;
        ensure_eq!(commit.opened, opened.version, "the version that a later message opens");
        ensure_eq!(entities.commit(&commit).await?, Committed::Committed, "a later commit");
        Ok(())
    }

    async fn unrelated(self, old: &Arc<dyn Backend>, fresh: &Arc<dyn Backend>, place: &str) -> Verdict {
        let (old, fresh, one) = (entities_of(old)?, entities_of(fresh)?, Messaged::new(place, "message")?);
        let commit = one.commit(&*old).await?;
        ensure_eq!(answered(|| old.commit(&commit)).await?, Committed::Committed, "a commit by the old client");
        ensure_eq!(one.open(&*fresh).await?.entry, fresh_entry(&commit), "its entry, by a fresh client");
        Ok(())
    }
}

impl Call {
    fn is_about_an_entry(self) -> bool {
        matches!(self, Self::Register | Self::Choose | Self::Remove)
    }

    fn change(self) -> Result<EntityChange> {
        Ok(match self {
            Self::Keep => EntityChange::Keep,
            Self::Delete => EntityChange::Delete,
            _ => EntityChange::Put(payload("one")?),
        })
    }

    /// Returns the expected entity after the call, without a version.
    fn after(self, scene: &Scene) -> Result<Opened> {
        let mut opened = Opened { entry: fresh_entry(&scene.commit), ..Opened::default() };
        opened.state = match self {
            Self::Keep => Some(payload("before")?),
            Self::Delete => None,
            _ => Some(payload("one")?),
        };
        match (self, &mut opened.entry) {
            (Self::Register, Some(entry)) => entry.attempts.push(op("another")?),
            (Self::Choose, Some(entry)) => entry.chosen = Some(scene.commit.attempt.clone()),
            (Self::Remove, entry) => *entry = None,
            _ => {}
        }
        Ok(opened)
    }
}
