//! Rows of the table, and how they are read.

#[cfg(test)]
mod whatever;

use std::collections::HashMap;

use aws_sdk_dynamodb::primitives::Blob;
use aws_sdk_dynamodb::types::AttributeValue;
use storagebox_core::{Error, Result};

use crate::clock::Millis;

#[cfg(test)]
pub(crate) use whatever::whatever;

/// The version of what the rows mean; a namespace keeps the one that it was made with.
pub(crate) const VERSION: u32 = 1;
/// The index by `o`.
pub(crate) const INDEX: &str = "order";
/// The attribute that the table's time to live looks at.
pub(crate) const EXPIRES: &str = "expires_at";

/// The attributes of a row, as the driver has them.
pub(crate) type Attributes = HashMap<String, AttributeValue>;

/// Where a row is.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) struct RowKey {
    pub(crate) partition: String,
    pub(crate) sort: String,
}

impl RowKey {
    pub(crate) fn new(partition: impl Into<String>, sort: impl Into<String>) -> Self {
        Self { partition: partition.into(), sort: sort.into() }
    }

    /// The only row of its partition.
    pub(crate) fn alone(partition: impl Into<String>) -> Self {
        Self::new(partition, "-")
    }

    pub(crate) fn attributes(&self) -> Attributes {
        let of = |text: &str| AttributeValue::S(text.to_owned());
        HashMap::from([("pk".to_owned(), of(&self.partition)), ("sk".to_owned(), of(&self.sort))])
    }
}

impl From<&RowKey> for Attributes {
    fn from(key: &RowKey) -> Self {
        key.attributes()
    }
}

/// What an attribute is made of.
pub(crate) trait Value {
    fn value(self) -> AttributeValue;
}

impl Value for AttributeValue {
    fn value(self) -> AttributeValue {
        self
    }
}

impl Value for &str {
    fn value(self) -> AttributeValue {
        AttributeValue::S(self.to_owned())
    }
}

impl Value for String {
    fn value(self) -> AttributeValue {
        AttributeValue::S(self)
    }
}

impl Value for &[u8] {
    fn value(self) -> AttributeValue {
        AttributeValue::B(Blob::new(self))
    }
}

macro_rules! numbers {
    ($($number:ty)*) => {$(
        impl Value for $number {
            fn value(self) -> AttributeValue {
                AttributeValue::N(self.to_string())
            }
        }
    )*};
}

numbers!(i64 u64 u32 i128);

/// One row.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Row(Attributes);

impl Row {
    pub(crate) fn new(key: &RowKey) -> Self {
        Self(key.attributes())
    }

    #[must_use]
    pub(crate) fn with(mut self, name: &str, value: impl Value) -> Self {
        self.0.insert(name.to_owned(), value.value());
        self
    }

    #[must_use]
    pub(crate) fn with_some(self, name: &str, value: Option<impl Value>) -> Self {
        match value {
            Some(value) => self.with(name, value),
            None => self,
        }
    }

    pub(crate) fn attributes(&self) -> &Attributes {
        &self.0
    }

    pub(crate) fn has(&self, name: &str) -> bool {
        self.0.contains_key(name)
    }

    pub(crate) fn text(&self, name: &str) -> Option<&str> {
        self.0.get(name)?.as_s().ok().map(String::as_str)
    }

    pub(crate) fn bytes(&self, name: &str) -> Option<&[u8]> {
        self.0.get(name)?.as_b().ok().map(Blob::as_ref)
    }

    pub(crate) fn number<T: std::str::FromStr>(&self, name: &str) -> Option<T> {
        self.0.get(name)?.as_n().ok()?.parse().ok()
    }

    /// How many there are: one more is a number, too.
    pub(crate) fn count(&self, name: &str) -> Option<i64> {
        self.number(name).filter(|count| (0..i64::MAX).contains(count))
    }

    /// How often a row was written that is there.
    pub(crate) fn times(&self, name: &str) -> Option<i64> {
        self.count(name).filter(|times| *times > 0)
    }

    pub(crate) fn map(&self, name: &str) -> Option<&Attributes> {
        self.0.get(name)?.as_m().ok()
    }

    /// The sort key, which is an id or an item.
    pub(crate) fn sort(&self) -> Result<&str> {
        self.needed("sk", self.text("sk"))
    }

    /// What a row of its kind may have: nothing, or what this reads. Anything else is not ours.
    pub(crate) fn maybe<'a, T>(
        &'a self,
        name: &str,
        read: impl FnOnce(&'a Self, &str) -> Option<T>,
    ) -> Result<Option<T>> {
        match read(self, name) {
            None if self.has(name) => Err(self.unreadable(format_args!("its {name} makes no sense"))),
            found => Ok(found),
        }
    }

    /// A moment that a row of its kind may have.
    pub(crate) fn moment(&self, name: &str) -> Result<Option<Millis>> {
        Ok(self.maybe(name, Self::number)?.map(Millis))
    }

    /// What a row of its kind always has.
    pub(crate) fn needed<T>(&self, name: &str, value: Option<T>) -> Result<T> {
        value.ok_or_else(|| self.unreadable(format_args!("it has no {name}")))
    }

    /// Names the partition alone: the sort key of an item's row is the item.
    pub(crate) fn unreadable(&self, why: impl std::fmt::Display) -> Error {
        let partition = self.text("pk").unwrap_or("of an index");
        Error::corrupt(format_args!("the row {partition:?}"), why).on("dynamo")
    }
}

impl From<Attributes> for Row {
    fn from(attributes: Attributes) -> Self {
        Self(attributes)
    }
}
