//! The largest ids, contents and numbers of tokens.

use storagebox_core::{
    Commit, Committed, EntityChange, EntityLedger, EntryId, ErrorKind, Key, MAX_ID_BYTES, MAX_PAYLOAD_BYTES, MessageId,
    OpId, Payload, Registered, Result, TokenId, TokenStore,
};

use super::{commit_of, joined, message, op, token};
use crate::scene::{recorded, with_place};

/// Returns an id of the largest length.
fn long(name: &str) -> String {
    format!("{name:-<MAX_ID_BYTES$}")
}

#[tokio::test]
async fn the_longest_of_everything_is_kept() -> Result<()> {
    with_place(async |place| {
        let name = long("name").parse()?;
        let joins = storagebox_core::Joins { incoming: Some(long("tokens").parse()?), outgoing: None };
        let store = place.store().await?;
        let entities = storagebox_core::Backend::entity_ledger(&store, &name, &joins)?;
        let tokens = storagebox_core::Backend::token_store(&store, &long("tokens").parse()?)?;
        let (key, message) = (Key::new(long("key"))?, MessageId::new(long("message"))?);
        let consumed = TokenId::new(long("token"))?;
        tokens.create_tokens(std::slice::from_ref(&consumed)).await?;
        let (state, content) = (Payload::new(vec![1; MAX_PAYLOAD_BYTES])?, Payload::new(vec![2; MAX_PAYLOAD_BYTES])?);
        let commit = Commit {
            key: key.clone(),
            message: message.clone(),
            opened: None,
            change: EntityChange::Put(state.clone()),
            attempt: OpId::new(long("attempt"))?,
            entry: Some(content.clone()),
            consume: Some(consumed.clone()),
            create: vec![],
        };
        assert_eq!(entities.commit(&commit).await?, Committed::Committed);
        let id = EntryId { key: key.clone(), message: message.clone(), commit: commit.attempt.clone() };
        for number in 1..250 {
            let attempt = OpId::new(long(&format!("{number}")))?;
            assert_eq!(entities.register(&id, &attempt).await?, Registered::Registered, "{number}");
        }
        let error = entities.register(&id, &op("one more")).await.unwrap_err();
        assert_eq!(error.kind(), ErrorKind::TooLarge, "{error}");
        assert!(error.to_string().contains("250 attempts"), "{error}");
        let _ = entities.choose(&id, &OpId::new(long("249"))?).await?;
        let opened = entities.open(&key, &message, Some(&consumed)).await?;
        assert_eq!((opened.state, opened.token_is_live), (Some(state), Some(false)));
        let entry = opened.entry.unwrap();
        assert_eq!((entry.content, entry.attempts.len()), (content, 250));
        assert_eq!(entities.pending(None, 10).await?.entries, std::slice::from_ref(&id));
        assert!(entities.remove(&id).await?);
        Ok(())
    })
    .await
}

/// A transaction has at most a hundred rows. A larger commit is refused before any request.
#[tokio::test]
async fn as_many_tokens_as_a_transaction_takes_are_created_in_one_step() -> Result<()> {
    with_place(async |place| {
        let (store, faults) = recorded(&place.table, place.builder()).await?;
        let (entities, tokens) = joined(&store)?;
        for count in [1_usize, 50, 97] {
            let (name, consumed) = (format!("message-{count}"), token(&format!("in-{count}")));
            tokens.create_tokens(std::slice::from_ref(&consumed)).await?;
            let create: Vec<_> = (0..count).map(|number| token(&format!("{count}-{number}"))).collect();
            let commit =
                Commit { create: create.clone(), consume: Some(consumed), ..commit_of(&*entities, &name).await? };
            assert_eq!(entities.commit(&commit).await?, Committed::Committed, "{count}");
            assert_eq!(tokens.create_tokens(&create).await?.already_live, count as u64);
        }
        let create = (0..98).map(|number| token(&format!("beyond-{number}"))).collect();
        let commit = Commit { create, consume: Some(token("in")), ..commit_of(&*entities, "beyond").await? };
        faults.taken();
        let error = entities.commit(&commit).await.unwrap_err();
        assert_eq!(error.kind(), ErrorKind::TooLarge, "{error}");
        assert!(error.to_string().contains("at most 97 tokens"), "{error}");
        assert_eq!(faults.taken(), [], "requests were sent");
        assert!(entities.open(&super::key(), &message("beyond"), None).await?.entry.is_none());
        Ok(())
    })
    .await
}
