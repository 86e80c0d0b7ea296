//! The result of a run of the suite on a backend.

mod badge;
mod file;
mod json;
mod judgement;
mod junit;
mod text;

use std::time::Duration;

use crate::case::Case;
use crate::harness::Declared;
use crate::options::Options;
use crate::part::Part;
use crate::suite::Selection;

pub use judgement::Judgement;
pub use text::LEVELS;

/// The result of a run of the suite: each case with its end, and the verdict.
#[derive(Clone, Debug)]
pub struct Certificate {
    name: String,
    options: Options,
    seed: u64,
    entries: Vec<Entry>,
}

/// A case and its end.
#[derive(Clone, Debug)]
pub struct Entry {
    /// The case.
    pub case: Case,
    /// How the case ended.
    pub end: End,
    /// How long the case took.
    pub took: Duration,
}

/// How a case ended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum End {
    /// The case held: the store kept the promise that the case checks.
    Held,
    /// The case did not hold. The text says what was promised, what happened, and how to reproduce the failure.
    Failed(String),
    /// The machine was too slow for the case, for this reason. The case says nothing about the store.
    Undecided(String),
    /// The case was not run, because the backend does not declare what the case needs.
    Ignored(String),
    /// The case did not finish, because the run did not select the case or ended too early.
    NotRun,
}

impl Certificate {
    /// Creates a certificate whose cases have not been run.
    pub(crate) fn of(name: String, options: Options, seed: u64, declared: &Declared) -> Self {
        let end = |case: &Case| match case.ignored_by(declared) {
            Some(reason) => End::Ignored(reason),
            None => End::NotRun,
        };
        let entries = options.selection.cases().into_iter();
        let entries = entries.map(|case| Entry { end: end(&case), case, took: Duration::ZERO }).collect();
        Self { name, options, seed, entries }
    }

    /// Records how the case at the index `number` ended, and how long it took.
    pub(crate) fn enter(&mut self, number: usize, end: End, took: Duration) {
        if let Some(entry) = self.entries.get_mut(number) {
            (entry.end, entry.took) = (end, took);
        }
    }

    /// Returns the name of the backend, with its server.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Returns the seed of the run.
    pub fn seed(&self) -> u64 {
        self.seed
    }

    /// Returns every case of the run, in the order of the suite.
    pub fn entries(&self) -> &[Entry] {
        &self.entries
    }

    /// Returns the verdict on the backend as a whole.
    pub fn judgement(&self) -> Judgement {
        Judgement::of(&self.entries, self.options.selection == Selection::Everything)
    }

    /// Returns the verdict on each part that the backend does not leave out, judged by the cases of the part alone.
    pub fn parts(&self) -> Vec<(Part, Judgement)> {
        let mut parts: Vec<Part> = self.entries.iter().map(|entry| entry.case.part()).collect();
        parts.dedup();
        let entries =
            |part| -> Vec<Entry> { self.entries.iter().filter(|entry| entry.case.part() == part).cloned().collect() };
        let judged = parts.into_iter().map(|part| (part, entries(part)));
        judged
            .filter(|(_, entries)| entries.iter().any(|entry| !matches!(entry.end, End::Ignored(_))))
            .map(|(part, entries)| (part, Judgement::of(&entries, self.options.selection == Selection::Everything)))
            .collect()
    }

    /// Returns the reasons why cases were ignored, each with the number of cases.
    pub fn ignored(&self) -> Vec<(&str, usize)> {
        let mut reasons: Vec<(&str, usize)> = vec![];
        for reason in self.entries.iter().filter_map(|entry| entry.end.ignored()) {
            match reasons.iter_mut().find(|(known, _)| *known == reason) {
                Some((_, count)) => *count += 1,
                None => reasons.push((reason, 1)),
            }
        }
        reasons
    }
}

impl End {
    fn ignored(&self) -> Option<&str> {
        match self {
            Self::Ignored(reason) => Some(reason),
            _ => None,
        }
    }
}

#[cfg(test)]
mod tests;
