//! Messages that are given up, or finished by another worker.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use storagebox_core::layer::{Call, Layer, Layered, Next, Response};
use storagebox_core::{
    Abandoned, BoxError, Certainty, Committed, Decision, Error, ErrorKind, Message, Outcome, Payload, ProcessError,
    Result, async_trait,
};

use crate::endpoint::{Endpoint, Sends};

#[tokio::test]
async fn abandoned_message_is_a_duplicate() {
    for joined in [false, true] {
        let endpoint = Endpoint::new(joined, joined);
        let (message, processor) = (endpoint.message("m").await, endpoint.processor(Sends(1)));
        assert_eq!(processor.abandon(&message).await.unwrap(), Abandoned::Abandoned);
        assert_eq!(processor.abandon(&message).await.unwrap(), Abandoned::AlreadyOver);
        assert_eq!(processor.process(&message).await.unwrap(), Outcome::Duplicate { cleaned: false });
        assert!(endpoint.is_clean(&message).await);
        assert!(endpoint.queue.sent.lock().unwrap().is_empty());
    }
}

#[tokio::test]
async fn abandon_of_a_message_with_unsent_output_returns_pending() {
    for joined in [false, true] {
        let endpoint = Endpoint::new(joined, joined);
        let (message, processor) = (endpoint.message("m").await, endpoint.processor(Sends(2)));
        *endpoint.queue.is_down.lock().unwrap() = true;
        let failed = processor.process(&message).await.unwrap_err();
        assert!(matches!(failed, ProcessError::Dispatch(_)), "{failed}");
        assert_eq!(processor.abandon(&message).await.unwrap(), Abandoned::Pending);

        *endpoint.queue.is_down.lock().unwrap() = false;
        let pending = endpoint.entities().pending(None, 10).await.unwrap().entries;
        assert_eq!(pending.len(), 1);
        let resumed = processor.resume(&pending[0].key, &pending[0].message).await.unwrap();
        assert_eq!(resumed, Some(Outcome::Resumed { sent: 2 }));
        assert_eq!(processor.resume(&pending[0].key, &pending[0].message).await.unwrap(), None);
        assert_eq!(processor.process(&message).await.unwrap(), Outcome::Duplicate { cleaned: false });
        assert!(endpoint.is_clean(&message).await);
    }
}

#[tokio::test]
async fn a_handler_that_fails_leaves_the_message_as_it_was() {
    let endpoint = Endpoint::new(true, true);
    let message = endpoint.message("m").await;
    let refuses = async |_: Option<Payload>, _: Message| Err::<Decision, BoxError>("no such product".into());
    let failed = endpoint.processor(refuses).process(&message).await.unwrap_err();
    assert_eq!(failed.to_string(), "the handler failed: no such product");
    assert_eq!(endpoint.calls.take(), ["open"]);
    assert_eq!(endpoint.processor(Sends(1)).process(&message).await.unwrap(), Outcome::Processed { sent: 1 });
}

/// One of two processors has a ledger that joins the tokens. The first processor fails after its commit, and the second
/// processor finishes the message.
#[tokio::test]
async fn message_is_finished_by_a_processor_with_other_joined_tokens() {
    for (before, after) in [(false, true), (true, false)] {
        let mut endpoint = Endpoint::new(before, before);
        let message = endpoint.message("m").await;
        *endpoint.queue.is_down.lock().unwrap() = true;
        endpoint.processor(Sends(1)).process(&message).await.unwrap_err();

        *endpoint.queue.is_down.lock().unwrap() = false;
        endpoint.joins = Endpoint::new(after, after).joins;
        let processor = endpoint.processor(Sends(1));
        assert_eq!(processor.process(&message).await.unwrap(), Outcome::Resumed { sent: 1 });
        assert_eq!(processor.process(&message).await.unwrap(), Outcome::Duplicate { cleaned: false });
        assert!(endpoint.is_clean(&message).await);
        assert_eq!(endpoint.queue.sent.lock().unwrap().len(), 1);
    }
}

#[tokio::test]
async fn handler_that_sends_without_a_dispatcher_changes_nothing() {
    let endpoint = Endpoint::new(false, false);
    let message = endpoint.message("m").await;
    let processor = storagebox_core::Processor::new(endpoint.entities(), endpoint.tokens(), Sends(1));
    let ProcessError::Store(error) = processor.process(&message).await.unwrap_err() else { panic!("another error") };
    assert!(error.message().contains("no dispatcher"), "{error}");
    assert_eq!(error.certainty(), Certainty::NotApplied);
    assert_eq!(endpoint.calls.take(), ["open", "exists"]);
}

/// The step fails after the commit, so the error says that the entity may have changed.
#[tokio::test]
async fn step_that_fails_after_the_commit_is_done_by_the_next_copy() {
    let (resumed, cleaned) = (Outcome::Resumed { sent: 1 }, Outcome::Duplicate { cleaned: true });
    let steps = [("create_tokens", resumed), ("choose", resumed), ("consume", resumed), ("remove", cleaned)];
    for (step, expected) in steps {
        let endpoint = Endpoint::new(false, false);
        let (message, processor) = (endpoint.message("m").await, endpoint.processor(Sends(1)));
        endpoint.calls.fail(Some(step));
        let ProcessError::Store(error) = processor.process(&message).await.unwrap_err() else {
            panic!("another error")
        };
        assert_eq!(error.certainty(), Certainty::Unknown, "{step}: {error}");

        endpoint.calls.fail(None);
        assert_eq!(processor.process(&message).await.unwrap(), expected, "{step}");
        assert!(endpoint.is_clean(&message).await, "{step}");
    }
}

/// Tokens cannot be created, so each copy of the message tries to register another attempt.
#[tokio::test]
async fn entry_has_at_most_16_attempts_if_token_creation_fails() {
    let endpoint = Endpoint::new(false, false);
    let (message, processor) = (endpoint.message("m").await, endpoint.processor(Sends(2)));
    endpoint.calls.fail(Some("create_tokens"));
    for _ in 0..300 {
        processor.process(&message).await.unwrap_err();
    }
    let entry = endpoint.entities().open(&message.entity, &message.id, None).await.unwrap().entry.unwrap();
    assert_eq!(entry.attempts.len(), 16);

    endpoint.calls.fail(None);
    assert_eq!(processor.process(&message).await.unwrap(), Outcome::Resumed { sent: 2 });
    assert!(endpoint.is_clean(&message).await);
    let (sent, tokens) = (endpoint.queue.sent.lock().unwrap().clone(), endpoint.tokens());
    for outgoing in &sent {
        assert!(tokens.exists(&outgoing.token).await.unwrap(), "{outgoing:?}");
    }
    let last = entry.attempts.last().unwrap();
    assert!(sent.iter().all(|outgoing| outgoing.token.as_str().starts_with(last.as_str())), "{sent:?}");
}

#[tokio::test]
async fn failed_abandon_call_is_finished_by_the_next_abandon_call() {
    let endpoint = Endpoint::new(false, false);
    let (message, processor) = (endpoint.message("m").await, endpoint.processor(Sends(1)));
    endpoint.calls.fail(Some("consume"));
    processor.abandon(&message).await.unwrap_err();
    endpoint.calls.fail(None);
    assert_eq!(processor.abandon(&message).await.unwrap(), Abandoned::AlreadyOver);
    assert!(endpoint.is_clean(&message).await);
    assert_eq!(processor.process(&message).await.unwrap(), Outcome::Duplicate { cleaned: false });
}

/// A layer that answers `Conflict` to the first commit although it was applied, as after a lost reply, and fails from
/// then on.
#[derive(Debug, Default)]
struct AppliedConflict(AtomicBool);

#[async_trait]
impl Layer for AppliedConflict {
    async fn call(&self, call: &Call<'_>, next: Next<'_>) -> Result<Response> {
        if self.0.load(Ordering::SeqCst) {
            return Err(Error::new(ErrorKind::Unavailable, "it is down"));
        }
        let answer = next.run().await?;
        let is_commit = call.operation() == "commit";
        self.0.store(is_commit, Ordering::SeqCst);
        Ok(if is_commit { Response::Commit(Committed::Conflict) } else { answer })
    }
}

/// Regression: the error said that nothing was applied.
#[tokio::test]
async fn abandon_that_fails_after_a_commit_is_a_doubt() {
    let mut endpoint = Endpoint::new(false, false);
    let message = endpoint.message("m").await;
    endpoint.store = Arc::new(Layered::new(endpoint.store, Arc::<AppliedConflict>::default()));
    let failed = endpoint.processor(Sends(1)).abandon(&message).await.unwrap_err();
    let ProcessError::Store(error) = failed else { panic!("{failed:?}") };
    assert_eq!(error.certainty(), Certainty::Unknown);
}
