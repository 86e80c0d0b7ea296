//! Runs commands in tests, and returns their answers.

use std::fmt::Debug;
use std::io::Write;

use serde_json::Value;
use storagebox::Store;

use super::store_command::{Output, StoreCommand};
use crate::exit::{Exit, Failure};
use crate::output::Reserved;

/// Runs the command with an empty list of reserved files.
pub(super) async fn ask(
    command: impl StoreCommand + Send,
    store: &Store,
    as_json: bool,
    to: &mut (dyn Write + Send),
) -> Result<Exit, Failure> {
    command.ask(store, Output { reserved: &Reserved::default(), as_json, to }).await
}

/// Returns the exit code and all bytes that a command writes. Panics if the command fails.
pub(super) async fn bytes(command: impl StoreCommand + Debug + Send, store: &Store, as_json: bool) -> (Exit, Vec<u8>) {
    let (mut to, what) = (Vec::new(), format!("{command:?}"));
    let exit = ask(command, store, as_json, &mut to).await;
    (exit.unwrap_or_else(|failure| panic!("{what}: {failure}")), to)
}

pub(super) async fn text(command: impl StoreCommand + Debug + Send, store: &Store, as_json: bool) -> (Exit, String) {
    let (exit, bytes) = bytes(command, store, as_json).await;
    (exit, String::from_utf8(bytes).unwrap())
}

/// Checks the fields in `repeated`, and returns the exit code and the other fields of the answer.
pub(super) async fn facts<const N: usize>(
    command: impl StoreCommand + Debug + Send,
    store: &Store,
    repeated: [(&str, &str); N],
) -> (Exit, Value) {
    let (exit, text) = text(command, store, true).await;
    assert_eq!(text.lines().count(), 1, "{text}");
    let mut answer: Value = serde_json::from_str(&text).unwrap();
    for (fact, value) in repeated {
        assert_eq!(answer.as_object_mut().unwrap().remove(fact).unwrap(), value);
    }
    (exit, answer)
}
