//! One change of one row: alone, or as a part of a transaction.

use std::collections::HashMap;
use std::fmt::Write as _;

use aws_sdk_dynamodb::types::{
    ConditionCheck, Delete, Put, ReturnValuesOnConditionCheckFailure, TransactWriteItem, Update,
};
use aws_sdk_dynamodb::types::{ReturnValue, builders};
use sha2::{Digest, Sha256};
use storagebox_core::{Error, Ids, RandomIds, Result};

use crate::row::{Attributes, Row, RowKey, Value};

/// What a call writes into each row that it changes, the same through all its attempts. A row that has it was
/// changed by this very call: so a refusal after a lost reply is told from a refusal by another.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Tag(String);

impl Tag {
    pub(crate) fn fresh() -> Self {
        Self(RandomIds.fresh())
    }

    pub(crate) fn as_str(&self) -> &str {
        &self.0
    }

    pub(crate) fn is_on(&self, row: &Row) -> bool {
        row.text("t") == Some(self.as_str())
    }
}

/// A conditional write.
#[derive(Clone, Debug)]
pub(crate) struct Write {
    act: Act,
    /// Unless it is the client's own.
    table: Option<String>,
    condition: Option<String>,
    values: Attributes,
    names: HashMap<String, String>,
    answers: ReturnValue,
}

#[derive(Clone, Debug)]
enum Act {
    Put(Row),
    Update { key: Attributes, clauses: Clauses },
    Delete(Attributes),
    Check(Attributes),
}

/// What an update does, by its keyword.
#[derive(Clone, Debug, Default)]
struct Clauses {
    sets: Vec<String>,
    removes: Vec<String>,
}

/// Writes one of the driver's requests, which all have the same parts.
macro_rules! filled {
    ($request:expr, $write:expr) => {
        $request
            .set_condition_expression($write.condition.clone())
            .set_expression_attribute_names(some($write.names.clone()))
            .set_expression_attribute_values(some($write.values.clone()))
            .return_values_on_condition_check_failure(ReturnValuesOnConditionCheckFailure::AllOld)
    };
}

impl Write {
    fn new(act: Act) -> Self {
        let answers = ReturnValue::None;
        Self { act, table: None, condition: None, values: HashMap::new(), names: HashMap::new(), answers }
    }

    pub(crate) fn put(row: Row) -> Self {
        Self::new(Act::Put(row))
    }

    pub(crate) fn update(key: &RowKey) -> Self {
        Self::new(Act::Update { key: key.attributes(), clauses: Clauses::default() })
    }

    pub(crate) fn delete(key: impl Into<Attributes>) -> Self {
        Self::new(Act::Delete(key.into()))
    }

    /// A condition on a row that the transaction does not change.
    pub(crate) fn check(key: &RowKey) -> Self {
        Self::new(Act::Check(key.attributes()))
    }

    /// In another table than the client's own.
    #[must_use]
    pub(crate) fn in_table(mut self, name: &str) -> Self {
        self.table = Some(name.to_owned());
        self
    }

    fn table<'a>(&'a self, own: &'a str) -> &'a str {
        self.table.as_deref().unwrap_or(own)
    }

    /// `SET name = :name`.
    #[must_use]
    pub(crate) fn set(self, name: &str, value: impl Value) -> Self {
        let placeholder = format!(":{name}");
        self.set_to(name, &placeholder).value(&placeholder, value)
    }

    #[must_use]
    pub(crate) fn set_some(self, name: &str, value: Option<impl Value>) -> Self {
        match value {
            Some(value) => self.set(name, value),
            None => self,
        }
    }

    /// `SET path = expression`, whose values are given by [`value`](Self::value).
    #[must_use]
    pub(crate) fn set_to(mut self, path: &str, expression: &str) -> Self {
        if let Act::Update { clauses, .. } = &mut self.act {
            clauses.sets.push(format!("{path} = {expression}"));
        }
        self
    }

    #[must_use]
    pub(crate) fn tagged(self, tag: &Tag) -> Self {
        match self.act {
            Act::Put(row) => Self { act: Act::Put(row.with("t", tag.as_str())), ..self },
            _ => self.set("t", tag.as_str()),
        }
    }

    #[must_use]
    pub(crate) fn remove(mut self, paths: &[&str]) -> Self {
        if let Act::Update { clauses, .. } = &mut self.act {
            clauses.removes.extend(paths.iter().map(|path| (*path).to_owned()));
        }
        self
    }

    #[must_use]
    pub(crate) fn only_if(mut self, condition: impl Into<String>) -> Self {
        self.condition = Some(condition.into());
        self
    }

    #[must_use]
    pub(crate) fn value(mut self, placeholder: &str, value: impl Value) -> Self {
        self.values.insert(placeholder.to_owned(), value.value());
        self
    }

    #[must_use]
    pub(crate) fn name(mut self, placeholder: &str, name: &str) -> Self {
        self.names.insert(placeholder.to_owned(), name.to_owned());
        self
    }

    /// Answers the row as it is after the write; only of an update made alone.
    #[must_use]
    pub(crate) fn answering_new(mut self) -> Self {
        self.answers = ReturnValue::AllNew;
        self
    }

    /// Answers the row as it was before the write; only of an update made alone.
    #[must_use]
    pub(crate) fn answering_old(mut self) -> Self {
        self.answers = ReturnValue::AllOld;
        self
    }

    /// Answers what an update made alone has changed, as it is after it.
    #[must_use]
    pub(crate) fn answering_updated(mut self) -> Self {
        self.answers = ReturnValue::UpdatedNew;
        self
    }

    pub(crate) fn alone(&self, table: &str) -> Alone {
        let table = self.table(table);
        match &self.act {
            Act::Put(row) => Alone::Put(
                filled!(aws_sdk_dynamodb::operation::put_item::PutItemInput::builder(), self)
                    .table_name(table)
                    .set_item(Some(row.attributes().clone()))
                    .return_values(self.answers.clone()),
            ),
            Act::Update { key, clauses } => Alone::Update(
                filled!(aws_sdk_dynamodb::operation::update_item::UpdateItemInput::builder(), self)
                    .table_name(table)
                    .set_key(Some(key.clone()))
                    .update_expression(clauses.expression())
                    .return_values(self.answers.clone()),
            ),
            Act::Delete(key) | Act::Check(key) => Alone::Delete(
                filled!(aws_sdk_dynamodb::operation::delete_item::DeleteItemInput::builder(), self)
                    .table_name(table)
                    .set_key(Some(key.clone()))
                    .return_values(self.answers.clone()),
            ),
        }
    }

    pub(crate) fn part(&self, table: &str) -> Result<TransactWriteItem> {
        let table = self.table(table);
        let item = TransactWriteItem::builder();
        let item = match &self.act {
            Act::Put(row) => item.put(self.part_put(table, row).build().map_err(incomplete)?),
            Act::Update { key, clauses } => {
                let update = filled!(Update::builder(), self).table_name(table).set_key(Some(key.clone()));
                item.update(update.update_expression(clauses.expression()).build().map_err(incomplete)?)
            }
            Act::Delete(key) => {
                let delete = filled!(Delete::builder(), self).table_name(table);
                item.delete(delete.set_key(Some(key.clone())).build().map_err(incomplete)?)
            }
            Act::Check(key) => {
                let check = filled!(ConditionCheck::builder(), self).table_name(table);
                item.condition_check(check.set_key(Some(key.clone())).build().map_err(incomplete)?)
            }
        };
        Ok(item.build())
    }

    fn part_put(&self, table: &str, row: &Row) -> builders::PutBuilder {
        filled!(Put::builder(), self).table_name(table).set_item(Some(row.attributes().clone()))
    }

    /// The write in one order of its parts, whatever the order of its maps.
    fn spell(&self, own: &str, into: &mut String) {
        let (act, attributes) = match &self.act {
            Act::Put(row) => ("put".to_owned(), row.attributes().clone()),
            Act::Update { key, clauses } => (clauses.expression(), key.clone()),
            Act::Delete(key) => ("delete".to_owned(), key.clone()),
            Act::Check(key) => ("check".to_owned(), key.clone()),
        };
        let mut all: Vec<_> = attributes.iter().chain(&self.values).collect();
        all.sort_by_key(|(name, _)| name.as_str());
        // Writing to a string never fails.
        let _ = write!(into, "{act} {:?} {:?} {all:?};", self.table(own), self.condition);
    }
}

/// A request of a write alone.
#[derive(Clone, Debug)]
pub(crate) enum Alone {
    Put(aws_sdk_dynamodb::operation::put_item::builders::PutItemInputBuilder),
    Update(aws_sdk_dynamodb::operation::update_item::builders::UpdateItemInputBuilder),
    Delete(aws_sdk_dynamodb::operation::delete_item::builders::DeleteItemInputBuilder),
}

/// The client request token of a transaction, derived from its body, which names the tables: tokens are known by
/// account and region. The body holds the call's tag or its time, so that only another attempt of the same call has the
/// same token.
pub(crate) fn request_token(own: &str, writes: &[Write]) -> String {
    let mut body = String::new();
    writes.iter().for_each(|write| write.spell(own, &mut body));
    hex(&Sha256::digest(body)[..16])
}

pub(crate) fn hex(bytes: &[u8]) -> String {
    bytes.iter().fold(String::with_capacity(bytes.len() * 2), |mut text, byte| {
        let _ = write!(text, "{byte:02x}");
        text
    })
}

impl Clauses {
    fn expression(&self) -> String {
        let clauses = [("SET", &self.sets), ("REMOVE", &self.removes)];
        let clauses = clauses.into_iter().filter(|(_, parts)| !parts.is_empty());
        let clauses: Vec<_> = clauses.map(|(word, parts)| format!("{word} {}", parts.join(", "))).collect();
        clauses.join(" ")
    }
}

/// DynamoDB refuses empty maps of placeholders.
fn some<K, V>(map: HashMap<K, V>) -> Option<HashMap<K, V>> {
    Some(map).filter(|map| !map.is_empty())
}

fn incomplete(error: aws_sdk_dynamodb::error::BuildError) -> Error {
    Error::invalid("write", "lacks a part").caused_by(error).on("dynamo")
}
