//! What a script answers: a list of texts and bytes.

use std::time::Duration;

use redis::Value;
use storagebox_core::{Payload, Result, Version};

use crate::error::{read, unreadable};

/// The answer of a script, which is named if it makes no sense.
pub(crate) struct Answer {
    script: &'static str,
    fields: Vec<Vec<u8>>,
}

impl Answer {
    pub(super) fn of(script: &'static str, value: Value) -> Result<Self> {
        let Value::Array(values) = value else {
            return Err(unreadable(script));
        };
        let field = |value| match value {
            Value::BulkString(bytes) => Ok(bytes),
            _ => Err(unreadable(script)),
        };
        Ok(Self { script, fields: values.into_iter().map(field).collect::<Result<_>>()? })
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.fields.is_empty()
    }

    pub(crate) fn bytes(&self, index: usize) -> Result<&[u8]> {
        self.fields.get(index).map(Vec::as_slice).ok_or_else(|| unreadable(self.script))
    }

    pub(crate) fn text(&self, index: usize) -> Result<&str> {
        read(self.script, std::str::from_utf8(self.bytes(index)?))
    }

    /// The first field, by which answers differ.
    pub(crate) fn word(&self) -> Result<&str> {
        self.text(0)
    }

    pub(crate) fn number(&self, index: usize) -> Result<i64> {
        read(self.script, self.text(index)?.parse())
    }

    pub(crate) fn count(&self, index: usize) -> Result<u64> {
        read(self.script, self.text(index)?.parse())
    }

    pub(crate) fn version(&self, index: usize) -> Result<Version> {
        self.count(index).map(Version::new)
    }

    pub(crate) fn payload(&self, index: usize) -> Result<Payload> {
        read(self.script, Payload::new(self.bytes(index)?.to_vec()))
    }

    pub(crate) fn micros(&self, index: usize) -> Result<Duration> {
        self.count(index).map(Duration::from_micros)
    }

    /// A checked value of ours.
    pub(crate) fn value<T: for<'a> TryFrom<&'a str>>(&self, index: usize) -> Result<T> {
        T::try_from(self.text(index)?).map_err(|_| self.unreadable())
    }

    pub(crate) fn unreadable(&self) -> storagebox_core::Error {
        unreadable(self.script)
    }

    /// Where the entries of a list begin, if each has so many fields, after the first field of all.
    pub(crate) fn entries(&self, width: usize) -> impl Iterator<Item = usize> + use<> {
        (1..self.fields.len()).step_by(width)
    }
}
