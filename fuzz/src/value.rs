//! Values of a protocol, and edits of them.

use bolero::{Driver, ValueGenerator};

use crate::bytes::{Edited, below};

const EDITS: usize = 3;

/// A value of a protocol. A test converts it to the type that its parser reads.
#[derive(Clone, Debug, PartialEq)]
pub enum Value {
    /// No value.
    Nothing,
    /// A truth value.
    Truth(bool),
    /// A number.
    Number(i64),
    /// A text, which may be a number.
    Text(String),
    /// Bytes, which may be a text.
    Bytes(Vec<u8>),
    /// Several values.
    List(Vec<Value>),
    /// A map from names to values.
    Map(Vec<(String, Value)>),
}

impl Value {
    /// Creates a list of texts.
    pub fn texts(texts: &[&str]) -> Self {
        Self::List(texts.iter().map(|text| Self::Text((*text).to_owned())).collect())
    }

    /// Creates a map of these values.
    pub fn map<const N: usize>(values: [(&str, Self); N]) -> Self {
        Self::Map(values.into_iter().map(|(name, value)| (name.to_owned(), value)).collect())
    }
}

const NUMBERS: [i64; 7] = [0, 1, -1, i64::MAX, i64::MIN, 1 << 53, 4_294_967_296];

/// A generator of inputs: known values with a few edits.
#[derive(Clone, Debug)]
pub struct EditedValue {
    known: Vec<Value>,
    bytes: Edited,
}

impl EditedValue {
    /// Creates a generator of edits of these values.
    #[must_use]
    pub fn of(known: Vec<Value>) -> Self {
        let mut bytes = vec![b"unknown".to_vec()];
        known.iter().for_each(|value| gather(value, &mut bytes));
        Self { known, bytes: Edited::of(bytes) }
    }

    fn edit<D: Driver>(&self, value: &mut Value, driver: &mut D) -> Option<()> {
        let is_here = below(4, driver)? == 0;
        match value {
            Value::List(list) if !list.is_empty() && !is_here => {
                let at = below(list.len(), driver)?;
                match below(6, driver)? {
                    0 => drop(list.remove(at)),
                    1 => list.insert(at, list[at].clone()),
                    2 => list.truncate(at),
                    _ => self.edit(&mut list[at], driver)?,
                }
            }
            Value::Map(map) if !map.is_empty() && !is_here => {
                let at = below(map.len(), driver)?;
                match below(4, driver)? {
                    0 => drop(map.remove(at)),
                    _ => self.edit(&mut map[at].1, driver)?,
                }
            }
            other => *other = self.instead(driver)?,
        }
        Some(())
    }

    /// Returns a random value of any kind, usually with bytes of a known value.
    fn instead<D: Driver>(&self, driver: &mut D) -> Option<Value> {
        let text = |bytes: Vec<u8>| String::from_utf8_lossy(&bytes).into_owned();
        Some(match below(10, driver)? {
            0 => Value::Nothing,
            1 => Value::Truth(below(2, driver)? == 0),
            2 => Value::Number(NUMBERS[below(NUMBERS.len(), driver)?]),
            3 => Value::Bytes(self.bytes.generate(driver)?),
            4 => Value::List(vec![self.instead(driver)?]),
            5 => Value::Map(vec![(text(self.bytes.generate(driver)?), self.instead(driver)?)]),
            6 => Value::Text(NUMBERS[below(NUMBERS.len(), driver)?].to_string()),
            7 => self.known.get(below(self.known.len(), driver)?)?.clone(),
            _ => Value::Text(text(self.bytes.generate(driver)?)),
        })
    }
}

/// Adds the bytes of all texts in the value to `found`.
fn gather(value: &Value, found: &mut Vec<Vec<u8>>) {
    match value {
        Value::Text(text) => found.push(text.as_bytes().to_vec()),
        Value::Bytes(bytes) => found.push(bytes.clone()),
        Value::List(list) => list.iter().for_each(|value| gather(value, found)),
        Value::Map(map) => map.iter().for_each(|(_, value)| gather(value, found)),
        Value::Nothing | Value::Truth(_) | Value::Number(_) => {}
    }
}

impl ValueGenerator for EditedValue {
    type Output = Value;

    fn generate<D: Driver>(&self, driver: &mut D) -> Option<Value> {
        let mut value = self.known.get(below(self.known.len(), driver)?)?.clone();
        for _ in 0..below(EDITS + 1, driver)? {
            self.edit(&mut value, driver)?;
        }
        Some(value)
    }
}
