//! The parts of a message on its way: how both brokers name them, and what is made of them.

use bytes::Bytes;
use storagebox_core::{MessageId, Payload, TokenId};

use crate::delivery::{Malformed, Received};

/// The header with the message's id.
pub(crate) const ID: &str = "storagebox-id";
/// The header with the message's token. Messages of other senders have none.
pub(crate) const TOKEN: &str = "storagebox-token";

/// Checks the parts that a copy came with.
pub(crate) fn received(id: Option<&str>, token: Option<&str>, body: Bytes) -> Result<Received, Malformed> {
    let id = id.ok_or_else(|| Malformed("it has no id".to_owned()))?;
    Ok(Received {
        id: MessageId::new(id).map_err(|error| malformed(&error))?,
        token: token.map(TokenId::new).transpose().map_err(|error| malformed(&error))?,
        body: Payload::new(body).map_err(|error| malformed(&error))?,
    })
}

/// The errors of values name the field and the limit, and never the text.
fn malformed(error: &storagebox_core::Error) -> Malformed {
    Malformed(error.to_string())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn whole_parts_are_a_message() {
        let message = received(Some("order-7"), Some("token-9"), Bytes::from_static(b"text")).unwrap();
        assert_eq!((message.id.as_str(), message.token.unwrap().as_str()), ("order-7", "token-9"));
        assert_eq!(message.body.as_bytes(), b"text");
        assert_eq!(received(Some("order-7"), None, Bytes::new()).unwrap().token, None);
    }

    #[test]
    fn parts_that_no_message_can_have_are_named_and_not_shown() {
        let long = "x".repeat(600);
        let text = |id, token, body| received(id, token, body).unwrap_err().to_string();
        assert!(text(None, None, Bytes::new()).ends_with("it has no id"));
        for text in [
            text(Some(&long), None, Bytes::new()),
            text(Some(""), None, Bytes::new()),
            text(Some("id"), Some(&long), Bytes::new()),
            text(Some("id"), None, Bytes::from(vec![0; 300 * 1024])),
        ] {
            assert!(text.starts_with("this is no message of storagebox: ") && !text.contains("xx"), "{text}");
        }
    }
}
