//! Commits that also change tokens: E-8.

use storagebox_core::{Commit, Committed, ErrorKind, Result, TokenId};
use storagebox_testkit::checks::entities::{commit_at, commit_of, committed, joined, key};
use storagebox_testkit::checks::id;

use crate::scene::{blocked, count, patient, session, tell, until, with_place};
use crate::support::run;

fn tokens(prefix: &str, count: usize) -> Vec<TokenId> {
    (0..count).map(|number| id(&format!("{prefix}-{number}"))).collect()
}

/// The commit waits for a transaction that consumes the commit's token, and then applies nothing.
#[test]
fn commit_is_undone_if_another_transaction_consumes_its_token() -> Result<()> {
    for is_new in [true, false] {
        with_place(async |place| {
            let (entities, store) = joined(&patient(place)?)?;
            if !is_new {
                committed(&*entities, &commit_at(None, "first")).await?;
            }
            let token = TokenId::new("out-5")?;
            store.create_tokens(std::slice::from_ref(&token)).await?;
            let before = entities.open(&key(), &id("a"), Some(&token)).await?;
            assert_eq!(before.token_is_live, Some(true));
            let commit = commit_of(&*entities, "a").await?;
            let commit = Commit { consume: Some(token.clone()), create: tokens("out", 9), ..commit };
            let schema = &place.schema;
            let ended = format!("UPDATE {schema}.tokens SET gone_at = now(), op = 'other'");
            let mut other = session(place, &ended).await?;
            let end = async {
                until("a commit that waits", async || Ok(blocked(&place.database, schema).await? == 1)).await?;
                tell(&mut other, "COMMIT").await
            };
            let (answer, ()) = tokio::try_join!(entities.commit(&commit), end)?;
            assert_eq!(answer, Committed::TokenGone);
            let after = entities.open(&key(), &id("a"), None).await?;
            assert_eq!((after.version, after.state, after.entry), (before.version, before.state, before.entry));
            assert_eq!(count(&place.database, &format!("SELECT count(*) FROM {schema}.tokens")).await?, 1);
            Ok(())
        })?;
    }
    Ok(())
}

/// Another session deletes the namespace of the tokens after the store has opened it.
#[test]
fn commit_with_a_lost_token_namespace_is_refused() -> Result<()> {
    with_place(async |place| {
        let (entities, store) = joined(&patient(place)?)?;
        let token = TokenId::new("in")?;
        store.create_tokens(std::slice::from_ref(&token)).await?;
        let create = Commit { create: tokens("out", 1), ..commit_at(None, "a") };
        let consume = Commit { consume: Some(token.clone()), ..commit_at(None, "a") };
        committed(&*entities, &commit_at(None, "first")).await?;
        run(place.database.owner(), format!("DELETE FROM {}.namespaces WHERE kind = 'tokens'", place.schema)).await?;
        for commit in [create, consume] {
            let refused = entities.commit(&commit).await.unwrap_err();
            assert_eq!(refused.kind(), ErrorKind::Corrupt, "{refused}");
        }
        let refused = entities.open(&key(), &id("a"), Some(&token)).await.unwrap_err();
        assert_eq!(refused.kind(), ErrorKind::Corrupt, "{refused}");
        Ok(())
    })
}
