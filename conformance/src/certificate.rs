//! What a run of the suite says of a backend, as a value.

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

/// What a run of the suite found: each case with its end, and the verdict.
#[derive(Clone, Debug)]
pub struct Certificate {
    name: String,
    options: Options,
    seed: u64,
    entries: Vec<Entry>,
}

/// A case, and what became of it.
#[derive(Clone, Debug)]
pub struct Entry {
    /// The case.
    pub case: Case,
    /// Its end.
    pub end: End,
    /// How long it took.
    pub took: Duration,
}

/// What became of a case.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum End {
    /// It held.
    Held,
    /// It did not hold: what was promised, what happened, and how to see it again.
    Failed(String),
    /// It was not run, because the backend does not claim what the case needs.
    Ignored(String),
    /// It was not run to its end: another choice of cases, or the time was over.
    NotRun,
}

impl Certificate {
    /// Creates the certificate of a run that has not begun.
    pub(crate) fn of(name: String, options: Options, seed: u64, declared: &Declared) -> Self {
        let end = |case: &Case| match case.ignored_by(declared) {
            Some(reason) => End::Ignored(reason),
            None => End::NotRun,
        };
        let entries = options.selection.cases().into_iter();
        let entries = entries.map(|case| Entry { end: end(&case), case, took: Duration::ZERO }).collect();
        Self { name, options, seed, entries }
    }

    /// Enters the end of the case with this number.
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

    /// Returns the verdict on each part of the suite that the backend does not leave out, by its own cases.
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

    /// Returns why cases were ignored, and how many for each reason.
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
