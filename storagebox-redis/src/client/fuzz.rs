//! Fuzz tests of the functions that read answers.

use redis::Value;
use storagebox_core::{ErrorKind, Result};
use storagebox_fuzz::Value as Any;

use super::Answer;
use crate::script::Script;

type Read = fn(&Answer) -> Result<()>;

/// Passes mutations of the known answers to each reader. Panics unless the reader returns a value, `Corrupt` or
/// `OutcomeUnknown`.
pub(crate) fn fuzz(script: &'static Script, known: &[&[&str]], readers: &[Read]) {
    let known = known.iter().map(|texts| Any::texts(texts)).collect();
    storagebox_fuzz::values(known, |value| {
        for read in readers {
            let outcome = Answer::of(script, answered(value)).and_then(|answer| read(&answer));
            assert!(outcome.is_ok() || makes_no_sense(&outcome), "{outcome:?}");
        }
    });
}

fn makes_no_sense(outcome: &Result<()>) -> bool {
    let senseless = [ErrorKind::Corrupt, ErrorKind::OutcomeUnknown];
    outcome.as_ref().is_err_and(|error| senseless.contains(&error.kind()))
}

fn answered(value: &Any) -> Value {
    match value {
        Any::Nothing => Value::Nil,
        Any::Truth(truth) => Value::Boolean(*truth),
        Any::Number(number) => Value::Int(*number),
        Any::Text(text) => Value::BulkString(text.clone().into_bytes()),
        Any::Bytes(bytes) => Value::BulkString(bytes.clone()),
        Any::List(list) => Value::Array(list.iter().map(answered).collect()),
        Any::Map(map) => {
            let pair = |(name, value): &(String, Any)| (Value::SimpleString(name.clone()), answered(value));
            Value::Map(map.iter().map(pair).collect())
        }
    }
}
