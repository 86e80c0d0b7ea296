//! Joined commits: their preconditions, their answers, and the state after them.

use std::sync::Arc;

use storagebox_core::{Backend, Commit, Committed, Consumed, Result, TokenId, TokenStore, async_trait};

use super::{exchange, fresh_entry, joined_of, live, op, payload};
use crate::entities::Messaged;
use crate::failure::{Failure, Verdict, ensure, ensure_eq};
use crate::race::answered;
use crate::repeatable::{Repeatable, Told};
use crate::world::World;

/// A commit that consumes a token.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in super::super) enum Call {
    /// The commit adds an entry and creates tokens.
    Exchange,
    /// The commit adds no entry and creates no tokens.
    Finish,
}

pub(in super::super) const CALLS: &[Call] = &[Call::Exchange, Call::Finish];

/// The message, and the common part of the names of its entity and tokens.
pub(in super::super) struct Scene {
    needle: String,
    one: Messaged,
    consumed: TokenId,
    commit: Commit,
}

fn tokens_of(store: &Arc<dyn Backend>) -> Result<Arc<dyn TokenStore>> {
    store.token_store(&"tokens".parse()?)
}

#[async_trait]
impl Repeatable for Call {
    type Scene = Scene;

    async fn set(self, world: &World, place: &str) -> Result<Scene, Failure> {
        let (needle, entities) = (format!("joined-{place}"), joined_of(world.store())?);
        let (one, consumed) = (Messaged::new(&needle, "one")?, TokenId::new(format!("{needle}-in"))?);
        world.tokens()?.create_tokens(std::slice::from_ref(&consumed)).await?;
        let mut commit = exchange(&*entities, &one, &consumed).await?;
        if self == Self::Finish {
            (commit.entry, commit.create) = (None, vec![]);
        }
        Ok(Scene { needle, one, consumed, commit })
    }

    fn needle(scene: &Scene) -> &str {
        &scene.needle
    }

    async fn make(self, scene: &Scene, store: &Arc<dyn Backend>) -> Result<Told> {
        Ok(match joined_of(store)?.commit(&scene.commit).await? {
            Committed::Committed => Told::Done,
            other => Told::wrong(other),
        })
    }

    async fn is_done(self, scene: &Scene, store: &Arc<dyn Backend>) -> Result<Option<bool>, Failure> {
        let (entities, one) = (joined_of(store)?, &scene.one);
        let opened = answered(|| entities.open(&one.key, &one.message, Some(&scene.consumed))).await?;
        let is_done = opened.state.is_some();
        ensure_eq!(opened.entry, fresh_entry(&scene.commit).filter(|_| is_done), "the entry beside the state");
        ensure_eq!(opened.token_is_live, Some(!is_done), "whether the token lives beside the state");
        // A dropped commit may land now, so the new tokens of a commit that was not made are not checked.
        let created = live(&*tokens_of(store)?, &scene.commit.create).await?;
        ensure!(!is_done || created == scene.commit.create.len(), "{created} new tokens live beside the state");
        Ok(Some(is_done))
    }

    async fn ensure_done(self, _world: &World, scene: &Scene, store: &Arc<dyn Backend>) -> Verdict {
        ensure_eq!(self.is_done(scene, store).await?, Some(true), "whether the commit is made");
        let opened = scene.one.open(&*joined_of(store)?).await?;
        ensure_eq!(opened.state, Some(payload("one")?), "the state");
        let tokens = tokens_of(store)?;
        ensure_eq!(tokens.consume(&scene.consumed, &op("one")?).await?, Consumed::Again, "the commit as a consumer");
        for token in &scene.commit.create {
            ensure_eq!(tokens.consume(token, &op("next")?).await?, Consumed::Now, "a consumer of a new token");
        }
        Ok(())
    }

    async fn unrelated(self, old: &Arc<dyn Backend>, fresh: &Arc<dyn Backend>, place: &str) -> Verdict {
        let (old, fresh, one) = (joined_of(old)?, joined_of(fresh)?, Messaged::new(place, "message")?);
        let commit = one.commit(&*old).await?;
        ensure_eq!(answered(|| old.commit(&commit)).await?, Committed::Committed, "a commit by the old client");
        ensure!(one.open(&*fresh).await?.entry.is_some(), "its entry is not there for a fresh client");
        Ok(())
    }
}
