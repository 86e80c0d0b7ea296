//! A certificate as text for a terminal.

use std::collections::{BTreeMap, BTreeSet};

use super::{Certificate, End, Entry, Judgement};
use crate::link::dropped;
use crate::neighbour::killed;
use crate::part::Part;

const HIGHEST: u8 = 4;

/// What the suite tests at each level of conformance. A level includes those below it.
pub const LEVELS: &str = "L1 one caller and odd input; L2 many callers and processes at once; L3 lost replies, late \
                          requests, dropped futures and cut connections; L4 processes and servers that are killed";

impl Certificate {
    /// Returns the summary at the end of a run: the levels, each part, what is missing for a higher level, the slowest
    /// cases (as many as the options say), each undecided case, each broken clause, and the verdict.
    pub fn to_text(&self) -> String {
        let name = &self.name;
        let lines = [self.levels(), format!("levels: {LEVELS}")]
            .into_iter()
            .chain(self.part_lines())
            .chain(self.missing())
            .chain(self.slowest());
        let lines = lines.chain(self.undecided()).chain(self.broken()).chain([self.judgement().to_string()]);
        lines.map(|line| format!("{name}: {line}\n")).collect()
    }

    fn levels(&self) -> String {
        let mut levels: BTreeMap<u8, (usize, usize)> = BTreeMap::new();
        for entry in self.entries.iter().filter(|entry| entry.ran()) {
            let (held, ran) = levels.entry(entry.case.family().level()).or_default();
            *held += usize::from(entry.end == End::Held);
            *ran += 1;
        }
        let levels: Vec<_> = levels.iter().map(|(level, (held, ran))| format!("L{level} {held} of {ran}")).collect();
        format!("{}; futures dropped half-way: {}, processes killed: {}", levels.join(", "), dropped(), killed())
    }

    fn part_lines(&self) -> Vec<String> {
        let line = |(part, judgement): (Part, Judgement)| {
            let of_part = self.entries.iter().filter(|entry| entry.case.part() == part);
            let (ran, held) = of_part
                .filter(|entry| entry.ran())
                .fold((0, 0), |(ran, held), entry| (ran + 1, held + usize::from(entry.end == End::Held)));
            match (ran, judgement.level()) {
                (0, _) => format!("{:<12} not run", part.name()),
                (_, None) => format!("{:<12} no level, {held} of {ran}", part.name()),
                (_, Some(level)) => format!("{:<12} L{level}, {held} of {ran}", part.name()),
            }
        };
        self.parts().into_iter().map(line).collect()
    }

    /// Returns a line for each reason why cases were ignored.
    fn missing(&self) -> Vec<String> {
        let line = |(reason, count): (&str, usize)| {
            let of_reason = || self.entries.iter().filter(|entry| entry.end.ignored() == Some(reason));
            let level = of_reason().map(|entry| entry.case.family().level()).min().unwrap_or(HIGHEST);
            let parts: BTreeSet<_> = of_reason().map(|entry| entry.case.part()).collect();
            let parts: Vec<_> = parts.into_iter().map(Part::name).collect();
            format!("{count} ignored of {}, from L{level} on: {reason}", parts.join(", "))
        };
        self.ignored().into_iter().map(line).collect()
    }

    /// Returns a line for each broken clause, with the failed case that is easiest to read. The first line names the
    /// case to debug first.
    fn broken(&self) -> Vec<String> {
        let mut failed: Vec<&Entry> = self.entries.iter().filter(|entry| matches!(entry.end, End::Failed(_))).collect();
        failed.sort_by_key(|entry| entry.case.plainness());
        let mut clauses: Vec<&str> = vec![];
        for entry in &failed {
            if !clauses.contains(&entry.case.clause()) {
                clauses.push(entry.case.clause());
            }
        }
        let line = |clause: &&str| {
            let of_clause = |entry: &&&Entry| entry.case.clause() == *clause;
            let ran = self.entries.iter().filter(|entry| entry.ran()).filter(|entry| of_clause(&entry)).count();
            let plainest = failed.iter().find(of_clause).map(|entry| entry.case.name()).unwrap_or_default();
            format!("{clause} is broken, {} of {ran} cases failed: {plainest}", failed.iter().filter(of_clause).count())
        };
        clauses.iter().map(line).collect()
    }

    fn undecided(&self) -> Vec<String> {
        let undecided = self.entries.iter().filter(|entry| matches!(entry.end, End::Undecided(_)));
        undecided.map(|entry| format!("undecided, the machine was too slow: {}", entry.case.name())).collect()
    }

    fn slowest(&self) -> Vec<String> {
        let mut entries: Vec<&Entry> = self.entries.iter().filter(|entry| entry.ran()).collect();
        entries.sort_by_key(|entry| std::cmp::Reverse(entry.took));
        let line = |entry: &&Entry| format!("{:.1} s {}", entry.took.as_secs_f64(), entry.case.name());
        entries.iter().take(self.options.slowest).map(line).collect()
    }
}

impl Entry {
    pub(super) fn ran(&self) -> bool {
        matches!(self.end, End::Held | End::Failed(_))
    }
}
