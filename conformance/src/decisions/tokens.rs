//! Tokens.

use std::slice;
use std::sync::Arc;

use storagebox_core::{Created, Discarded, OpId, TokenId, TokenStore};

use super::{Table, brief};
use crate::failure::{Failure, Verdict};
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
    ],
};

/// The states of the table, in its order.
const STATES: [State; 6] =
    [State::Unknown, State::Live, State::Consumed, State::ConsumedByAnother, State::Discarded, State::Fenced];

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
    let tokens = world.tokens()?;
    let ada = OpId::new("ada")?;
    for (state, call) in TABLE.asked() {
        let token = TokenId::new(format!("token-{state}-{call}"))?;
        reach(STATES[state], &tokens, &token, &ada).await?;
        TABLE.ensure((state, call), &answer(call, &tokens, &token, &ada).await?)?;
    }
    Ok(())
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
