//! Commits that change tokens as well: E-8.

use std::time::Duration;

use storagebox_core::{
    Backend, Commit, Committed, Consumed, EntityChange, EntityLedger, ErrorKind, Joins, Namespace, OpId, Result,
    TokenId, TokenStore, Version,
};

use super::{commit_at, commit_of, committed, entry, joined, key, split, store, version};
use crate::scene::{blocked, count, session, tell, until, with_place};
use crate::support::run;

const DAY: Duration = Duration::from_secs(24 * 3_600);

fn tokens(prefix: &str, count: usize) -> Result<Vec<TokenId>> {
    (0..count).map(|number| TokenId::new(format!("{prefix}-{number}"))).collect()
}

#[tokio::test]
async fn a_joined_commit_changes_the_tokens_or_nothing() -> Result<()> {
    with_place(async |place| {
        let (entities, store) = joined(&store(place)?)?;
        let [given, out] = ["in", "out-0"].map(TokenId::new);
        let (given, out) = (given?, out?);
        store.create_tokens(&[given.clone(), TokenId::new("other")?]).await?;
        let commit = Commit { consume: Some(given.clone()), create: tokens("out", 2)?, ..commit_at(None, "a")? };
        let stale = Commit { opened: Some(Version::new(99)), ..commit.clone() };
        assert_eq!(entities.commit(&stale).await?, Committed::Conflict);
        let gone = Commit { consume: Some(TokenId::new("never created")?), ..commit.clone() };
        assert_eq!(entities.commit(&gone).await?, Committed::TokenGone);
        assert!(store.exists(&given).await? && !store.exists(&out).await?);
        assert!(version(&*entities, "a").await?.is_none());

        committed(&*entities, &commit).await?;
        let opened = entities.open(&key()?, &commit.message, Some(&given)).await?;
        assert_eq!(opened.token_is_live, Some(false));
        assert_eq!(opened.entry.and_then(|entry| entry.chosen), Some(OpId::new("a")?));
        assert!(store.exists(&TokenId::new("out-1")?).await?);
        assert_eq!(store.consume(&given, &OpId::new("a")?).await?, Consumed::Again);
        committed(&*entities, &commit).await
    })
    .await
}

/// Also where the state is deleted with it, so that nothing else is left of it.
#[tokio::test]
async fn a_commit_without_an_entry_is_known_by_the_token_that_it_consumed() -> Result<()> {
    with_place(async |place| {
        let (entities, store) = joined(&store(place)?)?;
        for (name, change) in [("put", EntityChange::Put("x".try_into()?)), ("delete", EntityChange::Delete)] {
            let token = Some(TokenId::new(name)?);
            store.create_tokens(token.as_slice()).await?;
            let commit = Commit { change, entry: None, consume: token, ..commit_of(&*entities, name).await? };
            committed(&*entities, &commit).await?;
            committed(&*entities, &commit).await?;
            let again = Commit { attempt: "again".try_into()?, opened: version(&*entities, name).await?, ..commit };
            assert_eq!(entities.commit(&again).await?, Committed::TokenGone);
        }
        Ok(())
    })
    .await
}

/// Those that are live, and those that are gone and remembered, are what they were.
#[tokio::test]
async fn tokens_are_created_as_their_own_store_creates_them() -> Result<()> {
    with_place(async |place| {
        let all = store(place)?;
        let (entities, store) = joined(&all)?;
        let ids = tokens("out", 50)?;
        store.create_tokens(&ids[..2]).await?;
        assert_eq!(store.consume(&ids[1], &OpId::new("op")?).await?, Consumed::Now);
        store.discard(&ids[2..3]).await?;
        let twice = ids.iter().rev().chain(&ids).cloned().collect();
        committed(&*entities, &Commit { create: twice, ..commit_at(None, "a")? }).await?;
        let created = store.create_tokens(&ids).await?;
        assert_eq!((created.created, created.already_live, created.gone), (0, 48, 2));
        assert_eq!(store.consume(&ids[1], &OpId::new("op")?).await?, Consumed::Again);
        place.advance(8 * DAY).await?;
        committed(&*entities, &Commit { create: ids.clone(), ..commit_of(&*entities, "b").await? }).await?;
        assert!(store.exists(&ids[1]).await? && store.exists(&ids[2]).await?, "they are forgotten");
        Ok(())
    })
    .await
}

#[tokio::test]
async fn any_number_of_tokens_is_created_before_and_behind_the_one_that_is_consumed() -> Result<()> {
    with_place(async |place| {
        let (entities, store) = joined(&store(place)?)?;
        for (name, token, count) in [("a", "a", 0), ("b", "z", 1), ("c", "out-3", 6), ("d", "m", 6_000)] {
            let token = TokenId::new(token)?;
            store.create_tokens(std::slice::from_ref(&token)).await?;
            let mut create = tokens(&format!("{name}-l"), count / 2)?;
            create.extend(tokens(&format!("{name}-out"), count - count / 2)?);
            create.extend(tokens(&format!("z-{name}"), count / 2)?);
            let commit =
                Commit { consume: Some(token.clone()), create: create.clone(), ..commit_of(&*entities, name).await? };
            committed(&*entities, &commit).await?;
            assert!(!store.exists(&token).await?);
            assert_eq!(store.create_tokens(&create).await?.already_live, create.len() as u64);
        }
        Ok(())
    })
    .await
}

/// It is consumed before the others are created, also where it is one of them.
#[tokio::test]
async fn a_token_that_is_consumed_is_not_created_in_the_same_step() -> Result<()> {
    with_place(async |place| {
        let (entities, store) = joined(&store(place)?)?;
        let token = TokenId::new("token")?;
        store.create_tokens(std::slice::from_ref(&token)).await?;
        let commit = Commit { consume: Some(token.clone()), create: vec![token.clone()], ..commit_at(None, "a")? };
        committed(&*entities, &commit).await?;
        assert!(!store.exists(&token).await?);
        Ok(())
    })
    .await
}

/// The namespaces of the two kinds of tokens share nothing, and the split form finishes what the joined one began.
#[tokio::test]
async fn incoming_and_outgoing_tokens_may_be_in_two_namespaces() -> Result<()> {
    with_place(async |place| {
        let all = store(place)?;
        let (low, high): (Namespace, Namespace) = ("low".parse()?, "high".parse()?);
        for (incoming, outgoing) in [(&low, &high), (&high, &low)] {
            let joins = Joins { incoming: Some(incoming.clone()), outgoing: Some(outgoing.clone()) };
            let entities = all.entity_ledger(&"entities".parse()?, &joins)?;
            let (taken, made) = (all.token_store(incoming)?, all.token_store(outgoing)?);
            let [given, out] = [TokenId::new(format!("{incoming}"))?, TokenId::new(format!("out of {incoming}"))?];
            taken.create_tokens(std::slice::from_ref(&given)).await?;
            let name = incoming.as_str();
            let (consume, create) = (Some(given.clone()), vec![out.clone()]);
            committed(&*entities, &Commit { consume, create, ..commit_of(&*entities, name).await? }).await?;
            assert_eq!((taken.exists(&given).await?, taken.exists(&out).await?), (false, false));
            assert!(made.exists(&out).await?);
            assert!(split(&all)?.remove(&entry(name)?).await?);
        }
        Ok(())
    })
    .await
}

/// Another has locked the token of a commit that found it live, and ends it: nothing of the commit stays, and it says so
/// in the end.
#[tokio::test]
async fn a_token_that_another_ends_meanwhile_undoes_the_whole_commit() -> Result<()> {
    for is_new in [true, false] {
        with_place(async |place| {
            let (entities, store) = joined(&store(place)?)?;
            if !is_new {
                committed(&*entities, &commit_at(None, "first")?).await?;
            }
            let token = TokenId::new("out-5")?;
            store.create_tokens(std::slice::from_ref(&token)).await?;
            let before = entities.open(&key()?, &"a".try_into()?, Some(&token)).await?;
            assert_eq!(before.token_is_live, Some(true));
            let commit = commit_of(&*entities, "a").await?;
            let commit = Commit { consume: Some(token.clone()), create: tokens("out", 9)?, ..commit };
            let schema = &place.schema;
            let ended = format!("UPDATE {schema}.tokens SET gone_at = now(), op = 'other'");
            let mut other = session(place, &ended).await?;
            let end = async {
                until("a commit that waits", async || Ok(blocked(&place.database, schema).await? == 1)).await?;
                tell(&mut other, "COMMIT").await
            };
            let (answer, ()) = tokio::try_join!(entities.commit(&commit), end)?;
            assert_eq!(answer, Committed::TokenGone);
            let after = entities.open(&key()?, &"a".try_into()?, None).await?;
            assert_eq!((after.version, after.state, after.entry), (before.version, before.state, before.entry));
            assert_eq!(count(&place.database, &format!("SELECT count(*) FROM {schema}.tokens")).await?, 1);
            Ok(())
        })
        .await?;
    }
    Ok(())
}

/// Nothing is made in a namespace of tokens that is not the one that was opened.
#[tokio::test]
async fn a_commit_is_refused_where_the_namespace_of_its_tokens_is_lost() -> Result<()> {
    with_place(async |place| {
        let (entities, store) = joined(&store(place)?)?;
        let token = TokenId::new("in")?;
        store.create_tokens(std::slice::from_ref(&token)).await?;
        let create = Commit { create: tokens("out", 1)?, ..commit_at(None, "a")? };
        let consume = Commit { consume: Some(token.clone()), ..commit_at(None, "a")? };
        committed(&*entities, &commit_at(None, "first")?).await?;
        run(place.database.owner(), format!("DELETE FROM {}.namespaces WHERE kind = 'tokens'", place.schema)).await?;
        for commit in [create, consume] {
            let refused = entities.commit(&commit).await.unwrap_err();
            assert_eq!(refused.kind(), ErrorKind::Corrupt, "{refused}");
        }
        let refused = entities.open(&key()?, &"a".try_into()?, Some(&token)).await.unwrap_err();
        assert_eq!(refused.kind(), ErrorKind::Corrupt, "{refused}");
        Ok(())
    })
    .await
}
