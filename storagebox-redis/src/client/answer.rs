//! The answer of a script: a list of texts and bytes.

use std::time::Duration;

use redis::Value;
use storagebox_core::{Error, Payload, Result, Version};

use crate::error::unreadable;
use crate::script::Script;

pub(crate) struct Answer {
    script: &'static Script,
    /// The fields, each as a bulk string.
    fields: Vec<Value>,
}

impl Answer {
    pub(super) fn of(script: &'static Script, value: Value) -> Result<Self> {
        let (fields, is_list) = match value {
            Value::Array(values) => (values, true),
            _ => (vec![], false),
        };
        let answer = Self { script, fields };
        let is_ours = is_list && answer.fields.iter().all(|field| matches!(field, Value::BulkString(_)));
        if is_ours { Ok(answer) } else { Err(answer.unreadable()) }
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.fields.is_empty()
    }

    pub(crate) fn bytes(&self, index: usize) -> Result<&[u8]> {
        match self.fields.get(index) {
            Some(Value::BulkString(bytes)) => Ok(bytes),
            _ => Err(self.unreadable()),
        }
    }

    pub(crate) fn text(&self, index: usize) -> Result<&str> {
        self.read(std::str::from_utf8(self.bytes(index)?))
    }

    /// Returns the first field, which says what kind of answer this is.
    pub(crate) fn word(&self) -> Result<&str> {
        self.text(0)
    }

    pub(crate) fn number(&self, index: usize) -> Result<i64> {
        self.read(self.text(index)?.parse())
    }

    pub(crate) fn count(&self, index: usize) -> Result<u64> {
        self.read(self.text(index)?.parse())
    }

    pub(crate) fn version(&self, index: usize) -> Result<Version> {
        self.count(index).map(Version::new)
    }

    pub(crate) fn payload(&self, index: usize) -> Result<Payload> {
        self.read(Payload::new(self.bytes(index)?.to_vec()))
    }

    pub(crate) fn micros(&self, index: usize) -> Result<Duration> {
        self.count(index).map(Duration::from_micros)
    }

    pub(crate) fn value<T: for<'a> TryFrom<&'a str>>(&self, index: usize) -> Result<T> {
        T::try_from(self.text(index)?).map_err(|_| self.unreadable())
    }

    /// Replaces any error with the error for an unreadable answer.
    fn read<T, E>(&self, value: Result<T, E>) -> Result<T> {
        value.map_err(|_| self.unreadable())
    }

    /// Returns the error for an answer that cannot be read. The call of a changing script may have been applied.
    pub(crate) fn unreadable(&self) -> Error {
        let error = unreadable(self.script.name());
        if self.script.changes() { error.after_unresolved() } else { error }
    }

    /// Returns the index of the first field of each entry. The entries begin at field 1 and have `width` fields each.
    pub(crate) fn entries(&self, width: usize) -> impl Iterator<Item = usize> + use<> {
        self.entries_after(1, width)
    }

    /// Returns the index of the first field of each entry. The entries begin at field `first` and have `width` fields
    /// each.
    pub(crate) fn entries_after(&self, first: usize, width: usize) -> impl Iterator<Item = usize> + use<> {
        (first..self.fields.len()).step_by(width)
    }
}
