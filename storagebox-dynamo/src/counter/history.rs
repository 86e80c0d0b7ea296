//! The last writers of a row in one attribute, the newest last.

use storagebox_core::OpId;

use super::values::hash;

/// The bytes of a writer's entry: the hash of the operation, the delta, the value after the change, and the mark of the
/// call.
pub(crate) const BYTES: usize = 16 + 8 + 8 + 6;

/// The last writers of a counter's row, as they are stored.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct History(Vec<u8>);

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Writer {
    pub(super) delta: i64,
    pub(super) value: i64,
    pub(super) by: [u8; 6],
}

impl History {
    /// Reads the stored bytes; `None` if the bytes are incomplete.
    pub(super) fn read(bytes: &[u8]) -> Option<Self> {
        bytes.len().is_multiple_of(BYTES).then(|| Self(bytes.to_vec()))
    }

    pub(super) fn as_bytes(&self) -> &[u8] {
        &self.0
    }

    pub(super) fn find(&self, op: &OpId) -> Option<Writer> {
        let op = hash(op);
        let entry = self.0.chunks_exact(BYTES).rev().find(|entry| entry.starts_with(&op))?;
        let (delta, rest) = entry[16..].split_first_chunk()?;
        let (value, by) = rest.split_first_chunk()?;
        let [delta, value] = [delta, value].map(|number| i64::from_be_bytes(*number));
        Some(Writer { delta, value, by: *by.first_chunk()? })
    }

    /// Returns the history with one more writer, limited to the last `len` writers.
    pub(super) fn with(&self, op: &OpId, writer: Writer, len: u16) -> Self {
        let numbers = [writer.delta.to_be_bytes(), writer.value.to_be_bytes()].concat();
        let mut all = [&self.0[..], &hash(op)[..], &numbers[..], &writer.by[..]].concat();
        all.drain(..all.len().saturating_sub(usize::from(len) * BYTES));
        Self(all)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_history_has_only_the_last_writers() {
        let op = |number: i64| OpId::new(number.to_string()).unwrap();
        let writer = |number: i64| Writer { delta: -number, value: i64::MAX - number, by: [number as u8; 6] };
        let mut history = History::default();
        for number in 0..10 {
            history = history.with(&op(number), writer(number), 3);
            assert_eq!(History::read(history.as_bytes()), Some(history.clone()));
        }
        for number in 0..10 {
            let expected = (number >= 7).then(|| writer(number));
            assert_eq!(history.find(&op(number)), expected, "writer {number}");
        }
    }
}
