//! `storagebox promises`: what this store guarantees, and where that ends.

use std::io::Write;

use serde_json::Value;
use storagebox::parts::Promise;
use storagebox::parts::Promises;

use crate::answer::{line, wrapped};
use crate::cli::Global;
use crate::exit::{Exit, Failure};
use crate::store;
use crate::terminal;

/// Asks the store nothing: what it promises is known without it.
pub(crate) async fn run(global: &Global) -> Result<Exit, Failure> {
    let store = store::open(global).await?;
    show(&store.promises(), global.json, &mut terminal::stdout(global.json))?;
    store::close(&*store).await?;
    Ok(Exit::Done)
}

fn show(promises: &Promises, as_json: bool, to: &mut dyn Write) -> Result<(), Failure> {
    match as_json {
        true => line(to, &json(promises).to_string()),
        false => line(to, &table(promises)),
    }
}

fn json(promises: &Promises) -> Value {
    let entry = |promise: &Promise| -> Value {
        [("about", promise.about), ("statement", &promise.statement)].into_iter().collect()
    };
    let entries: Value = promises.entries.iter().map(entry).collect();
    [("backend", promises.backend.into()), ("promises", entries)].into_iter().collect()
}

fn table(promises: &Promises) -> String {
    let backend = ("backend".to_owned(), promises.backend.to_owned());
    let row = |promise: &Promise| (promise.about.to_owned(), promise.statement.clone().into_owned());
    wrapped([backend].into_iter().chain(promises.entries.iter().map(row)))
}

#[cfg(test)]
mod tests {
    use storagebox::{MemoryStore, parts::Backend};

    use super::*;

    fn shown(as_json: bool) -> String {
        let mut to = Vec::new();
        show(&MemoryStore::new().promises(), as_json, &mut to).unwrap();
        String::from_utf8(to).unwrap()
    }

    #[test]
    fn people_and_programs_are_told_the_same() {
        let (table, json) = (shown(false), shown(true));
        let json: Value = serde_json::from_str(&json).unwrap();
        assert_eq!(json["backend"], "memory");
        for promise in json["promises"].as_array().unwrap() {
            assert!(table.contains(promise["about"].as_str().unwrap()), "{table}");
        }
        assert!(table.contains("everything is gone with the process"), "{table}");
    }
}
