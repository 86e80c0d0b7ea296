//! The items of a transaction, as the service counts them.

use aws_sdk_dynamodb::types::{AttributeValue, TransactWriteItem};
use storagebox_core::{Error, ErrorKind, Result};

use crate::row::{Attributes, Row, RowKey};

/// DynamoDB's limits for one transaction: the number of its actions, and their bytes.
const MOST_ACTIONS: usize = 100;
const MOST_BYTES: usize = 4 * 1_024 * 1_024;
/// The largest size, without the key, of a row that a call of `Parts` updates.
// A claim with the longest item and sixteen void calls has fewer bytes, and so has an item with the longest claim.
const ROW_BYTES: usize = 3 * 1_024;

pub(super) fn row(item: &TransactWriteItem) -> Result<RowKey> {
    Row::from(contents(item).cloned().unwrap_or_default()).key()
}

/// Returns the bytes of an item: the row that it puts, or else the key and the values of its request.
pub(super) fn bytes(item: &TransactWriteItem) -> usize {
    let values = item.update().and_then(|update| update.expression_attribute_values());
    contents(item).into_iter().chain(values).map(all_bytes).sum()
}

/// Returns an upper bound for the bytes of an item of `Parts`.
pub(super) fn own_bytes(item: &TransactWriteItem) -> usize {
    bytes(item) + if item.update().is_some() { ROW_BYTES } else { 0 }
}

pub(super) fn check(actions: usize, bytes: usize) -> Result<()> {
    for (what, most, found) in [("actions", MOST_ACTIONS, actions), ("bytes", MOST_BYTES, bytes)] {
        if found > most {
            let why = format!("a transaction of DynamoDB has at most {most} {what}, and this one has {found}");
            return Err(Error::new(ErrorKind::TooLarge, why).with("limit", most).with(what, found).on("dynamo"));
        }
    }
    Ok(())
}

/// Returns the row that the item puts, or the key of the row that it changes or checks.
fn contents(item: &TransactWriteItem) -> Option<&Attributes> {
    let key = || item.update().map(|update| update.key()).or_else(|| item.delete().map(|delete| delete.key()));
    let put = item.put().map(|put| put.item());
    put.or_else(key).or_else(|| item.condition_check().map(|check| check.key()))
}

fn all_bytes(attributes: &Attributes) -> usize {
    attributes.iter().map(|(name, value)| name.len() + value_bytes(value)).sum()
}

/// Returns an upper bound for the bytes of a value.
fn value_bytes(value: &AttributeValue) -> usize {
    match value {
        AttributeValue::S(text) => text.len(),
        // An upper bound, because DynamoDB stores two digits in one byte.
        AttributeValue::N(number) => number.len() + 1,
        AttributeValue::B(bytes) => bytes.as_ref().len(),
        AttributeValue::Ss(texts) => texts.iter().map(String::len).sum(),
        AttributeValue::Ns(numbers) => numbers.iter().map(|number| number.len() + 1).sum(),
        AttributeValue::Bs(all) => all.iter().map(|bytes| bytes.as_ref().len()).sum(),
        AttributeValue::L(list) => 3 + list.iter().map(|value| 1 + value_bytes(value)).sum::<usize>(),
        AttributeValue::M(map) => 3 + map.len() + all_bytes(map),
        _ => 1,
    }
}

#[cfg(test)]
mod tests {
    use aws_sdk_dynamodb::primitives::Blob;
    use aws_sdk_dynamodb::types::{ConditionCheck, Delete, Put, Update};

    use super::*;

    fn text(text: &str) -> AttributeValue {
        AttributeValue::S(text.to_owned())
    }

    #[test]
    fn the_counted_bytes_of_a_value_are_at_least_its_stored_bytes() {
        let list = AttributeValue::L(vec![text("ab"), AttributeValue::Bool(true)]);
        let map = AttributeValue::M([("name".to_owned(), text("value"))].into());
        let values = [
            (text("é"), 2),
            (AttributeValue::N("-123".to_owned()), 5),
            (AttributeValue::B(Blob::new([0; 7])), 7),
            (AttributeValue::Ss(vec!["a".to_owned(), "bc".to_owned()]), 3),
            (AttributeValue::Ns(vec!["1".to_owned(), "23".to_owned()]), 5),
            (AttributeValue::Bs(vec![Blob::new([0; 2])]), 2),
            (AttributeValue::Null(true), 1),
            (list, 3 + (1 + 2) + (1 + 1)),
            (map, 3 + 1 + 4 + 5),
        ];
        for (value, bytes) in values {
            assert_eq!(value_bytes(&value), bytes, "{value:?}");
        }
    }

    #[test]
    fn the_counted_bytes_of_an_item_are_those_of_its_request() {
        let item = TransactWriteItem::builder;
        let put = Put::builder().table_name("t").item("pk", text("key")).item("a", text("1234")).build().unwrap();
        let update = Update::builder().table_name("t").key("pk", text("key")).update_expression("SET a = :a");
        let update = update.expression_attribute_values(":a", text("1234")).build().unwrap();
        let delete = Delete::builder().table_name("t").key("pk", text("key")).build().unwrap();
        let check = ConditionCheck::builder().table_name("t").key("pk", text("key"));
        let check = check.condition_expression("attribute_exists(pk)").build().unwrap();
        let counted = [
            (item().put(put).build(), 5 + 5),
            (item().update(update).build(), 5 + 6),
            (item().delete(delete).build(), 5),
            (item().condition_check(check).build(), 5),
            (item().build(), 0),
        ];
        for (item, expected) in counted {
            assert_eq!(bytes(&item), expected, "{item:?}");
        }
    }

    #[test]
    fn a_transaction_may_be_as_large_as_the_service_allows() {
        assert!(check(MOST_ACTIONS, MOST_BYTES).is_ok());
        for (actions, bytes, words) in [(101, 0, "at most 100 actions"), (0, 4_194_305, "at most 4194304 bytes")] {
            let error = check(actions, bytes).unwrap_err();
            assert_eq!(error.kind(), ErrorKind::TooLarge);
            assert!(error.to_string().contains(words), "{error}");
        }
    }
}
