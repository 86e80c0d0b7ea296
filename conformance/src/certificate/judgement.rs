//! The verdict of a run on a backend or a part, in one line.

use std::collections::BTreeSet;
use std::fmt;

use super::{End, Entry};
use crate::harness::WITHOUT;
use crate::part::Part;

/// The verdict of a run of the suite on a backend or a part.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Judgement {
    /// Every case that was not ignored held.
    Conforms {
        /// The highest level with cases that were run.
        level: u8,
        /// The parts with cases that were run.
        parts: usize,
        /// The parts that are left out.
        left_out: Vec<Part>,
        /// What the harness lacks for further cases of these parts up to this level, such as `a network`.
        without: Vec<String>,
    },
    /// A case did not hold.
    Broken {
        /// The number of cases that failed.
        failed: usize,
        /// The number of cases that were run.
        ran: usize,
    },
    /// Every case that was run and decided held, but not all cases were.
    Open {
        /// The number of cases that were run and decided.
        ran: usize,
        /// The number of cases that are not ignored.
        asked: usize,
    },
    /// All cases of the smoke selection held. The smoke selection does not prove conformance.
    Smoke {
        /// The number of cases that were run.
        ran: usize,
    },
}

impl Judgement {
    pub(super) fn of(entries: &[Entry], everything: bool) -> Self {
        let asked: Vec<&Entry> = entries.iter().filter(|entry| !matches!(entry.end, End::Ignored(_))).collect();
        let ran = asked.iter().filter(|entry| entry.ran()).count();
        let failed = asked.iter().filter(|entry| matches!(entry.end, End::Failed(_))).count();
        match everything {
            _ if failed > 0 => Self::Broken { failed, ran },
            _ if ran < asked.len() || ran == 0 => Self::Open { ran, asked: asked.len() },
            false => Self::Smoke { ran },
            true => Self::conforms(&asked, entries),
        }
    }

    fn conforms(asked: &[&Entry], entries: &[Entry]) -> Self {
        let level = asked.iter().map(|entry| entry.case.family().level()).max().unwrap_or_default();
        let parts: BTreeSet<Part> = asked.iter().map(|entry| entry.case.part()).collect();
        let all: BTreeSet<Part> = entries.iter().map(|entry| entry.case.part()).collect();
        let left_out: Vec<Part> = all.difference(&parts).copied().collect();
        let is_below = |entry: &&Entry| parts.contains(&entry.case.part()) && entry.case.family().level() <= level;
        let lacked = entries.iter().filter(is_below).filter_map(|entry| lacked(entry.end.ignored()?));
        // A case of a part that is present may need a part that is left out.
        let lacked = lacked.filter(|what| left_out.iter().all(|part| part.name() != *what));
        let without: BTreeSet<&str> = lacked.collect();
        let without = without.into_iter().map(str::to_owned).collect();
        Self::Conforms { level, parts: parts.len(), left_out, without }
    }

    /// Returns what a backend that conforms lacks: parts, and what the harness does not have.
    pub(super) fn lacks(&self) -> Vec<&str> {
        match self {
            Self::Conforms { left_out, without, .. } => {
                left_out.iter().map(|part| part.name()).chain(without.iter().map(String::as_str)).collect()
            }
            _ => vec![],
        }
    }

    /// Returns the level at which the backend conforms, or `None` if it does not conform.
    pub fn level(&self) -> Option<u8> {
        match self {
            Self::Conforms { level, .. } => Some(*level),
            _ => None,
        }
    }
}

impl fmt::Display for Judgement {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Conforms { level, parts, left_out, .. } => {
                match left_out.len() {
                    0 => write!(f, "conforms at L{level} in all {parts} parts")?,
                    others => write!(f, "conforms at L{level} in {parts} of {} parts", parts + others)?,
                }
                match self.lacks().join(", ") {
                    lacks if lacks.is_empty() => Ok(()),
                    lacks => write!(f, ", without {lacks}"),
                }
            }
            Self::Broken { failed, ran } => write!(f, "does not conform: {failed} of {ran} cases failed"),
            Self::Open { ran, asked } => write!(f, "no verdict: {ran} of {asked} cases were run, and held"),
            Self::Smoke { ran } => write!(f, "no verdict: the {ran} cases of the smoke selection held"),
        }
    }
}

/// Returns what is missing according to the reason for ignoring a case: `a network` of `without a network: no server`.
fn lacked(reason: &str) -> Option<&str> {
    reason.strip_prefix(WITHOUT)?.split(':').next()
}
