//! The operations on an id that are over, remembered so that their late copies change nothing (D-7).

use sha2::{Digest, Sha256};
use storagebox_core::{Error, ErrorKind, MAX_PAYLOAD_BYTES, OpId, Result};

use crate::clock::Millis;

/// Ten bytes of an operation's hash, and six of the time when it ended: operations have up to 512 bytes, and rows
/// little room.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Over {
    hash: [u8; HASH],
    since: Millis,
}

const HASH: usize = 10;
const TIME: usize = 6;
const SIZE: usize = HASH + TIME;

/// DynamoDB's limit for a row.
const ROW: usize = 409_600;
/// More than a row's names, keys, operations and numbers take together.
const REST: usize = 8_192;
/// So many that the longest result still has its place beside them: a lease that was given can always complete.
pub(crate) const MOST: usize = (ROW - MAX_PAYLOAD_BYTES - REST) / SIZE;

/// Operations that are over, in the order in which they ended.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Ended(Vec<Over>);

impl Ended {
    /// Nothing if the bytes are cut off.
    pub(super) fn read(bytes: &[u8]) -> Option<Self> {
        let (whole, rest) = bytes.as_chunks();
        rest.is_empty().then(|| Self(whole.iter().map(Over::read).collect()))
    }

    /// As an attribute, unless there are none.
    pub(super) fn bytes(&self) -> Option<Vec<u8>> {
        Some(self.0.iter().flat_map(Over::bytes).collect()).filter(|bytes: &Vec<u8>| !bytes.is_empty())
    }

    pub(super) fn push(&mut self, op: &OpId, since: Millis) {
        self.0.push(Over { hash: hash(op), since });
    }

    pub(super) fn has(&self, op: &OpId) -> bool {
        let hash = hash(op);
        self.0.iter().any(|over| over.hash == hash)
    }

    pub(super) fn retain(&mut self, is_remembered: impl Fn(Millis) -> bool) {
        self.0.retain(|over| is_remembered(over.since));
    }

    /// Forgetting one early would let its late copies in, so the id waits until the oldest may be forgotten.
    pub(super) fn checked(&self) -> Result<&Self> {
        if self.0.len() < MOST {
            return Ok(self);
        }
        let why = format!("the id has {MOST} operations that are over and still remembered");
        Err(Error::new(ErrorKind::Throttled, why).on("dynamo"))
    }
}

impl Over {
    fn read(bytes: &[u8; SIZE]) -> Self {
        let (mut hash, mut since) = ([0; HASH], [0; 8]);
        hash.copy_from_slice(&bytes[..HASH]);
        since[8 - TIME..].copy_from_slice(&bytes[HASH..]);
        Self { hash, since: Millis(i64::from_be_bytes(since)) }
    }

    fn bytes(&self) -> [u8; SIZE] {
        let mut bytes = [0; SIZE];
        bytes[..HASH].copy_from_slice(&self.hash);
        bytes[HASH..].copy_from_slice(&self.since.0.to_be_bytes()[8 - TIME..]);
        bytes
    }
}

fn hash(op: &OpId) -> [u8; HASH] {
    let mut hash = [0; HASH];
    hash.copy_from_slice(&Sha256::digest(op.as_str())[..HASH]);
    hash
}

#[cfg(test)]
mod tests {
    use super::*;

    fn op(number: usize) -> OpId {
        OpId::new(format!("op-{number}")).unwrap()
    }

    #[test]
    fn what_is_written_is_read_again() {
        let mut ended = Ended::default();
        assert_eq!(ended.bytes(), None);
        ended.push(&op(1), Millis(1_767_225_600_123));
        ended.push(&op(2), Millis(0));
        let read = Ended::read(&ended.bytes().unwrap()).unwrap();
        assert_eq!(read, ended);
        assert!(read.has(&op(1)) && read.has(&op(2)) && !read.has(&op(3)));
    }

    #[test]
    fn only_what_may_be_forgotten_goes() {
        let mut ended = Ended::default();
        (0..4).for_each(|number| ended.push(&op(number), Millis(number as i64)));
        ended.retain(|since| since > Millis(1));
        assert_eq!([0, 1, 2, 3].map(|number| ended.has(&op(number))), [false, false, true, true]);
    }

    #[test]
    fn an_id_with_too_many_waits() {
        let mut ended = Ended::default();
        (1..MOST).for_each(|number| ended.push(&op(number), Millis(7)));
        assert!(ended.checked().is_ok());
        ended.push(&op(MOST), Millis(7));
        assert_eq!(ended.checked().unwrap_err().kind(), ErrorKind::Throttled);
        assert!(ended.bytes().unwrap().len() + MAX_PAYLOAD_BYTES + REST <= ROW);
    }
}
