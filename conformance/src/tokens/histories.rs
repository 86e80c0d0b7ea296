//! Recorded histories of tokens. Some order of the calls must explain each history.

use std::sync::Arc;

use fastrand::Rng;
use storagebox_core::{Consumed, Created, Discarded, TokenId, TokenStore};

use super::{GONE, LIVE, NEW, batch, op};
use crate::failure::{Verdict, ensure};
use crate::history::{Limits, Recorder, Specification, check};
use crate::race::{race, recorded};
use crate::world::World;

/// The sequential specification of one token.
struct OneToken;

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
enum State {
    Unknown,
    Live,
    Consumed(u8),
    Discarded,
}

#[derive(Clone, Copy, Debug)]
enum Call {
    Create,
    Exists,
    Consume(u8),
    Discard,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Reply {
    Created(Created),
    Exists(bool),
    Consumed(Consumed),
    Discarded(Discarded),
}

impl Specification for OneToken {
    type State = State;
    /// The number of the token, and the call.
    type Op = (usize, Call);
    type Reply = Reply;

    fn initial(&self) -> State {
        State::Unknown
    }

    fn step(&self, state: &State, (_, call): &(usize, Call)) -> Vec<(State, Reply)> {
        let outcome = match (*call, *state) {
            (Call::Create, State::Unknown) => (State::Live, Reply::Created(NEW)),
            (Call::Create, State::Live) => (State::Live, Reply::Created(LIVE)),
            (Call::Create, gone) => (gone, Reply::Created(GONE)),
            (Call::Exists, state) => (state, Reply::Exists(state == State::Live)),
            (Call::Consume(op), State::Live) => (State::Consumed(op), Reply::Consumed(Consumed::Now)),
            (Call::Consume(op), State::Consumed(by)) if op == by => {
                (State::Consumed(by), Reply::Consumed(Consumed::Again))
            }
            (Call::Consume(_), gone) => (gone, Reply::Consumed(Consumed::AlreadyGone)),
            (Call::Discard, State::Live) => {
                (State::Discarded, Reply::Discarded(Discarded { discarded: 1, already_gone: 0 }))
            }
            (Call::Discard, gone) => (
                if gone == State::Unknown { State::Discarded } else { gone },
                Reply::Discarded(Discarded { discarded: 0, already_gone: 1 }),
            ),
        };
        vec![outcome]
    }
}

impl Call {
    fn random(rng: &mut Rng) -> Self {
        match rng.u8(..10) {
            0..=3 => Self::Create,
            4..=6 => Self::Exists,
            7..=8 => Self::Consume(rng.u8(..3)),
            _ => Self::Discard,
        }
    }

    async fn make(self, tokens: &dyn TokenStore, token: &TokenId) -> storagebox_core::Result<Reply> {
        let one = std::slice::from_ref(token);
        Ok(match self {
            Self::Create => Reply::Created(tokens.create_tokens(one).await?),
            Self::Exists => Reply::Exists(tokens.exists(token).await?),
            Self::Consume(number) => Reply::Consumed(tokens.consume(token, &op(format!("op-{number}"))?).await?),
            Self::Discard => Reply::Discarded(tokens.discard(one).await?),
        })
    }
}

/// The number of tokens that the callers of a history share.
const SHARED: usize = 6;

pub(super) async fn histories_of_a_token_are_linearizable(world: &World) -> Verdict {
    let (tokens, mut rng) = (world.tokens()?, world.rng());
    for round in 0..world.profile().rounds * 4 {
        let all = Arc::new(batch(&format!("round-{round}"), SHARED)?);
        let recorder = Arc::new(Recorder::new());
        let seed = rng.u64(..);
        race(8, |client| {
            let (tokens, all, recorder) = (Arc::clone(&tokens), Arc::clone(&all), Arc::clone(&recorder));
            let rng = Rng::with_seed(seed.wrapping_add(client as u64));
            async move { record(&*tokens, &all, &recorder, client, rng).await }
        })
        .await?;
        for (number, history) in recorder.history().partition_by(|(number, _)| *number) {
            let verdict = check(&OneToken, &history, Limits::default());
            ensure!(verdict.is_linearizable(), "token {number} of round {round}: {verdict}");
        }
    }
    Ok(())
}

async fn record(
    tokens: &dyn TokenStore,
    all: &[TokenId],
    recorder: &Recorder<(usize, Call), Reply>,
    client: usize,
    mut rng: Rng,
) -> Verdict {
    for _ in 0..10 {
        let (number, call) = (rng.usize(..SHARED), Call::random(&mut rng));
        let pending = recorder.invoke(client, (number, call));
        // Without a reply the attempt may have had an effect or not, and stays pending.
        if let Some(reply) = recorded(|| call.make(tokens, &all[number])).await? {
            pending.respond(reply);
        }
    }
    Ok(())
}
