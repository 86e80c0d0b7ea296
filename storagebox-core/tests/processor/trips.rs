//! The store calls that one message takes.

use storagebox_core::{Outcome, Processor};

use crate::endpoint::{Endpoint, Sends};

async fn trips(incoming: bool, outgoing: bool, sent: usize) -> Vec<&'static str> {
    let endpoint = Endpoint::new(incoming, outgoing);
    let message = endpoint.message("m").await;
    let processor: Processor = endpoint.processor(Sends(sent));
    assert_eq!(processor.process(&message).await.unwrap(), Outcome::Processed { sent });
    let calls = endpoint.calls.take();
    assert!(endpoint.is_clean(&message).await);
    calls
}

#[tokio::test]
async fn joined_tokens_reduce_the_store_calls_per_message() {
    let split = ["open", "exists", "commit", "create_tokens", "choose", "consume", "remove"];
    assert_eq!(trips(false, false, 3).await, split);
    assert_eq!(trips(false, true, 3).await, ["open", "exists", "commit", "consume", "remove"]);
    assert_eq!(trips(true, false, 3).await, ["open", "commit", "create_tokens", "choose", "remove"]);
    assert_eq!(trips(true, true, 3).await, ["open", "commit", "remove"]);
    assert_eq!(trips(true, true, 0).await, ["open", "commit"]);
}

#[tokio::test]
async fn duplicate_message_causes_only_reads() {
    for (incoming, expected) in [(true, &["open"][..]), (false, &["open", "exists", "open"])] {
        let endpoint = Endpoint::new(incoming, incoming);
        let (message, processor) = (endpoint.message("m").await, endpoint.processor(Sends(1)));
        let _ = processor.process(&message).await.unwrap();
        endpoint.calls.take();
        assert_eq!(processor.process(&message).await.unwrap(), Outcome::Duplicate { cleaned: false });
        assert_eq!(endpoint.calls.take(), expected);
    }
}
