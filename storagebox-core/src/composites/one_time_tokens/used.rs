//! The record of a used token.
//!
//! A format byte, the letter `U`, the caller, the operation and the result, each with its length.

use crate::backend::fields::{DecodeError, Fields, put_bytes, put_text};
use crate::contract::dedup_repo::Entry;
use crate::values::error::{Error, ErrorKind, Result};
use crate::values::value::{DedupId, MAX_ID_BYTES, MAX_PAYLOAD_BYTES, OpId, Payload, TokenId};

const FORMAT: u8 = b'1';

/// The prefix of the id of a record that exists while a use of the token is unfinished.
const BEGUN: &str = "begun:";
/// The prefix of the id of a record that exists while the result of a use can be replayed.
const RESULT: &str = "result:";

/// The ids of the two records of a token.
pub(super) struct Places {
    pub(super) begun: DedupId,
    pub(super) result: DedupId,
}

impl Places {
    pub(super) fn of(token: &TokenId) -> Result<Self> {
        let limit = MAX_ID_BYTES - RESULT.len();
        let length = token.as_str().len();
        if length > limit {
            return Err(Error::invalid("token", format_args!("must have at most {limit} bytes, not {length}")));
        }
        let at = |prefix: &str| DedupId::new(format!("{prefix}{token}"));
        Ok(Self { begun: at(BEGUN)?, result: at(RESULT)? })
    }

    /// Returns the token if `id` is the id of an unfinished use, and otherwise `None`.
    pub(super) fn unfinished(id: &DedupId) -> Option<Result<TokenId>> {
        id.as_str().strip_prefix(BEGUN).map(TokenId::new)
    }
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Used {
    pub(super) caller: OpId,
    /// The operation of the lease. Every caller that finishes the commit records the result under this operation.
    pub(super) op: OpId,
    pub(super) result: Payload,
}

impl Used {
    pub(super) fn encode(&self) -> Result<Payload> {
        let mut bytes = vec![FORMAT, b'U'];
        put_text(&mut bytes, "caller", self.caller.as_str())?;
        put_text(&mut bytes, "op", self.op.as_str())?;
        let limit = MAX_PAYLOAD_BYTES - bytes.len() - size_of::<u32>();
        put_bytes(&mut bytes, "result", self.result.as_bytes())?;
        Payload::new(bytes).map_err(|_| too_large(limit, self.result.as_bytes().len()))
    }

    pub(super) fn decode(entry: &Entry, token: &TokenId) -> Result<Self> {
        Self::read(&entry.value)
            .map_err(|error| Error::corrupt(format_args!("the record of {token:?}"), &error).caused_by(error))
    }

    fn read(stored: &Payload) -> Result<Self, DecodeError> {
        let mut fields = match Fields::begin(stored.as_bytes(), FORMAT)? {
            (b'U', fields) => fields,
            (other, _) => return Err(DecodeError::State(other)),
        };
        let (caller, op) = (OpId::new(fields.text()?)?, OpId::new(fields.text()?)?);
        let result = Payload::try_from(fields.bytes()?)?;
        fields.end(Self { caller, op, result })
    }
}

fn too_large(limit: usize, length: usize) -> Error {
    let why = format!("the result for this caller must have at most {limit} bytes, not {length}");
    Error::new(ErrorKind::TooLarge, why).with("limit", limit).with("bytes", length)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn used(result: &[u8]) -> Used {
        let (caller, op) = ("é".parse().unwrap(), "op".parse().unwrap());
        Used { caller, op, result: Payload::try_from(result).unwrap() }
    }

    fn read(bytes: &[u8]) -> Result<Used, DecodeError> {
        Used::read(&Payload::try_from(bytes).unwrap())
    }

    #[test]
    fn used_token_record_is_read_back_as_it_was_written() {
        for result in [b"".as_slice(), b"result", &[0, 255]] {
            assert_eq!(read(used(result).encode().unwrap().as_bytes()).unwrap(), used(result));
        }
    }

    #[test]
    fn used_token_record_of_wrong_format_or_length_is_refused() {
        assert!(matches!(read(b"2U"), Err(DecodeError::Format { found: b'2', .. })));
        assert!(matches!(read(b"1X"), Err(DecodeError::State(b'X'))));
        let bytes = used(b"result").encode().unwrap().as_bytes().to_vec();
        for end in 0..bytes.len() {
            assert!(read(&bytes[..end]).is_err());
        }
        assert!(matches!(read(&[bytes.as_slice(), b"x"].concat()), Err(DecodeError::Long)));
    }

    #[test]
    fn any_record_bytes_are_decoded_exactly_or_refused() {
        let known: Vec<_> = [b"".as_slice(), b"x"].map(|result| used(result).encode().unwrap()).into();
        let known: Vec<_> = known.iter().map(|payload| payload.as_bytes().to_vec()).collect();
        storagebox_fuzz::bytes(&known, |bytes| {
            let Ok(payload) = Payload::new(bytes.to_vec()) else { return };
            if let Ok(used) = Used::read(&payload) {
                assert_eq!(used.encode().unwrap().as_bytes(), bytes);
            }
        });
    }

    #[test]
    fn a_result_longer_than_the_limit_is_too_large() {
        let longest = MAX_PAYLOAD_BYTES - used(b"").encode().unwrap().as_bytes().len();
        assert!(used(&vec![b'x'; longest]).encode().is_ok());
        let error = used(&vec![b'x'; longest + 1]).encode().unwrap_err();
        assert_eq!(error.kind(), ErrorKind::TooLarge);
        assert!(error.message().contains(&format!("at most {longest} bytes, not {}", longest + 1)), "{error}");
    }

    #[test]
    fn the_longest_token_has_valid_record_ids() {
        assert!(Places::of(&TokenId::new("x".repeat(505)).unwrap()).is_ok());
        let error = Places::of(&TokenId::new("x".repeat(506)).unwrap()).err().unwrap();
        assert!(error.to_string().contains("at most 505 bytes, not 506"), "{error}");
    }
}
