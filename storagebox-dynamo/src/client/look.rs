//! What a query looks for.

use std::collections::HashMap;

use crate::row::{Attributes, Value};

/// Which order a query follows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Index {
    /// By the sort key.
    Table,
    /// By the attribute `o`, rows that have it alone.
    Order,
}

/// A strongly consistent query of one partition.
#[derive(Clone, Debug)]
pub(crate) struct Look {
    pub(super) index: Index,
    pub(super) condition: String,
    pub(super) filter: Option<String>,
    pub(super) projection: Option<&'static str>,
    pub(super) values: Attributes,
    pub(super) limit: Option<i32>,
    pub(super) from: Option<Attributes>,
}

impl Look {
    pub(crate) fn at(partition: &str, index: Index) -> Self {
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

    /// And this of the sort key, or of `o`.
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

    #[must_use]
    pub(crate) fn from(mut self, key: Option<Attributes>) -> Self {
        self.from = key;
        self
    }
}
