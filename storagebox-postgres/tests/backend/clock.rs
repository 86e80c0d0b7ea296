//! The rule for reading the clock, checked in the SQL text of every function: read it after everything that the
//! function can wait for.
//!
//! A time that was read before a wait is called `asked`. It may be used where an older time only delays something, as
//! in the check whether a hold has lapsed. If a statement that may wait dates rows by it, the function dates them again
//! when the call `has_waited`.

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;

use storagebox_core::Result;

use crate::support::failed;

/// Functions that wait only for upkeep, which keeps its locks only for a short time.
const BRIEF: [&str; 3] = ["counter_refuse", "counter_remember", "record_end"];

const CLOCK: &str = "{schema}.clock()";

struct Function {
    name: String,
    statements: Vec<String>,
}

fn functions() -> Result<Vec<Function>> {
    let sql = Path::new(env!("CARGO_MANIFEST_DIR")).join("sql");
    let mut found = vec![];
    for folder in fs::read_dir(sql).map_err(failed)? {
        let folder = folder.map_err(failed)?.path();
        for file in folder.is_dir().then(|| fs::read_dir(&folder)).transpose().map_err(failed)?.into_iter().flatten() {
            let text = fs::read_to_string(file.map_err(failed)?.path()).map_err(failed)?;
            found.extend(Function::of(&text));
        }
    }
    Ok(found)
}

impl Function {
    /// Returns the function that the SQL text creates; `None` if it creates none.
    fn of(text: &str) -> Option<Self> {
        let code: Vec<_> = text.lines().map(|line| line.split("--").next().unwrap_or_default()).collect();
        let code = code.join(" ").split_whitespace().collect::<Vec<_>>().join(" ");
        let (_, code) = code.split_once("FUNCTION {schema}.")?;
        let (name, body) = code.split_once('(')?;
        Some(Self { name: name.to_owned(), statements: body.split(';').map(str::to_owned).collect() })
    }

    fn waits(&self, waiting: &BTreeSet<String>) -> bool {
        self.statements.iter().any(|statement| waits(statement, waiting))
    }

    /// Returns the variables in which the function stores a time, each with the index of the statement that sets it.
    fn kept(&self) -> Vec<(usize, &str)> {
        let indexed = self.statements.iter().enumerate();
        indexed.filter_map(|(index, statement)| Some((index, kept(statement)?))).collect()
    }
}

fn kept(statement: &str) -> Option<&str> {
    let (name, value) = statement.split_once(":=")?;
    let value = value.trim_start();
    let is_before = value.starts_with("{schema}.forgotten_before(") && value.contains(CLOCK);
    let is_moment = value.starts_with(CLOCK) || is_before;
    name.split_whitespace().rfind(|word| *word != "timestamptz").filter(|_| is_moment)
}

/// Whether the statement can wait for another call, directly or in a function that it calls.
fn waits(statement: &str, waiting: &BTreeSet<String>) -> bool {
    let locks = statement.replace("FOR UPDATE SKIP LOCKED", "");
    let locks = locks.contains("FOR UPDATE") || locks.contains("FOR KEY SHARE");
    let calls = |name: &String| statement.contains(&format!("{{schema}}.{name}("));
    locks || statement.contains("INSERT INTO") || waiting.iter().any(calls)
}

fn waiting(functions: &[Function]) -> BTreeSet<String> {
    let mut waiting = BTreeSet::new();
    loop {
        let before = waiting.len();
        let found = functions.iter().filter(|function| function.waits(&waiting));
        let found: Vec<_> = found.map(|function| function.name.clone()).collect();
        waiting.extend(found.into_iter().filter(|name| !BRIEF.contains(&name.as_str())));
        if waiting.len() == before {
            return waiting;
        }
    }
}

/// The calls by which a function reads the clock again after a wait.
const LOOKS: [&str; 2] = ["{schema}.has_waited(", "{schema}.bank_hold_from("];

fn faults(function: &Function, waiting: &BTreeSet<String>) -> Vec<&'static str> {
    let waits_at = |(_, statement): &(usize, &String)| waits(statement, waiting);
    let mut stops = function.statements.iter().enumerate().filter(waits_at).map(|(index, _)| index);
    let Some(last) = stops.next_back() else { return vec![] };
    let first = stops.next().unwrap_or(last);
    let kept = function.kept();
    let mut faults = vec![];
    if kept.iter().any(|(index, name)| *index < first && *name != "asked") {
        faults.push("keeps a moment from before its first wait that is not called `asked`");
    }
    let moments: Vec<_> = kept.iter().filter(|(_, name)| *name != "asked").collect();
    if moments.last().is_some_and(|(index, _)| *index < last) {
        faults.push("reads the clock for the last time before its last wait");
    }
    let is_late = |statement: &str| {
        let behind = statement.find("DO UPDATE");
        statement.find(CLOCK).is_none_or(|clock| behind.is_some_and(|behind| behind < clock))
    };
    if function.statements.iter().any(|statement| waits(statement, waiting) && !is_late(statement)) {
        faults.push("reads the clock in a statement that waits afterwards");
    }
    let dates = |statement: &&String| statement.contains("INSERT INTO") && statement.contains("asked");
    let looks = |statement: &String| LOOKS.iter().any(|look| statement.contains(look)) && statement.contains("asked)");
    if function.statements.iter().any(|statement| dates(&statement)) && !function.statements.iter().any(looks) {
        faults.push("dates a row by `asked` and does not look whether it `has_waited`");
    }
    faults
}

#[test]
fn each_function_reads_the_clock_after_its_waits() -> Result<()> {
    let functions = functions()?;
    let waiting = waiting(&functions);
    assert!(waiting.len() >= 25, "only {waiting:?} wait");
    let readers = functions.iter().filter(|function| !function.kept().is_empty()).count();
    assert!(readers >= 15, "only {readers} functions keep a moment");
    let faults: Vec<_> = functions
        .iter()
        .flat_map(|function| faults(function, &waiting).into_iter().map(|fault| format!("{} {fault}", function.name)))
        .collect();
    assert_eq!(faults, Vec::<String>::new());
    Ok(())
}

/// A call behind a pooler must not wait for ever after its client is gone.
#[test]
fn each_function_that_can_wait_has_a_lock_timeout() -> Result<()> {
    let functions = functions()?;
    let waiting = waiting(&functions);
    let called = |function: &&Function| function.statements[0].contains("SECURITY DEFINER");
    let called: Vec<_> = functions.iter().filter(called).filter(|one| waiting.contains(&one.name)).collect();
    assert!(called.len() >= 20, "only {} functions are called and can wait", called.len());
    let patient = called.iter().filter(|one| !one.statements[0].contains("SET lock_timeout = "));
    assert_eq!(patient.map(|one| &one.name).collect::<Vec<_>>(), Vec::<&String>::new());
    Ok(())
}
