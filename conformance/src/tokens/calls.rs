//! Every mutating call: its preconditions, its answer, and the state after it.

use std::sync::Arc;

use storagebox_core::{Backend, Consumed, Created, Discarded, Result, TokenId, TokenStore, async_trait};

use super::{GONE, batch, create, op, token, tokens_of};
use crate::failure::{Failure, Verdict, ensure, ensure_eq};
use crate::race::answered;
use crate::repeatable::{Repeatable, Told};
use crate::world::World;

/// A call on six tokens, the first three of which are live.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Call {
    Create,
    CreateMixed,
    Consume,
    ConsumeUnknown,
    Discard,
    DiscardMixed,
}

pub(super) const CALLS: [Call; 6] =
    [Call::Create, Call::CreateMixed, Call::Consume, Call::ConsumeUnknown, Call::Discard, Call::DiscardMixed];

/// The tokens, and the common part of their names.
pub(super) struct Scene {
    needle: String,
    all: Vec<TokenId>,
}

#[async_trait]
impl Repeatable for Call {
    type Scene = Scene;

    async fn set(self, world: &World, place: &str) -> Result<Scene, Failure> {
        let needle = format!("token-{place}");
        let all = batch(&needle, 6)?;
        world.tokens()?.create_tokens(&all[..3]).await?;
        Ok(Scene { needle, all })
    }

    fn needle(scene: &Scene) -> &str {
        &scene.needle
    }

    async fn make(self, scene: &Scene, store: &Arc<dyn Backend>) -> Result<Told> {
        let (tokens, all) = (tokens_of(store)?, &scene.all);
        Ok(match self {
            Self::Create => created(tokens.create_tokens(&all[3..]).await?, 3, 3),
            Self::CreateMixed => created(tokens.create_tokens(all).await?, 6, 3),
            Self::Consume => consumed(tokens.consume(&all[0], &op("ada")?).await?),
            Self::ConsumeUnknown => match tokens.consume(&all[5], &op("ada")?).await? {
                Consumed::AlreadyGone => Told::Done,
                other => Told::wrong(other),
            },
            Self::Discard => discarded(tokens.discard(&all[..2]).await?, 2, 2),
            Self::DiscardMixed => discarded(tokens.discard(all).await?, 6, 3),
        })
    }

    async fn is_done(self, scene: &Scene, store: &Arc<dyn Backend>) -> Result<Option<bool>, Failure> {
        let live = live(&*tokens_of(store)?, &scene.all).await?;
        Ok(match self {
            // No read shows that an unknown token was ended.
            Self::ConsumeUnknown | Self::DiscardMixed => None,
            _ => Some(live == self.live_after()),
        })
    }

    async fn ensure_done(self, _world: &World, scene: &Scene, store: &Arc<dyn Backend>) -> Verdict {
        let (tokens, all) = (tokens_of(store)?, &scene.all);
        ensure_eq!(live(&*tokens, all).await?, self.live_after(), "which tokens live");
        for token in &all[self.gone_after()] {
            ensure_eq!(create(&*tokens, token).await?, GONE, "creating {token}, which is gone");
            let late = tokens.consume(token, &op("late")?).await?;
            ensure_eq!(late, Consumed::AlreadyGone, "another consumer of {token}, which is gone");
        }
        if self == Self::Consume {
            let winner = tokens.consume(&all[0], &op("ada")?).await?;
            ensure_eq!(winner, Consumed::Again, "the winner in the end");
        }
        Ok(())
    }

    async fn unrelated(self, old: &Arc<dyn Backend>, fresh: &Arc<dyn Backend>, place: &str) -> Verdict {
        let (old, fresh, token) = (tokens_of(old)?, tokens_of(fresh)?, token(place)?);
        answered(|| create(&*old, &token)).await?;
        ensure!(fresh.exists(&token).await?, "a token that the old client created after that does not live");
        Ok(())
    }
}

impl Call {
    fn live_after(self) -> [bool; 6] {
        match self {
            Self::Create | Self::CreateMixed => [true; 6],
            Self::Consume => [false, true, true, false, false, false],
            Self::ConsumeUnknown => [true, true, true, false, false, false],
            Self::Discard => [false, false, true, false, false, false],
            Self::DiscardMixed => [false; 6],
        }
    }

    fn gone_after(self) -> std::ops::Range<usize> {
        match self {
            Self::Create | Self::CreateMixed | Self::ConsumeUnknown => 0..0,
            Self::Consume => 0..1,
            Self::Discard => 0..2,
            Self::DiscardMixed => 0..6,
        }
    }
}

async fn live(tokens: &dyn TokenStore, all: &[TokenId]) -> Result<[bool; 6]> {
    let mut live = [false; 6];
    for (lives, token) in live.iter_mut().zip(all) {
        *lives = tokens.exists(token).await?;
    }
    Ok(live)
}

/// Evaluates the report on a batch of `of` tokens. The first attempt creates `new` of them, and may have created some.
fn created(report: Created, of: u64, new: u64) -> Told {
    match report {
        Created { created, gone: 0, already_live } if created + already_live == of => part(created, new),
        other => Told::wrong(other),
    }
}

/// Evaluates the report on a batch of `of` tokens. The first attempt ends `new` live ones, and may have ended some.
fn discarded(report: Discarded, of: u64, new: u64) -> Told {
    match report {
        Discarded { discarded, already_gone } if discarded + already_gone == of => part(discarded, new),
        other => Told::wrong(other),
    }
}

fn part(done: u64, of: u64) -> Told {
    match done {
        0 => Told::Before,
        _ if done == of => Told::Now,
        _ => Told::Partly,
    }
}

fn consumed(outcome: Consumed) -> Told {
    match outcome {
        Consumed::Now => Told::Now,
        Consumed::Again => Told::Before,
        Consumed::AlreadyGone => Told::wrong(outcome),
    }
}
