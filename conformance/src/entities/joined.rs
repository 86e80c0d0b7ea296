//! Commits that change tokens in the same step.

mod apart;
mod calls;
mod known;

use std::sync::Arc;

use storagebox_core::{
    Backend, Commit, Committed, Consumed, Created, EntityChange, EntityLedger, ErrorKind, Joins, TokenId, TokenStore,
    Version,
};

use super::{Messaged, entities_of, fresh_entry, joined_of, op, payload, tokens};
use crate::failure::{Failure, Verdict, ensure, ensure_eq, ensure_matches};
use crate::link::{Fate, Link};
use crate::race::{SIZES, answered, race};
use crate::repeatable::{cut_everywhere, drop_everywhere};
use crate::world::World;

pub(super) use apart::each_join_is_of_its_own_namespace;
pub(super) use known::{
    a_commit_is_known_by_its_token_behind_its_entry, a_deletion_without_an_entry_is_remembered,
    a_message_that_has_an_entry_keeps_its_token, a_token_that_is_forgotten_is_created_again,
};

fn token(name: impl Into<Arc<str>>) -> Result<TokenId, Failure> {
    Ok(TokenId::new(name)?)
}

/// The entities, and the tokens that their commits change.
type Both = (Arc<dyn EntityLedger>, Arc<dyn TokenStore>);

fn joined(world: &World) -> Result<Both, Failure> {
    both_of(world.store())
}

fn both_of(store: &Arc<dyn Backend>) -> Result<Both, Failure> {
    Ok((joined_of(store)?, store.token_store(&"tokens".parse()?)?))
}

/// Returns a commit that consumes one token and creates two.
async fn exchange(entities: &dyn EntityLedger, one: &Messaged, consume: &TokenId) -> Result<Commit, Failure> {
    let create = tokens(&[&format!("{consume}-out-0"), &format!("{consume}-out-1")])?;
    Ok(Commit { consume: Some(consume.clone()), create, ..one.commit(entities).await? })
}

async fn live(tokens: &dyn TokenStore, all: &[TokenId]) -> Result<usize, Failure> {
    let mut live = 0;
    for token in all {
        live += usize::from(answered(|| tokens.exists(token)).await?);
    }
    Ok(live)
}

pub(super) async fn a_joined_commit_changes_the_tokens_too(world: &World) -> Verdict {
    let ((entities, tokens), one, consumed) = (joined(world)?, Messaged::new("entity", "one")?, token("in")?);
    tokens.create_tokens(std::slice::from_ref(&consumed)).await?;
    let commit = exchange(&*entities, &one, &consumed).await?;
    for turn in ["first", "second"] {
        ensure_eq!(entities.commit(&commit).await?, Committed::Committed, "the {turn} time");
        let opened = one.open(&*entities).await?;
        ensure_eq!(opened.entry, fresh_entry(&commit), "its entry, with its first attempt chosen");
        ensure_eq!(live(&*tokens, &commit.create).await?, 2, "the new tokens that live");
        ensure!(!tokens.exists(&consumed).await?, "the consumed token lives");
    }
    ensure_eq!(tokens.consume(&consumed, &op("one")?).await?, Consumed::Again, "the commit as a consumer");
    ensure_eq!(tokens.consume(&consumed, &op("other")?).await?, Consumed::AlreadyGone, "another consumer");
    ensure_eq!(tokens.consume(&commit.create[0], &op("next")?).await?, Consumed::Now, "a consumer of a new token");
    Ok(())
}

pub(super) async fn a_commit_that_is_not_made_changes_no_token(world: &World) -> Verdict {
    let ((entities, tokens), one, consumed) = (joined(world)?, Messaged::new("entity", "one")?, token("in")?);
    let commit = exchange(&*entities, &one, &consumed).await?;
    ensure_eq!(entities.commit(&commit).await?, Committed::TokenGone, "a commit whose token was never created");
    tokens.create_tokens(std::slice::from_ref(&consumed)).await?;
    let stale = Commit { opened: Some(Version::new(99)), ..commit.clone() };
    ensure_eq!(entities.commit(&stale).await?, Committed::Conflict, "a commit to another version");
    ensure_eq!(live(&*tokens, &commit.create).await?, 0, "new tokens of commits that were not made");
    ensure!(tokens.exists(&consumed).await?, "a commit that was not made consumed its token");
    ensure_eq!(one.open(&*entities).await?, Default::default(), "the entity");

    ensure_eq!(tokens.consume(&consumed, &op("other")?).await?, Consumed::Now, "another consumer");
    ensure_eq!(entities.commit(&commit).await?, Committed::TokenGone, "a commit after another consumer");
    ensure_eq!(live(&*tokens, &commit.create).await?, 0, "new tokens after that");
    ensure_eq!(one.open(&*entities).await?, Default::default(), "the entity after that");
    ensure_eq!(tokens.create_tokens(&commit.create).await?.created, 2, "tokens that no commit created");
    Ok(())
}

pub(super) async fn an_open_tells_whether_the_token_lives(world: &World) -> Verdict {
    let ((entities, tokens), one, asked) = (joined(world)?, Messaged::new("entity", "one")?, token("in")?);
    let lives = || async { Ok::<_, Failure>(entities.open(&one.key, &one.message, Some(&asked)).await?.token_is_live) };
    ensure_eq!(lives().await?, Some(false), "a token before it is created");
    tokens.create_tokens(std::slice::from_ref(&asked)).await?;
    ensure_eq!(lives().await?, Some(true), "a live token");
    ensure_eq!(one.open(&*entities).await?.token_is_live, None, "a token that the call did not name");
    let _ = entities.commit(&exchange(&*entities, &one, &asked).await?).await?;
    ensure_eq!(lives().await?, Some(false), "a token that a commit consumed");
    Ok(())
}

/// A repeated commit without an entry is recognised by the token that it consumed.
pub(super) async fn a_commit_without_an_entry_is_known_by_its_token(world: &World) -> Verdict {
    let ((entities, tokens), one, other) =
        (joined(world)?, Messaged::new("entity", "one")?, Messaged::new("entity", "other")?);
    let all = [token("in")?, token("of the other")?];
    tokens.create_tokens(&all).await?;
    let commit = Commit { entry: None, consume: Some(all[0].clone()), ..one.commit(&*entities).await? };
    ensure_eq!(entities.commit(&commit).await?, Committed::Committed, "a commit without an entry");
    let _ = entities.commit(&exchange(&*entities, &other, &all[1]).await?).await?;
    ensure_eq!(entities.commit(&commit).await?, Committed::Committed, "the same behind another");
    let opened = one.open(&*entities).await?;
    ensure_eq!((opened.state, opened.entry), (Some(payload("other")?), None), "the entity after that");
    let copy = Commit { attempt: op("copy")?, entry: None, ..one.commit(&*entities).await? };
    let copy = Commit { consume: commit.consume, ..copy };
    ensure_eq!(entities.commit(&copy).await?, Committed::TokenGone, "a commit of another copy");
    Ok(())
}

/// A commit creates neither the token that it consumes nor a token that was discarded before. A token that is named
/// twice is created once.
pub(super) async fn a_token_that_is_gone_is_not_created(world: &World) -> Verdict {
    let ((entities, tokens), one, consumed) = (joined(world)?, Messaged::new("entity", "one")?, token("in")?);
    let commit = exchange(&*entities, &one, &consumed).await?;
    let live_before = token("live")?;
    tokens.create_tokens(&[consumed.clone(), live_before.clone()]).await?;
    tokens.discard(&commit.create[..1]).await?;
    let create = [&commit.create[..], &[live_before, consumed.clone()], &commit.create[..]].concat();
    let commit = Commit { create, ..commit };
    ensure_eq!(entities.commit(&commit).await?, Committed::Committed, "a commit of which one new token is gone");
    ensure!(!tokens.exists(&commit.create[0]).await?, "a token that was discarded was created");
    ensure!(!tokens.exists(&consumed).await?, "the consumed token was created");
    ensure_eq!(live(&*tokens, &commit.create[1..3]).await?, 2, "a new token, and one that lived before");
    Ok(())
}

/// A commit creates many tokens in one step, whether their names sort before or after the consumed token.
pub(super) async fn many_tokens_are_created_in_one_step(world: &World) -> Verdict {
    let (entities, tokens) = joined(world)?;
    for count in [1_usize, 10, 50] {
        let (one, consumed) = (Messaged::new("entity", &format!("message-{count}"))?, token(format!("in-{count}"))?);
        tokens.create_tokens(std::slice::from_ref(&consumed)).await?;
        let name = |number: usize| token(format!("{}-{count}-{number}", ["z", "I", "é", "i", "J"][number % 5]));
        let create = (0..count).map(name).collect::<Result<Vec<_>, _>>()?;
        let commit = Commit { create, consume: Some(consumed), ..one.commit(&*entities).await? };
        ensure_eq!(entities.commit(&commit).await?, Committed::Committed, "a commit with {count} new tokens");
        let again = tokens.create_tokens(&commit.create).await?;
        let expected = Created { already_live: count as u64, ..Created::default() };
        ensure_eq!(again, expected, "creating the {count} tokens again");
    }
    Ok(())
}

/// A commit is refused, and stores nothing, if it uses tokens that the ledger does not join, or creates tokens without
/// adding an entry.
pub(super) async fn tokens_that_are_not_joined_are_refused(world: &World) -> Verdict {
    let (split, one, live) = (entities_of(world.store())?, Messaged::new("entity", "one")?, token("in")?);
    let (tokens, commit) = (world.tokens()?, one.commit(&*split).await?);
    tokens.create_tokens(std::slice::from_ref(&live)).await?;
    let joins = Joins { incoming: Some("tokens".parse()?), outgoing: None };
    let half = world.store().entity_ledger(&"entities".parse()?, &joins)?;
    let (joined, _) = joined(world)?;
    let consume = Some(live.clone());
    for (entities, commit) in [
        (&split, Commit { consume: consume.clone(), ..commit.clone() }),
        (&split, Commit { create: vec![token("out")?], ..commit.clone() }),
        (&split, Commit { entry: None, ..commit.clone() }),
        (&half, Commit { create: vec![token("out")?], ..commit.clone() }),
        (&joined, Commit { entry: None, consume, create: vec![token("out")?], ..commit.clone() }),
    ] {
        let refused = entities.commit(&commit).await;
        ensure_matches!(refused, Err(error) if error.kind() == ErrorKind::InvalidInput, "{commit:?}");
    }
    let asked = split.open(&one.key, &one.message, Some(&live)).await;
    ensure_matches!(asked, Err(error) if error.kind() == ErrorKind::InvalidInput, "a token of a split ledger");
    ensure_eq!(one.open(&*split).await?, Default::default(), "the entity");
    ensure_eq!(live_of(&*tokens, &["in", "out"]).await?, 1, "the tokens that live");
    Ok(())
}

async fn live_of(store: &dyn TokenStore, names: &[&str]) -> Result<usize, Failure> {
    live(store, &tokens(names)?).await
}

/// Commits of different entities and direct consumers race for one token, and exactly one call consumes it.
pub(super) async fn a_token_is_consumed_by_one_commit(world: &World) -> Verdict {
    let clients = [joined(world)?, both_of(&world.client().await?)?];
    let (_, tokens) = &clients[0];
    for round in 0..world.profile().rounds {
        for size in SIZES {
            let consumed = token(format!("in-{round}-{size}"))?;
            answered(|| tokens.create_tokens(std::slice::from_ref(&consumed))).await?;
            let won = race(size, |number| {
                let ((entities, tokens), consumed) = (clients[number % 2].clone(), consumed.clone());
                async move { consumes(&*entities, &*tokens, &consumed, number).await }
            })
            .await?;
            ensure_eq!(won.iter().filter(|won| **won).count(), 1, "calls that consumed one token");
        }
    }
    Ok(())
}

/// Tries to consume the token, by a commit or by a call of the token store. Returns whether the token was consumed.
async fn consumes(
    entities: &dyn EntityLedger,
    tokens: &dyn TokenStore,
    consumed: &TokenId,
    number: usize,
) -> Result<bool, Failure> {
    let by = op(format!("caller-{number}"))?;
    if number % 4 == 3 {
        return Ok(answered(|| tokens.consume(consumed, &by)).await? == Consumed::Now);
    }
    let one = Messaged::new(&format!("{consumed}-{number}"), "message")?;
    let create = vec![token(format!("{consumed}-out-{number}"))?];
    let commit =
        Commit { attempt: by, consume: Some(consumed.clone()), create: create.clone(), ..one.commit(entities).await? };
    let is_made = answered(|| entities.commit(&commit)).await? == Committed::Committed;
    ensure_eq!(one.open(entities).await?.entry.is_some(), is_made, "whether the entry is there");
    ensure_eq!(live(tokens, &create).await?, usize::from(is_made), "the new tokens that live");
    Ok(is_made)
}

/// A read during a commit sees either the live token or the entry and the state, never a mixture.
pub(super) async fn an_open_sees_one_moment(world: &World) -> Verdict {
    let (entities, tokens) = joined(world)?;
    for round in 0..world.profile().rounds * 2 {
        let (one, consumed) = (Messaged::new(&format!("entity-{round}"), "one")?, token(format!("in-{round}"))?);
        answered(|| tokens.create_tokens(std::slice::from_ref(&consumed))).await?;
        race(8, |number| {
            let (entities, one, consumed) = (Arc::clone(&entities), one.clone(), consumed.clone());
            async move {
                if number == 0 {
                    let commit = exchange(&*entities, &one, &consumed).await?;
                    ensure_eq!(answered(|| entities.commit(&commit)).await?, Committed::Committed, "the commit");
                    return Ok(());
                }
                looks(&*entities, &one, &consumed).await
            }
        })
        .await?;
    }
    Ok(())
}

async fn looks(entities: &dyn EntityLedger, one: &Messaged, consumed: &TokenId) -> Verdict {
    for _ in 0..12 {
        let opened = answered(|| entities.open(&one.key, &one.message, Some(consumed))).await?;
        let is_made = opened.entry.is_some();
        ensure_eq!(opened.token_is_live, Some(!is_made), "whether the token lives, beside {:?}", opened.entry);
        ensure_eq!(opened.state.is_some(), is_made, "whether the state is there, beside {:?}", opened.entry);
    }
    Ok(())
}

pub(super) async fn a_joined_commit_whose_reply_is_lost_is_repeated(world: &World) -> Verdict {
    let (entities, tokens) = joined(world)?;
    for fate in [Fate::RequestLost, Fate::ReplyLost, Fate::Late] {
        for entry in [true, false] {
            let name = format!("{fate:?}-{entry}");
            let (one, consumed) = (Messaged::new(&name, "message")?, token(format!("in-{name}"))?);
            tokens.create_tokens(std::slice::from_ref(&consumed)).await?;
            let mut commit = exchange(&*entities, &one, &consumed).await?;
            if !entry {
                (commit.entry, commit.create) = (None, vec![]);
            }
            let link = Link::script([fate]);
            let far: Arc<dyn EntityLedger> = link.before(&entities);
            let lost = far.commit(&commit).await;
            ensure_matches!(lost, Err(error) if error.kind() == ErrorKind::OutcomeUnknown, "a reply that is lost");
            ensure_eq!(far.commit(&commit).await?, Committed::Committed, "the same commit after {fate:?}");
            let other = Commit { change: EntityChange::Delete, ..exchange(&*entities, &one, &consumed).await? };
            let other = Commit { attempt: op("copy")?, ..other };
            let denied = if entry { Committed::Conflict } else { Committed::TokenGone };
            ensure_eq!(entities.commit(&other).await?, denied, "another copy after {fate:?}");
            link.land().await;
            let opened = one.open(&*entities).await?;
            ensure_eq!(opened.state, Some(payload("message")?), "the state once all has landed after {fate:?}");
            ensure_eq!(opened.entry, fresh_entry(&commit), "the entry once all has landed after {fate:?}");
            ensure_eq!(live(&*tokens, &commit.create).await?, commit.create.len(), "the new tokens that live");
        }
    }
    Ok(())
}

pub(super) async fn dropping_a_joined_commit_leaves_all_or_nothing(world: &World) -> Verdict {
    drop_everywhere(world, calls::CALLS).await
}

pub(super) async fn a_cut_connection_leaves_all_or_nothing(world: &World) -> Verdict {
    cut_everywhere(world, calls::CALLS).await
}
