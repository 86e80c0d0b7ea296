//! The largest ids, contents and numbers of tokens.

use std::fmt::Debug;
use std::str::FromStr;

use storagebox_core::{
    Backend, Commit, EntityChange, EntityLedger, EntryId, ErrorKind, Joins, MAX_ID_BYTES, MAX_PAYLOAD_BYTES, Payload,
    Registered, Result, TokenId, TokenStore,
};
use storagebox_testkit::checks::entities::{self, commit_at, commit_of, committed, joined, key};
use storagebox_testkit::checks::id;

use crate::scene::{recorded, with_place};

/// Returns an id of the maximum length.
fn long<T: FromStr<Err: Debug>>(name: &str) -> T {
    id(&format!("{name:-<MAX_ID_BYTES$}"))
}

#[test]
fn values_of_the_largest_sizes_are_stored() -> Result<()> {
    with_place(async |place| {
        let (store, joins) = (place.store().await?, Joins { incoming: Some(long("tokens")), outgoing: None });
        let entities = store.entity_ledger(&long("name"), &joins)?;
        let tokens = store.token_store(&long("tokens"))?;
        let entry = EntryId { key: long("key"), message: long("message"), commit: long("attempt") };
        let (consumed, EntryId { key, message, commit }) = (long::<TokenId>("token"), entry.clone());
        tokens.create_tokens(std::slice::from_ref(&consumed)).await?;
        let (state, content) = (Payload::new(vec![1; MAX_PAYLOAD_BYTES])?, Payload::new(vec![2; MAX_PAYLOAD_BYTES])?);
        let (change, consume) = (EntityChange::Put(state.clone()), Some(consumed.clone()));
        let (attempt, content_of_entry) = (commit, Some(content.clone()));
        let commit =
            Commit { key, message, change, attempt, entry: content_of_entry, consume, ..commit_at(None, "longest") };
        committed(&*entities, &commit).await?;
        for number in 1..250 {
            let registered = entities.register(&entry, &long(&format!("{number}"))).await?;
            assert_eq!(registered, Registered::Registered, "{number}");
        }
        let error = entities.register(&entry, &id("one more")).await.unwrap_err();
        assert_eq!(error.kind(), ErrorKind::TooLarge, "{error}");
        assert!(error.to_string().contains("250 attempts"), "{error}");
        let _ = entities.choose(&entry, &long("249")).await?;
        let opened = entities.open(&entry.key, &entry.message, Some(&consumed)).await?;
        assert_eq!((opened.state, opened.token_is_live), (Some(state), Some(false)));
        let found = opened.entry.map(|found| (found.content, found.attempts.len()));
        assert_eq!(found, Some((content, 250)));
        assert_eq!(entities.pending(None, 10).await?.entries, std::slice::from_ref(&entry));
        assert!(entities.remove(&entry).await?);
        Ok(())
    })
}

/// A transaction has at most a hundred rows. A commit that needs more rows is refused before any request.
#[test]
fn the_maximum_number_of_tokens_is_created_in_one_step() -> Result<()> {
    with_place(async |place| {
        let (store, faults) = recorded(&place.table, place.builder()).await?;
        entities::creates_tokens(&store, &[1, 50, 97]).await?;
        let (entities, _) = joined(&store)?;
        let create = (0..98).map(|number| id(&format!("beyond-{number}"))).collect();
        let commit = Commit { create, consume: Some(id("in")), ..commit_of(&*entities, "beyond").await? };
        faults.taken();
        let error = entities.commit(&commit).await.unwrap_err();
        assert_eq!(error.kind(), ErrorKind::TooLarge, "{error}");
        assert!(error.to_string().contains("at most 97 tokens"), "{error}");
        assert_eq!(faults.taken(), [], "requests were sent");
        assert!(entities.open(&key(), &id("beyond"), None).await?.entry.is_none());
        Ok(())
    })
}
