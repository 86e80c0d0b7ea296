//! One change of one row, as a single request or as a part of a transaction.

use std::collections::HashMap;
use std::fmt::Write as _;

use aws_sdk_dynamodb::operation::{delete_item, put_item, update_item};
use aws_sdk_dynamodb::types::{
    ConditionCheck, Delete, Put, ReturnValue, ReturnValuesOnConditionCheckFailure, TransactWriteItem, Update,
};
use futures_util::FutureExt as _;
use sha2::{Digest, Sha256};
use storagebox_core::{ErrorKind, Result};

use super::Client;
use super::requests::row;
use super::tag::{Tag, hex};
use crate::error::{self, incomplete};
use crate::row::{Attributes, EXPIRES, Expiry, Row, RowKey, Value};

#[derive(Debug)]
pub(crate) enum Wrote {
    /// The write was made. Contains the row, if the write asked for the row.
    Done(Option<Row>),
    /// The condition was not met. Contains the present row, if the row exists.
    Refused(Option<Row>),
}

#[derive(Clone, Debug)]
pub(crate) struct Write {
    act: Act,
    /// The table of the row; `None` for the client's own table.
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

#[derive(Clone, Debug, Default)]
struct Clauses {
    sets: Vec<String>,
    removes: Vec<String>,
    adds: Vec<String>,
}

/// Fills in the fields that all requests of the driver have.
macro_rules! filled {
    ($request:expr, $write:expr, $table:expr) => {
        $request
            .table_name($write.table($table))
            .set_condition_expression($write.condition.clone())
            .set_expression_attribute_names(some($write.names.clone()))
            .set_expression_attribute_values(some($write.values.clone()))
            .return_values_on_condition_check_failure(ReturnValuesOnConditionCheckFailure::AllOld)
    };
}

impl Client {
    pub(crate) async fn write(&self, write: &Write) -> Result<Wrote> {
        let driver = self.driver().await;
        macro_rules! sent {
            ($request:expr, $refused:path) => {{
                let request = filled!($request, write, self.table()).return_values(write.answers.clone());
                match request.set_return_consumed_capacity(self.capacity()).send().boxed().await {
                    Ok(answer) => Ok(Wrote::Done(answer.attributes.map(Row::from))),
                    Err(error) => match error.as_service_error() {
                        Some($refused(refused)) => Ok(Wrote::Refused(row(refused.item()))),
                        _ => Err(error::of(error)),
                    },
                }
            }};
        }
        match &write.act {
            Act::Put(row) => sent!(
                driver.put_item().set_item(Some(row.attributes().clone())),
                put_item::PutItemError::ConditionalCheckFailedException
            ),
            Act::Update { key, clauses } => sent!(
                driver.update_item().set_key(Some(key.clone())).update_expression(clauses.expression()),
                update_item::UpdateItemError::ConditionalCheckFailedException
            ),
            Act::Delete(key) | Act::Check(key) => sent!(
                driver.delete_item().set_key(Some(key.clone())),
                delete_item::DeleteItemError::ConditionalCheckFailedException
            ),
        }
    }

    /// Makes a write to one row. If the update does not fit the row, returns the error that `check` finds in the row.
    pub(crate) async fn write_to(
        &self,
        key: &RowKey,
        write: &Write,
        check: impl FnOnce(&Row) -> Result<()>,
    ) -> Result<Wrote> {
        let error = match self.write(write).await {
            Err(error) if error.kind() == ErrorKind::InvalidInput => error,
            wrote => return wrote,
        };
        self.get(key).await?.as_ref().map_or(Ok(()), check)?;
        Err(error)
    }
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

    /// Creates a condition on a row that the transaction does not change.
    pub(crate) fn check(key: &RowKey) -> Self {
        Self::new(Act::Check(key.attributes()))
    }

    #[must_use]
    pub(crate) fn in_table(mut self, name: &str) -> Self {
        self.table = Some(name.to_owned());
        self
    }

    fn table<'a>(&'a self, own: &'a str) -> &'a str {
        self.table.as_deref().unwrap_or(own)
    }

    /// Adds `SET name = :name` and the value.
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

    /// Adds `SET path = expression`; [`value`](Self::value) gives the values of the expression.
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

    /// Sets the time from which on the updated row may be deleted; `None` means never.
    #[must_use]
    pub(crate) fn expiring(self, expiry: Option<Expiry>) -> Self {
        match expiry {
            Some(Expiry { at, seconds }) => self.set("g", at.0).set(EXPIRES, seconds),
            None => self.remove(&["g", EXPIRES]),
        }
    }

    #[must_use]
    pub(crate) fn remove(mut self, paths: &[&str]) -> Self {
        if let Act::Update { clauses, .. } = &mut self.act {
            clauses.removes.extend(paths.iter().map(|path| (*path).to_owned()));
        }
        self
    }

    /// Adds `ADD name :placeholder`, which puts the numbers of the value into a set of numbers.
    #[must_use]
    pub(crate) fn add(mut self, name: &str, placeholder: &str) -> Self {
        if let Act::Update { clauses, .. } = &mut self.act {
            clauses.adds.push(format!("{name} {placeholder}"));
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

    /// Sets which attributes of the row are in the reply. Only for a write outside a transaction.
    #[must_use]
    pub(crate) fn answering(mut self, answers: ReturnValue) -> Self {
        self.answers = answers;
        self
    }

    /// Converts the write into an item of a transaction. `own` is the client's own table.
    pub(super) fn part(&self, own: &str) -> Result<TransactWriteItem> {
        let item = TransactWriteItem::builder();
        let item = match &self.act {
            Act::Put(row) => {
                let put = filled!(Put::builder(), self, own).set_item(Some(row.attributes().clone()));
                item.put(put.build().map_err(incomplete)?)
            }
            Act::Update { key, clauses } => {
                let update = filled!(Update::builder(), self, own).set_key(Some(key.clone()));
                item.update(update.update_expression(clauses.expression()).build().map_err(incomplete)?)
            }
            Act::Delete(key) => {
                let delete = filled!(Delete::builder(), self, own).set_key(Some(key.clone()));
                item.delete(delete.build().map_err(incomplete)?)
            }
            Act::Check(key) => {
                let check = filled!(ConditionCheck::builder(), self, own).set_key(Some(key.clone()));
                item.condition_check(check.build().map_err(incomplete)?)
            }
        };
        Ok(item.build())
    }

    /// Appends the write to `into` as text. Equal writes have equal texts.
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

/// Returns the request token of a transaction: a hash of the writes and their tables.
pub(super) fn request_token(own: &str, writes: &[Write]) -> String {
    // The service compares tokens per account and region, so the text of a write contains the name of its table. The
    // writes contain the call's tag or time, so only the attempts of one call have the same token.
    let mut body = String::new();
    writes.iter().for_each(|write| write.spell(own, &mut body));
    hex(&Sha256::digest(body)[..16])
}

impl Clauses {
    fn expression(&self) -> String {
        let clauses = [("SET", &self.sets), ("REMOVE", &self.removes), ("ADD", &self.adds)];
        let clauses = clauses.into_iter().filter(|(_, parts)| !parts.is_empty());
        let clauses: Vec<_> = clauses.map(|(word, parts)| format!("{word} {}", parts.join(", "))).collect();
        clauses.join(" ")
    }
}

/// Returns `None` for an empty map, because DynamoDB refuses empty maps of placeholders.
fn some<K, V>(map: HashMap<K, V>) -> Option<HashMap<K, V>> {
    Some(map).filter(|map| !map.is_empty())
}
