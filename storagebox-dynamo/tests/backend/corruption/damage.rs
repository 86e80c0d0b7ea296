//! The damage that can be done to an attribute of a row.

use std::collections::{BTreeMap, HashMap};
use std::fmt;

use aws_sdk_dynamodb::primitives::Blob;
use aws_sdk_dynamodb::types::AttributeValue;
use storagebox_core::Result;

use super::put;
use crate::support::Place;

type Row = HashMap<String, AttributeValue>;
pub(super) type Rows = BTreeMap<(String, String), Row>;

#[derive(Clone, Debug)]
pub(super) struct Damage {
    row: Row,
    what: String,
}

pub(super) async fn snapshot(place: &Place) -> Result<Rows> {
    Ok(place.rows().await?.into_iter().map(|row| ((text(&row, "pk"), text(&row, "sk")), row)).collect())
}

fn text(row: &Row, name: &str) -> String {
    row[name].as_s().cloned().unwrap_or_default()
}

/// The attributes of the keys of the table and the index, and the attribute that only DynamoDB reads.
const KEYS: [&str; 3] = ["pk", "sk", "expires_at"];

impl Damage {
    /// Returns every damage to every row of a namespace.
    pub(super) fn all(rows: &Rows, base: &str) -> Vec<Self> {
        // The namespace's own row is read only when the namespace is opened.
        let is_own = |partition: &str| partition.strip_prefix(base).is_some_and(|part| part != "namespace");
        let of_namespace = rows.iter().filter(|((partition, _), _)| is_own(partition));
        of_namespace.flat_map(|(_, row)| damaged(row)).collect()
    }

    /// Describes the damage in a few words, which are the same for all rows of a kind.
    pub(super) fn kind(&self, base: &str) -> (String, String) {
        let partition = text(&self.row, "pk");
        let part = partition.strip_prefix(base).unwrap_or(&partition).split(':').next().unwrap_or_default();
        let sum = if text(&self.row, "sk") == "sum" { " sum" } else { "" };
        (format!("{part}{sum}"), self.what.clone())
    }

    /// Returns whether the call with this name may read the row.
    pub(super) fn concerns(&self, call: &str) -> bool {
        call.contains(&text(&self.row, "sk")) || !call.contains(" by ")
    }

    pub(super) async fn inflict(&self, place: &Place) -> Result<()> {
        put(place, self.row.clone()).await
    }
}

impl fmt::Display for Damage {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} {}, {}", text(&self.row, "pk"), text(&self.row, "sk"), self.what)
    }
}

fn damaged(row: &Row) -> Vec<Damage> {
    let mut all = vec![];
    let mut names: Vec<_> = row.keys().filter(|name| !KEYS.contains(&name.as_str())).collect();
    names.sort();
    for name in names {
        for (how, value) in others(name, &row[name]) {
            let mut row = row.clone();
            match value {
                Some(value) => row.insert(name.clone(), value),
                None => row.remove(name),
            };
            all.push(Damage { row, what: format!("{name}: {how}") });
        }
    }
    all
}

/// Returns wrong values for an attribute, each with its name. `None` removes the attribute.
fn others(name: &str, value: &AttributeValue) -> Vec<(&'static str, Option<AttributeValue>)> {
    let number = AttributeValue::N("7".to_owned());
    let word = AttributeValue::S("unknown".to_owned());
    let mut all = vec![("none", None)];
    all.extend(match value {
        // The index accepts only texts in this attribute.
        AttributeValue::S(_) if name == "o" => vec![("unknown", Some(word))],
        AttributeValue::S(_) => {
            vec![("unknown", Some(word)), ("empty", Some(AttributeValue::S(String::new()))), ("a number", Some(number))]
        }
        AttributeValue::N(_) => vec![
            ("a text", Some(word)),
            ("beyond its range", Some(AttributeValue::N("1".repeat(38)))),
            ("no whole number", Some(AttributeValue::N("0.5".to_owned()))),
        ],
        AttributeValue::B(bytes) => {
            let half = bytes.as_ref().len() / 2 + 1;
            let half = bytes.as_ref()[..half.min(bytes.as_ref().len())].to_vec();
            vec![("a number", Some(number)), ("cut off", Some(AttributeValue::B(Blob::new(half))))]
        }
        AttributeValue::L(list) => {
            let foreign = vec![number.clone(); list.len()];
            vec![
                ("a number", Some(number)),
                ("empty", Some(AttributeValue::L(vec![]))),
                ("of numbers", Some(AttributeValue::L(foreign))),
            ]
        }
        AttributeValue::M(map) => {
            let foreign = map.keys().map(|key| (key.clone(), AttributeValue::Bool(true))).collect();
            vec![("a number", Some(number)), ("of others", Some(AttributeValue::M(foreign)))]
        }
        _ => vec![("a number", Some(number))],
    });
    all
}
