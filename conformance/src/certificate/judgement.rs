//! The verdict of a run on a backend or a part, in one line.

use std::collections::BTreeSet;
use std::fmt;

use super::{End, Entry};
use crate::part::Part;

/// The verdict of a run of the suite on a backend or a part.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Judgement {
    /// Every case held. Ignored cases do not count.
    Conforms {
        /// The highest level with cases that were run.
        level: u8,
        /// The parts with cases that were run.
        parts: usize,
        /// The parts that are left out.
        left_out: Vec<Part>,
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
        Self::Conforms { level, parts: parts.len(), left_out: all.difference(&parts).copied().collect() }
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
            Self::Conforms { level, parts, left_out } if left_out.is_empty() => {
                write!(f, "conforms at L{level} in all {parts} parts")
            }
            Self::Conforms { level, parts, left_out } => {
                let names: Vec<_> = left_out.iter().map(|part| part.name()).collect();
                let all = parts + left_out.len();
                write!(f, "conforms at L{level} in {parts} of {all} parts, without {}", names.join(", "))
            }
            Self::Broken { failed, ran } => write!(f, "does not conform: {failed} of {ran} cases failed"),
            Self::Open { ran, asked } => write!(f, "no verdict: {ran} of {asked} cases were run, and held"),
            Self::Smoke { ran } => write!(f, "no verdict: the {ran} cases of the smoke selection held"),
        }
    }
}
