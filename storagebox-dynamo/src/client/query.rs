//! Queries of one partition.

use std::collections::HashMap;

use crate::row::{Attributes, Value};

/// The order in which a query returns the rows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Index {
    /// By the sort key.
    Table,
    /// By the attribute `o`. Rows without this attribute are left out.
    Order,
}

/// A strongly consistent query of one partition.
#[derive(Clone, Debug)]
pub(crate) struct Query {
    pub(super) index: Index,
    pub(super) condition: String,
    pub(super) filter: Option<String>,
    pub(super) projection: Option<&'static str>,
    pub(super) values: Attributes,
    pub(super) limit: Option<i32>,
    pub(super) from: Option<Attributes>,
}

impl Query {
    pub(crate) fn of(partition: &str, index: Index) -> Self {
        Self {
            index,
            condition: "pk = :pk".to_owned(),
            filter: None,
            projection: None,
            values: HashMap::from([(":pk".to_owned(), partition.value())]),
            limit: None,
            from: None,
        }
    }

    /// Adds a condition on the sort key, or on `o` in the index.
    #[must_use]
    pub(crate) fn and(mut self, condition: &str) -> Self {
        self.condition = format!("{} AND {condition}", self.condition);
        self
    }

    #[must_use]
    pub(crate) fn filter(mut self, filter: &str) -> Self {
        self.filter = Some(filter.to_owned());
        self
    }

    #[must_use]
    pub(crate) fn only(mut self, projection: &'static str) -> Self {
        self.projection = Some(projection);
        self
    }

    #[must_use]
    pub(crate) fn value(mut self, placeholder: &str, value: impl Value) -> Self {
        self.values.insert(placeholder.to_owned(), value.value());
        self
    }

    #[must_use]
    pub(crate) fn limit(mut self, limit: usize) -> Self {
        self.limit = Some(i32::try_from(limit).unwrap_or(i32::MAX));
        self
    }

    /// Sets the key after which the page begins.
    #[must_use]
    pub(crate) fn from(mut self, key: Option<Attributes>) -> Self {
        self.from = key;
        self
    }
}
