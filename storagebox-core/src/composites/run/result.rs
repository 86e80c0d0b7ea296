//! The record of a result.

use bytes::Bytes;

use super::Ran;
use crate::values::error::Result;
use crate::values::value::Payload;

/// The prefix of the record of a result that is too long. The record ends with the length of the result.
const NOT_KEPT: &str = "\0storagebox: the work was done; its result was too long to be kept; its bytes: ";

/// Returns the record of a result, or the record of its length if the result is too long.
pub(super) fn recorded(result: Bytes) -> Result<Payload> {
    let bytes = result.len();
    match Payload::new(result) {
        // A result that looks like such a record is not kept either, so that no result is read as a length.
        Ok(payload) if length_in(&payload).is_none() => Ok(payload),
        _ => Payload::new(format!("{NOT_KEPT}{bytes}")),
    }
}

/// Converts a record to the outcome of the run: `NotKept` for a record of a length, and otherwise the output of
/// `result`.
pub(super) fn to_ran(record: Payload, result: impl FnOnce(Payload) -> Ran) -> Ran {
    match length_in(&record) {
        Some(bytes) => Ran::NotKept { bytes },
        None => result(record),
    }
}

fn length_in(record: &Payload) -> Option<u64> {
    let text = std::str::from_utf8(record.as_bytes()).ok()?;
    text.strip_prefix(NOT_KEPT)?.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::values::value::MAX_PAYLOAD_BYTES;

    #[test]
    fn result_is_recorded_unchanged_or_as_its_length() {
        let of = |bytes: Vec<u8>| to_ran(recorded(bytes.into()).unwrap(), Ran::Done);
        for kept in [vec![], b"\0storagebox".to_vec(), vec![255; MAX_PAYLOAD_BYTES]] {
            assert_eq!(of(kept.clone()), Ran::Done(Payload::new(kept).unwrap()));
        }
        assert_eq!(of(vec![b'x'; MAX_PAYLOAD_BYTES + 1]), Ran::NotKept { bytes: 262_145 });
        let alike = recorded(vec![b'x'; 300_000].into()).unwrap();
        assert_eq!(of(alike.clone().into()), Ran::NotKept { bytes: alike.as_bytes().len() as u64 });
    }
}
