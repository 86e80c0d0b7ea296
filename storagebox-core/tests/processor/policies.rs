//! Messages without a token.

use storagebox_core::{Message, MissingToken, Outcome, ProcessError, Retention};

use crate::endpoint::{Endpoint, Sends, name};

fn without_token() -> Message {
    Message::new("m", "entity", "").unwrap()
}

#[tokio::test]
async fn a_message_without_a_token_is_refused_before_any_call() {
    let endpoint = Endpoint::new(false, false);
    let refused = endpoint.processor(Sends(0)).process(&without_token()).await;
    assert!(matches!(refused, Err(ProcessError::NoToken)));
    assert!(endpoint.calls.take().is_empty());
}

#[tokio::test]
async fn an_unprotected_message_is_processed_each_time_it_arrives() {
    for joined in [false, true] {
        let endpoint = Endpoint::new(joined, joined);
        let processor = endpoint.processor(Sends(1)).without_token(MissingToken::Unprotected);
        for _ in 0..2 {
            assert_eq!(processor.process(&without_token()).await.unwrap(), Outcome::Processed { sent: 1 });
        }
        assert_eq!(endpoint.queue.sent.lock().unwrap().len(), 2);
        assert!(endpoint.entities().pending(None, 10).await.unwrap().entries.is_empty());
    }
}

#[tokio::test]
async fn a_message_under_the_dedup_policy_is_processed_once() {
    for joined in [false, true] {
        let endpoint = Endpoint::new(joined, joined);
        let records = endpoint.store.dedup_repo(&name("received")).unwrap();
        let policy = MissingToken::Dedup { records, retention: Retention::Forever };
        let processor = endpoint.processor(Sends(1)).without_token(policy);
        assert_eq!(processor.process(&without_token()).await.unwrap(), Outcome::Processed { sent: 1 });
        for _ in 0..2 {
            assert_eq!(processor.process(&without_token()).await.unwrap(), Outcome::Duplicate { cleaned: false });
        }
        assert_eq!(endpoint.queue.sent.lock().unwrap().len(), 1);
    }
}

#[tokio::test]
async fn resume_of_a_dedup_message_under_another_policy_is_refused() {
    let endpoint = Endpoint::new(false, false);
    let records = endpoint.store.dedup_repo(&name("received")).unwrap();
    let policy = MissingToken::Dedup { records, retention: Retention::Forever };
    let processor = endpoint.processor(Sends(1)).without_token(policy);
    *endpoint.queue.is_down.lock().unwrap() = true;
    processor.process(&without_token()).await.unwrap_err();

    let (entity, message) = ("entity".parse().unwrap(), "m".parse().unwrap());
    let refused = endpoint.processor(Sends(1)).resume(&entity, &message).await.unwrap_err();
    assert!(refused.to_string().contains("is no longer Dedup"), "{refused}");

    *endpoint.queue.is_down.lock().unwrap() = false;
    assert_eq!(processor.resume(&entity, &message).await.unwrap(), Some(Outcome::Resumed { sent: 1 }));
    assert_eq!(processor.process(&without_token()).await.unwrap(), Outcome::Duplicate { cleaned: false });
}

#[tokio::test]
async fn invalid_retention_or_abandon_call_makes_no_store_call() {
    let endpoint = Endpoint::new(false, false);
    let records = endpoint.store.dedup_repo(&name("received")).unwrap();
    let policy = MissingToken::Dedup { records, retention: Retention::For(std::time::Duration::ZERO) };
    endpoint.processor(Sends(1)).without_token(policy).process(&without_token()).await.unwrap_err();
    let unprotected = endpoint.processor(Sends(1)).without_token(MissingToken::Unprotected);
    unprotected.abandon(&without_token()).await.unwrap_err();
    assert!(endpoint.calls.take().is_empty());
}
