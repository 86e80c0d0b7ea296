//! `storagebox promises`: what this store guarantees, and the limits.

use std::io::Write;

use serde_json::Value;
use storagebox::Store;

use crate::answer::{line, wrapped};
use crate::cli::Global;
use crate::exit::{Exit, Failure};
use crate::store;
use crate::terminal;

/// Shows the promises, without a call of the store.
pub(crate) async fn run(global: &Global) -> Result<Exit, Failure> {
    let store = store::open(global).await?;
    show(&store, global.json, &mut terminal::stdout(global.json))?;
    store::close(&store).await?;
    Ok(Exit::Done)
}

fn show(store: &Store, as_json: bool, to: &mut dyn Write) -> Result<(), Failure> {
    match as_json {
        true => line(to, &json(store).to_string()),
        false => line(to, &table(store)),
    }
}

fn json(store: &Store) -> Value {
    let entries = store.promises().entries.into_iter();
    let entries: Value = entries
        .map(|promise| [("about", promise.about), ("statement", &promise.statement)].into_iter().collect::<Value>())
        .collect();
    [("backend", store.backend().into()), ("promises", entries)].into_iter().collect()
}

fn table(store: &Store) -> String {
    let backend = ("backend".to_owned(), store.backend().to_owned());
    let entries = store.promises().entries.into_iter();
    let rows = entries.map(|promise| (promise.about.to_owned(), promise.statement.into_owned()));
    wrapped([backend].into_iter().chain(rows))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::commands::faulty::memory;

    fn shown(as_json: bool) -> String {
        let mut to = Vec::new();
        show(&memory(), as_json, &mut to).unwrap();
        String::from_utf8(to).unwrap()
    }

    #[test]
    fn table_and_json_show_the_same_promises() {
        let (table, json) = (shown(false), shown(true));
        let json: Value = serde_json::from_str(&json).unwrap();
        assert_eq!(json["backend"], "memory");
        for promise in json["promises"].as_array().unwrap() {
            assert!(table.contains(promise["about"].as_str().unwrap()), "{table}");
        }
        assert!(table.contains("everything is gone with the process"), "{table}");
    }
}
