//! The content of an entry.
//!
//! A format byte, a letter for the guard, the token if the guard is one, then the id, destination and body of each
//! message.

use super::guard::Guard;
use crate::backend::fields::{DecodeError, Fields, put_bytes, put_text};
use crate::values::error::{Error, ErrorKind, Result};
use crate::values::message::{Outgoing, Output};
use crate::values::value::{Destination, MAX_PAYLOAD_BYTES, MessageId, OpId, Payload, TokenId};

const FORMAT: u8 = b'1';

/// The messages that one run of the handler decided to send, and the guard to close after they are sent.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Content {
    pub(super) guard: Guard,
    /// The messages, each with an id that is the same in every attempt.
    pub(super) outputs: Vec<(MessageId, Output)>,
}

impl Content {
    /// Returns the tokens that this attempt creates, one per message.
    pub(super) fn tokens(&self, attempt: &OpId) -> Result<Vec<TokenId>> {
        (0..self.outputs.len()).map(|index| TokenId::new(numbered(attempt, index))).collect()
    }

    /// Returns the messages to send, with the tokens that this attempt created.
    pub(super) fn outgoing(&self, attempt: &OpId) -> Result<Vec<Outgoing>> {
        let with_token = |((id, output), token): (&(MessageId, Output), TokenId)| {
            let Output { destination, body } = output.clone();
            Outgoing { id: id.clone(), token, destination, body }
        };
        Ok(self.outputs.iter().zip(self.tokens(attempt)?).map(with_token).collect())
    }

    pub(super) fn encode(&self) -> Result<Payload> {
        let mut bytes = Vec::with_capacity(self.about_as_long_as());
        bytes.extend([FORMAT, self.letter()]);
        if let Some(token) = self.guard.token() {
            put_text(&mut bytes, "token", token.as_str())?;
        }
        for (id, output) in &self.outputs {
            put_text(&mut bytes, "message id", id.as_str())?;
            put_text(&mut bytes, "destination", output.destination.as_str())?;
            put_bytes(&mut bytes, "body", output.body.as_bytes())?;
        }
        let length = bytes.len();
        Payload::new(bytes).map_err(|_| too_much(length))
    }

    pub(super) fn decode(stored: &Payload, message: &MessageId) -> Result<Self> {
        Self::read(stored)
            .map_err(|error| Error::corrupt(format_args!("the entry of {message:?}"), &error).caused_by(error))
    }

    fn read(stored: &Payload) -> Result<Self, DecodeError> {
        let (letter, mut fields) = Fields::begin(stored.as_bytes(), FORMAT)?;
        let guard = match letter {
            b'O' => Guard::Open,
            b'R' => Guard::Record,
            b'T' => Guard::Token(TokenId::new(fields.text()?)?),
            other => return Err(DecodeError::State(other)),
        };
        let mut outputs = vec![];
        while !fields.is_empty() {
            let id = MessageId::new(fields.text()?)?;
            let destination = Destination::new(fields.text()?)?;
            outputs.push((id, Output { destination, body: Payload::try_from(fields.bytes()?)? }));
        }
        Ok(Self { guard, outputs })
    }

    /// Returns an estimate of the encoded length, for the capacity of the buffer.
    fn about_as_long_as(&self) -> usize {
        const TEXTS: usize = 100;
        self.outputs.iter().map(|(_, output)| TEXTS + output.body.as_bytes().len()).sum::<usize>() + TEXTS
    }

    fn letter(&self) -> u8 {
        match self.guard {
            Guard::Open => b'O',
            Guard::Record => b'R',
            Guard::Token(_) => b'T',
        }
    }
}

/// Returns the id of the message or token that has this index in the attempt.
pub(super) fn numbered(attempt: &OpId, index: usize) -> String {
    [attempt.as_str(), "-", &index.to_string()].concat()
}

fn too_much(length: usize) -> Error {
    let why =
        format!("the messages of one decision must have at most {MAX_PAYLOAD_BYTES} bytes together, not {length}");
    Error::new(ErrorKind::TooLarge, why).with("limit", MAX_PAYLOAD_BYTES).with("bytes", length)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn contents() -> Vec<Content> {
        let output = |body: &str| Output { destination: "é".parse().unwrap(), body: Payload::try_from(body).unwrap() };
        let outputs = vec![("a-0".parse().unwrap(), output("")), ("a-1".parse().unwrap(), output("body"))];
        let guards = [Guard::Open, Guard::Record, Guard::Token("t".parse().unwrap())];
        let with = |guard: &Guard, outputs: &[_]| Content { guard: guard.clone(), outputs: outputs.to_vec() };
        guards.iter().flat_map(|guard| [with(guard, &[]), with(guard, &outputs)]).collect()
    }

    fn read(bytes: &[u8]) -> Result<Content, DecodeError> {
        Content::read(&Payload::try_from(bytes).unwrap())
    }

    #[test]
    fn every_entry_content_is_read_back_as_it_was_written() {
        for content in contents() {
            assert_eq!(read(content.encode().unwrap().as_bytes()).unwrap(), content);
        }
    }

    #[test]
    fn entry_with_an_unknown_format_or_guard_is_refused() {
        assert!(matches!(read(b"2O"), Err(DecodeError::Format { found: b'2', .. })));
        assert!(matches!(read(b"1X"), Err(DecodeError::State(b'X'))));
        assert!(matches!(read(b"1"), Err(DecodeError::Short)));
    }

    #[test]
    fn any_entry_bytes_are_decoded_exactly_or_refused() {
        let known: Vec<_> = contents().iter().map(|content| content.encode().unwrap().as_bytes().to_vec()).collect();
        storagebox_fuzz::bytes(&known, |bytes| {
            let Ok(payload) = Payload::new(bytes.to_vec()) else { return };
            if let Ok(content) = Content::read(&payload) {
                assert_eq!(content.encode().unwrap().as_bytes(), bytes);
            }
        });
    }

    #[test]
    fn error_for_messages_over_the_size_limit_names_the_limit() {
        let body = Payload::new(vec![0; MAX_PAYLOAD_BYTES - 8]).unwrap();
        let output = Output { destination: "d".parse().unwrap(), body };
        let content = Content { guard: Guard::Open, outputs: vec![("a-0".parse().unwrap(), output)] };
        let error = content.encode().unwrap_err();
        assert_eq!(error.kind(), ErrorKind::TooLarge);
        assert!(error.message().contains("262144 bytes together, not 262150"), "{error}");
    }
}
