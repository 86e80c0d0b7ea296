//! The first messages of a chain, large messages, and many messages at once.

use std::collections::BTreeSet;

use storagebox_core::{Decision, ErrorKind, Message, Outcome, Payload, ProcessError};

use crate::endpoint::{Endpoint, Sends};

#[tokio::test]
async fn messages_that_are_issued_twice_are_processed_once() {
    let endpoint = Endpoint::new(false, false);
    let processor = endpoint.processor(Sends(0));
    for _ in 0..2 {
        assert_eq!(processor.issue("order-7", [("a", "1"), ("b", "2")]).await.unwrap(), 2);
    }
    let sent = endpoint.queue.sent.lock().unwrap().clone();
    assert_eq!(sent[..2], sent[2..]);
    let mut outcomes = vec![];
    for outgoing in sent {
        let message = Message::new(outgoing.id, "entity", outgoing.body).unwrap().with_token(outgoing.token);
        outcomes.push(processor.process(&message).await.unwrap());
    }
    let (processed, duplicate) = (Outcome::Processed { sent: 0 }, Outcome::Duplicate { cleaned: false });
    assert_eq!(outcomes, [processed, processed, duplicate, duplicate]);
}

#[tokio::test]
async fn message_is_issued_after_its_token_is_created() {
    let endpoint = Endpoint::new(false, false);
    *endpoint.queue.is_down.lock().unwrap() = true;
    endpoint.processor(Sends(0)).issue("order-7", [("a", "1")]).await.unwrap_err();
    assert!(endpoint.tokens().exists(&"order-7-0".parse().unwrap()).await.unwrap());
}

#[tokio::test]
async fn a_too_long_op_or_too_large_decision_changes_nothing() {
    let endpoint = Endpoint::new(true, true);
    let processor = endpoint.processor(Sends(0));
    let ProcessError::Store(error) = processor.issue("o".repeat(512), [("a", "1")]).await.unwrap_err() else {
        panic!("another error")
    };
    assert_eq!(error.kind(), ErrorKind::InvalidInput);

    let half = Payload::new(vec![0; 140_000]).unwrap();
    let large = move |_: Option<Payload>, _: Message| {
        let half = half.clone();
        async move { Ok(Decision::keep().send("a", &half)?.send("b", &half)?) }
    };
    let message = endpoint.message("m").await;
    let ProcessError::Store(error) = endpoint.processor(large).process(&message).await.unwrap_err() else {
        panic!("another error")
    };
    assert_eq!(error.kind(), ErrorKind::TooLarge);
    assert_eq!(endpoint.calls.take(), ["open"]);
}

/// Many messages for one entity arrive at the same time, and each arrives twice.
#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn many_workers_on_one_entity_apply_each_message_once() {
    for joined in [false, true] {
        let endpoint = Endpoint::new(joined, joined);
        let processor = endpoint.processor(Sends(1));
        let ids: Vec<_> = ('!'..='~').take(32).map(String::from).collect();
        let mut workers = vec![];
        for id in ids.iter().chain(&ids) {
            let (processor, message) = (processor.clone(), endpoint.message(id).await);
            workers.push(tokio::spawn(async move { processor.process(&message).await }));
        }
        for worker in workers {
            let _ = worker.await.unwrap().unwrap();
        }
        let opened = endpoint.entities().open(&"entity".parse().unwrap(), &"m".parse().unwrap(), None).await.unwrap();
        let state = opened.state.unwrap();
        assert_eq!(state.as_bytes().len(), 32);
        assert_eq!(state.as_bytes().iter().collect::<BTreeSet<_>>().len(), 32);
        let sent: BTreeSet<_> = endpoint.queue.sent.lock().unwrap().iter().map(|sent| sent.id.clone()).collect();
        assert_eq!(sent.len(), 32);
        assert!(endpoint.entities().pending(None, 10).await.unwrap().entries.is_empty());
    }
}
