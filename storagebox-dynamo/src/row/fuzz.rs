//! Passes random rows to the readers of rows.

use aws_sdk_dynamodb::primitives::Blob;
use aws_sdk_dynamodb::types::AttributeValue;
use storagebox_core::{ErrorKind, Result};
use storagebox_fuzz::Value as Any;

use super::{Attributes, Row};

type Read = fn(&Row) -> Result<()>;

/// Edits the known rows, and passes each edited row to the readers, which must read it or return `Corrupt`.
pub(crate) fn fuzz(known: &[Row], readers: &[Read]) {
    storagebox_fuzz::values(known.iter().map(any_of).collect(), |value| {
        let Any::Map(map) = value else { return };
        let row = Row(attributes(map));
        for read in readers {
            if let Err(error) = read(&row) {
                assert_eq!(error.kind(), ErrorKind::Corrupt, "{row:?}: {error}");
            }
        }
    });
}

fn any_of(row: &Row) -> Any {
    any_map(&row.0)
}

/// Converts a map in the order of its names, so that a seed makes the same edits each time.
fn any_map(map: &Attributes) -> Any {
    let mut named: Vec<_> = map.iter().map(|(name, value)| (name.clone(), any(value))).collect();
    named.sort_by(|(one, _), (other, _)| one.cmp(other));
    Any::Map(named)
}

fn any(value: &AttributeValue) -> Any {
    match value {
        AttributeValue::S(text) => Any::Text(text.clone()),
        AttributeValue::N(number) => Any::Number(number.parse().unwrap_or(i64::MAX)),
        AttributeValue::B(bytes) => Any::Bytes(bytes.as_ref().to_vec()),
        AttributeValue::Bool(truth) => Any::Truth(*truth),
        AttributeValue::Bs(set) => Any::List(set.iter().map(|bytes| Any::Bytes(bytes.as_ref().to_vec())).collect()),
        AttributeValue::Ns(set) => {
            Any::List(set.iter().map(|number| Any::Number(number.parse().unwrap_or(0))).collect())
        }
        AttributeValue::L(list) => Any::List(list.iter().map(any).collect()),
        AttributeValue::M(map) => any_map(map),
        _ => Any::Nothing,
    }
}

fn attributes(map: &[(String, Any)]) -> Attributes {
    map.iter().map(|(name, value)| (name.clone(), attribute(value))).collect()
}

fn attribute(value: &Any) -> AttributeValue {
    match value {
        Any::Nothing => AttributeValue::Null(true),
        Any::Truth(truth) => AttributeValue::Bool(*truth),
        Any::Number(number) => AttributeValue::N(number.to_string()),
        Any::Text(text) => AttributeValue::S(text.clone()),
        Any::Bytes(bytes) => AttributeValue::B(Blob::new(bytes.clone())),
        Any::List(list) => set(list).unwrap_or_else(|| AttributeValue::L(list.iter().map(attribute).collect())),
        Any::Map(map) => AttributeValue::M(attributes(map)),
    }
}

/// Converts a list of bytes or of numbers into a set, because the rows of this library have no such list.
fn set(list: &[Any]) -> Option<AttributeValue> {
    let bytes = |value: &Any| if let Any::Bytes(bytes) = value { Some(Blob::new(bytes.clone())) } else { None };
    let number = |value: &Any| if let Any::Number(number) = value { Some(number.to_string()) } else { None };
    let bytes: Option<Vec<_>> = list.iter().map(bytes).collect();
    let numbers: Option<Vec<_>> = list.iter().map(number).collect();
    let set = bytes.map(AttributeValue::Bs).or(numbers.map(AttributeValue::Ns));
    set.filter(|_| !list.is_empty())
}
