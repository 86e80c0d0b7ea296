//! The rows of the table, and how their attributes are read and written.

#[cfg(test)]
mod fuzz;

use std::collections::HashMap;

use aws_sdk_dynamodb::primitives::Blob;
use aws_sdk_dynamodb::types::AttributeValue;
use storagebox_core::{Error, Result};

use crate::clock::Millis;

#[cfg(test)]
pub(crate) use fuzz::fuzz;

/// The version of the row format. Each namespace stores the version that it was created with.
pub(crate) const VERSION: u32 = 1;
/// The name of the index, whose sort key is the attribute `o`.
pub(crate) const INDEX: &str = "order";
/// The attribute by which the table's time to live deletes rows.
pub(crate) const EXPIRES: &str = "expires_at";

pub(crate) type Attributes = HashMap<String, AttributeValue>;

#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) struct RowKey {
    pub(crate) partition: String,
    pub(crate) sort: String,
}

impl RowKey {
    pub(crate) fn new(partition: impl Into<String>, sort: impl Into<String>) -> Self {
        Self { partition: partition.into(), sort: sort.into() }
    }

    /// Creates the key of a row that is alone in its partition.
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

/// A set of numbers. DynamoDB has no empty set.
impl Value for &[i64] {
    fn value(self) -> AttributeValue {
        AttributeValue::Ns(self.iter().map(i64::to_string).collect())
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

/// When a row may be deleted, because no promise needs it after that.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Expiry {
    /// The attribute `g`, which calls and upkeep compare with the present time.
    pub(crate) at: Millis,
    /// The attribute `expires_at`, for the table's time to live.
    pub(crate) seconds: i64,
}

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

    /// Adds the time from which on the row may be deleted; `None` means never.
    #[must_use]
    pub(crate) fn expiring(self, expiry: Option<Expiry>) -> Self {
        self.with_some("g", expiry.map(|expiry| expiry.at.0)).with_some(EXPIRES, expiry.map(|expiry| expiry.seconds))
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

    pub(crate) fn numbers(&self, name: &str) -> Option<Vec<i64>> {
        self.0.get(name)?.as_ns().ok()?.iter().map(|number| number.parse().ok()).collect()
    }

    /// Reads a number from 0 to one below the maximum, so that adding 1 does not overflow.
    pub(crate) fn count(&self, name: &str) -> Option<i64> {
        self.number(name).filter(|count| (0..i64::MAX).contains(count))
    }

    /// Reads how often a row was written: a count of at least 1.
    pub(crate) fn times(&self, name: &str) -> Option<i64> {
        self.count(name).filter(|times| *times > 0)
    }

    pub(crate) fn map(&self, name: &str) -> Option<&Attributes> {
        self.0.get(name)?.as_m().ok()
    }

    /// Returns the sort key, which is an id or an item.
    pub(crate) fn sort(&self) -> Result<&str> {
        self.needed("sk", self.text("sk"))
    }

    pub(crate) fn key(&self) -> Result<RowKey> {
        Ok(RowKey::new(self.needed("pk", self.text("pk"))?, self.sort()?))
    }

    /// Reads an attribute that the row may lack. Returns `Corrupt` if `read` cannot read the attribute.
    pub(crate) fn maybe<'a, T>(
        &'a self,
        name: &str,
        read: impl FnOnce(&'a Self, &str) -> Option<T>,
    ) -> Result<Option<T>> {
        match read(self, name) {
            None if self.has(name) => Err(self.unreadable(format_args!("its {name} is not valid"))),
            found => Ok(found),
        }
    }

    pub(crate) fn moment(&self, name: &str) -> Result<Option<Millis>> {
        Ok(self.maybe(name, Self::number)?.map(Millis))
    }

    /// Returns the value of an attribute, or `Corrupt` if the value is missing.
    pub(crate) fn needed<T>(&self, name: &str, value: Option<T>) -> Result<T> {
        value.ok_or_else(|| self.unreadable(format_args!("it has no valid {name}")))
    }

    /// Returns a value that was read from the row, or `Corrupt` if the value is not valid.
    pub(crate) fn valid<T, E>(&self, what: &str, value: std::result::Result<T, E>) -> Result<T> {
        value.map_err(|_| self.unreadable(format_args!("its {what} is not valid")))
    }

    /// Creates the `Corrupt` error of this row.
    pub(crate) fn unreadable(&self, why: impl std::fmt::Display) -> Error {
        // The text names only the partition, because the sort key of an item's row is the item.
        let partition = self.text("pk").unwrap_or("of an index");
        Error::corrupt(format_args!("the row {partition:?}"), why).on("dynamo")
    }
}

impl From<Attributes> for Row {
    fn from(attributes: Attributes) -> Self {
        Self(attributes)
    }
}
