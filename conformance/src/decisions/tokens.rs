//! The decision table of tokens.

use std::slice;
use std::sync::Arc;

use storagebox_core::{Created, Discarded, OpId, TokenId, TokenStore, async_trait};

use super::Age::{self, LongAgo, Recent};
use super::{Cell, ROUNDS, Scene, Table, brief};
use crate::failure::{Failure, Verdict, ensure};
use crate::world::World;

pub(super) const TABLE: Table = Table {
    title: "A token",
    about: "The call is of the operation `ada`. The fields of `create` and `discard` are the counts that are 1.",
    calls: &["create", "exists", "consume", "discard"],
    rows: &[
        ("the token is unknown", &["created", "false", "AlreadyGone", "already_gone"]),
        ("it is live", &["already_live", "true", "Now", "discarded"]),
        ("`ada` consumed it", &["gone", "false", "Again", "already_gone"]),
        ("another operation consumed it", &["gone", "false", "AlreadyGone", "already_gone"]),
        ("it is discarded", &["gone", "false", "AlreadyGone", "already_gone"]),
        ("it was discarded before it was known", &["gone", "false", "AlreadyGone", "already_gone"]),
        ("`ada` consumed it long ago", &["created|gone", "false", "Again|AlreadyGone", "already_gone"]),
        ("another operation consumed it long ago", &["created|gone", "false", "AlreadyGone", "already_gone"]),
        ("it was discarded long ago", &["created|gone", "false", "AlreadyGone", "already_gone"]),
        ("it was discarded long ago, before it was known", &["created|gone", "false", "AlreadyGone", "already_gone"]),
    ],
};

const STATES: [(State, Age); 10] = [
    (State::Unknown, Recent),
    (State::Live, Recent),
    (State::Consumed, Recent),
    (State::ConsumedByAnother, Recent),
    (State::Discarded, Recent),
    (State::Fenced, Recent),
    (State::Consumed, LongAgo),
    (State::ConsumedByAnother, LongAgo),
    (State::Discarded, LongAgo),
    (State::Fenced, LongAgo),
];

#[derive(Clone, Copy)]
enum State {
    Unknown,
    Live,
    Consumed,
    ConsumedByAnother,
    Discarded,
    Fenced,
}

pub(crate) async fn a_token_is_answered_by_its_table(world: &World) -> Verdict {
    let (tokens, other) = (world.tokens()?, TokenId::new("other")?);
    tokens.create_tokens(slice::from_ref(&other)).await?;
    for round in ROUNDS {
        TABLE.ask::<Token>(world, round, |state| STATES[state].1).await?;
        ensure!(tokens.exists(&other).await?, "another token is gone");
    }
    Ok(())
}

struct Token {
    cell: Cell,
    tokens: Arc<dyn TokenStore>,
    token: TokenId,
}

#[async_trait]
impl Scene for Token {
    async fn begun(world: &World, cell: Cell) -> Result<Self, Failure> {
        let (tokens, token) = (world.tokens()?, TokenId::new(cell.name.as_str())?);
        reach(STATES[cell.state].0, &tokens, &token, &OpId::new("ada")?).await?;
        Ok(Self { cell, tokens, token })
    }

    async fn ask(&self) -> Verdict {
        let (tokens, token, ada) = (&self.tokens, &self.token, OpId::new("ada")?);
        let answer = answer(self.cell.call, tokens, token, &ada).await?;
        TABLE.ensure(self.cell.place(), &answer)?;
        let again = self::answer(self.cell.call, tokens, token, &ada).await?;
        TABLE.ensure_after(self.cell.place(), "the same call", &again, again_of(&answer))?;
        let is_live = matches!(answer.as_str(), "created" | "already_live" | "true");
        let exists = tokens.exists(token).await?;
        TABLE.ensure_after(self.cell.place(), "whether it exists", &exists.to_string(), &is_live.to_string())?;
        let call = TABLE.calls[self.cell.call];
        if call == "discard" || answer == "Now" {
            let late = created(tokens.create_tokens(slice::from_ref(token)).await?);
            TABLE.ensure_after(self.cell.place(), "a late create", late, "gone")?;
        }
        if is_live {
            let consumed = brief(&tokens.consume(token, &OpId::new("eve")?).await?);
            TABLE.ensure_after(self.cell.place(), "another's consume", &consumed, "Now")?;
        }
        Ok(())
    }
}

/// Returns the expected answer to a repetition of a call, if the first answer was `answer`.
fn again_of(answer: &str) -> &str {
    match answer {
        "created" => "already_live",
        "discarded" => "already_gone",
        "Now" => "Again",
        settled => settled,
    }
}

async fn reach(state: State, tokens: &Arc<dyn TokenStore>, token: &TokenId, ada: &OpId) -> Verdict {
    let one = slice::from_ref(token);
    if !matches!(state, State::Unknown | State::Fenced) {
        tokens.create_tokens(one).await?;
    }
    match state {
        State::Unknown | State::Live => {}
        State::Consumed => drop(tokens.consume(token, ada).await?),
        State::ConsumedByAnother => drop(tokens.consume(token, &OpId::new("kim")?).await?),
        State::Discarded | State::Fenced => drop(tokens.discard(one).await?),
    }
    Ok(())
}

async fn answer(call: usize, tokens: &Arc<dyn TokenStore>, token: &TokenId, ada: &OpId) -> Result<String, Failure> {
    let one = slice::from_ref(token);
    Ok(match TABLE.calls[call] {
        "create" => created(tokens.create_tokens(one).await?).to_owned(),
        "exists" => tokens.exists(token).await?.to_string(),
        "consume" => brief(&tokens.consume(token, ada).await?),
        _ => discarded(tokens.discard(one).await?).to_owned(),
    })
}

fn created(report: Created) -> &'static str {
    match report {
        Created { created: 1, already_live: 0, gone: 0 } => "created",
        Created { created: 0, already_live: 1, gone: 0 } => "already_live",
        Created { created: 0, already_live: 0, gone: 1 } => "gone",
        _ => "another count",
    }
}

fn discarded(report: Discarded) -> &'static str {
    match report {
        Discarded { discarded: 1, already_gone: 0 } => "discarded",
        Discarded { discarded: 0, already_gone: 1 } => "already_gone",
        _ => "another count",
    }
}
