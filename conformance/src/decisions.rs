//! Decision tables: the answer to each call in each state. A case of each part compares the store with its table, and
//! `docs/DECISIONS.md` shows the tables.

mod bank;
mod counter;
mod ordered;
mod records;
mod tokens;

use std::fmt::{Debug, Write};

use storagebox_core::async_trait;

use crate::failure::{Failure, Verdict, ensure_eq};
use crate::world::World;

pub(crate) use bank::a_claim_is_answered_by_its_table;
pub(crate) use counter::an_operation_is_answered_by_its_table;
pub(crate) use ordered::a_write_is_answered_by_its_table;
pub(crate) use records::an_id_is_answered_by_its_table;
pub(crate) use tokens::a_token_is_answered_by_its_table;

/// The table entry of a call that cannot be made in the state of the row.
const IMPOSSIBLE: &str = "";

/// Separates the answers in a table entry that permits several answers.
const OR: char = '|';

/// How long ago the state of a cell was reached.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Age {
    Recent,
    /// Longer ago than a store must remember ended claims, leases and operations.
    LongAgo,
}

/// Whether upkeep runs before the calls of a table. Upkeep changes no answer in a recent state, because the clock alone
/// ends holds, leases and records.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Round {
    BeforeUpkeep,
    AfterUpkeep,
}

const ROUNDS: [Round; 2] = [Round::BeforeUpkeep, Round::AfterUpkeep];

/// A cell of a decision table, and the name of its entries in the store.
#[derive(Clone, Debug)]
struct Cell {
    state: usize,
    call: usize,
    name: String,
}

/// The entries of one cell in a store.
#[async_trait]
trait Scene: Sized + Send + Sync {
    /// Sets up the state of the cell before the pause in which holds and leases end.
    async fn begun(world: &World, cell: Cell) -> Result<Self, Failure>;

    /// Completes the state after a pause in which every hold and lease of the length `World::short` has ended.
    async fn completed(&mut self) -> Verdict {
        Ok(())
    }

    /// Makes the call twice, and compares the answers and the resulting state with the table.
    async fn ask(&self) -> Verdict;
}

impl Cell {
    fn place(&self) -> (usize, usize) {
        (self.state, self.call)
    }
}

struct Table {
    title: &'static str,
    about: &'static str,
    /// The calls, as in the header row of the table.
    calls: &'static [&'static str],
    /// The states, each with the answer to every call.
    rows: &'static [(&'static str, &'static [&'static str])],
}

const TABLES: [&Table; 5] = [&bank::TABLE, &records::TABLE, &tokens::TABLE, &counter::TABLE, &ordered::TABLE];

impl Table {
    /// Returns the cells of the table whose call is possible, each as the indices of its state and its call.
    fn asked(&self) -> impl Iterator<Item = (usize, usize)> {
        let of_state = |(state, (_, answers)): (usize, &(&str, &'static [&'static str]))| {
            let possible = answers.iter().enumerate().filter(|(_, answer)| **answer != IMPOSSIBLE);
            possible.map(move |(call, _)| (state, call)).collect::<Vec<_>>()
        };
        self.rows.iter().enumerate().flat_map(of_state)
    }

    fn ensure(&self, (state, call): (usize, usize), found: &str) -> Verdict {
        let (name, answers) = self.rows[state];
        let answer = answers[call].split(OR).find(|answer| *answer == found).unwrap_or(answers[call]);
        ensure_eq!(found, answer, "{} where {name}", self.calls[call]);
        Ok(())
    }

    /// Checks that a read after a call finds the expected result.
    fn ensure_after(&self, (state, call): (usize, usize), what: &str, found: &str, expected: &str) -> Verdict {
        ensure_eq!(found, expected, "{what} after {} where {}", self.calls[call], self.rows[state].0);
        Ok(())
    }

    /// Sets up the states of all cells, the `LongAgo` states first, and then checks each cell.
    async fn ask<S: Scene>(&self, world: &World, round: Round, age_of: fn(usize) -> Age) -> Result<Vec<S>, Failure> {
        let ages = [Age::LongAgo, Age::Recent].into_iter().filter(|age| *age == Age::Recent || world.can_forget());
        let mut scenes: Vec<S> = vec![];
        for age in ages {
            let begun = scenes.len();
            for (state, call) in self.asked().filter(|(state, _)| age_of(*state) == age) {
                scenes.push(S::begun(world, Cell { state, call, name: format!("{round:?}-{state}-{call}") }).await?);
            }
            world.pass(world.short()).await;
            for scene in &mut scenes[begun..] {
                scene.completed().await?;
            }
            if age == Age::LongAgo {
                world.pass_memory().await;
            }
        }
        if round == Round::AfterUpkeep {
            world.upkeep().await?;
        }
        for scene in &scenes {
            scene.ask().await?;
        }
        Ok(scenes)
    }

    fn render(&self, text: &mut String) {
        let Self { title, about, calls, rows } = self;
        let head: Vec<_> = calls.iter().map(|call| format!("`{call}`")).collect();
        let _ = writeln!(text, "## {title}\n\n{about}\n\n| | {} |", head.join(" | "));
        let _ = writeln!(text, "|---|{}", "---|".repeat(calls.len()));
        for (state, answers) in *rows {
            let shown = |answer: &&str| match *answer {
                IMPOSSIBLE => String::new(),
                answer => answer.split(OR).map(|answer| format!("`{answer}`")).collect::<Vec<_>>().join(" or "),
            };
            let answers: Vec<_> = answers.iter().map(shown).collect();
            let _ = writeln!(text, "| {state} | {} |", answers.join(" | "));
        }
        let _ = writeln!(text);
    }
}

/// Returns the page that shows all tables.
pub fn decisions() -> String {
    let mut text = String::from(
        "# What each call answers in each state\n\nGenerated by `cargo xtask clauses` from the tables of the suite. A case \
         per table holds every backend to it:\n`cargo test --test conformance -- answered_by_its_table`. An empty field is \
         a call that cannot be made in that\nstate. *Long ago* is longer ago than the store has to remember what has \
         ended: it may remember it for longer.\n\nEach call is made before and after upkeep has run, and a second time. \
         After it, what is read agrees with the\nanswer, and others' claims, ids, tokens and keys are as they were.\n\n",
    );
    for table in TABLES {
        table.render(&mut text);
    }
    text.trim_end().to_owned() + "\n"
}

/// Returns the name of an outcome without its fields, except for the reason of `Ended`.
fn brief(outcome: &impl Debug) -> String {
    let text = format!("{outcome:?}");
    match text.strip_prefix("Ended(").and_then(|rest| rest.split_once(')')) {
        Some((why, _)) => format!("Ended({why})"),
        None => text.split([' ', '(']).next().unwrap_or_default().to_owned(),
    }
}
