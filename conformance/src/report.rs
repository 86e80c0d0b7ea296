//! What a test program says of its cases in the end.

use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

use crate::case::{Case, Part};
use crate::harness::Declared;
use crate::suite::Selection;

/// How many of the slowest cases are named.
const SLOWEST: &str = "STORAGEBOX_SLOWEST";

/// What held, level by level, what was not asked, and what took longest.
pub(crate) struct Report {
    selection: Selection,
    /// How many cases there are that the backend does not leave out, and their parts.
    asked: usize,
    parts: BTreeSet<Part>,
    left_out: BTreeSet<Part>,
    by_level: BTreeMap<u8, (usize, usize)>,
    ignored: BTreeMap<String, usize>,
    took: Vec<(Duration, String)>,
}

impl Report {
    pub(crate) fn of(selection: Selection, declared: &Declared) -> Self {
        let cases = selection.cases();
        let mut ignored = BTreeMap::new();
        for reason in cases.iter().filter_map(|case| declared.ignores(case)) {
            *ignored.entry(reason.to_owned()).or_default() += 1;
        }
        let asked: Vec<_> = cases.iter().filter(|case| declared.ignores(case).is_none()).collect();
        let parts: BTreeSet<_> = asked.iter().map(|case| case.part()).collect();
        let left_out = cases.iter().map(Case::part).filter(|part| !parts.contains(part)).collect();
        Self { selection, asked: asked.len(), parts, left_out, by_level: BTreeMap::new(), ignored, took: vec![] }
    }

    pub(crate) fn enter(&mut self, case: &Case, passed: bool, took: Duration) {
        let (held, ran) = self.by_level.entry(case.family().level()).or_default();
        *held += usize::from(passed);
        *ran += 1;
        self.took.push((took, case.name()));
    }

    pub(crate) fn render(&self, name: &str, dropped: usize) -> String {
        let levels = self.by_level.iter().map(|(level, (held, ran))| format!("L{level} {held} of {ran}"));
        let levels: Vec<_> = levels.collect();
        let held = format!("{name}: {}; futures dropped half-way: {dropped}\n", levels.join(", "));
        let ignored = self.ignored.iter().map(|(reason, count)| format!("{name}: {count} ignored: {reason}\n"));
        let most = std::env::var(SLOWEST).ok().and_then(|most| most.parse().ok()).unwrap_or(5);
        let verdict = format!("{name}: {}\n", self.verdict());
        std::iter::once(held).chain(ignored).chain(self.slowest(name, most)).chain([verdict]).collect()
    }

    /// What the whole run says of the backend.
    fn verdict(&self) -> String {
        let (held, ran) = self.by_level.values().fold((0, 0), |(held, ran), more| (held + more.0, ran + more.1));
        let level = self.by_level.keys().max().copied().unwrap_or_default();
        match self.selection {
            _ if held < ran => format!("does not conform: {} of {ran} cases failed", ran - held),
            _ if ran < self.asked => format!("no verdict: {ran} of {} cases were chosen, and held", self.asked),
            Selection::Smoke => format!("no verdict: the {ran} cases of the smoke selection held, up to L{level}"),
            Selection::Everything => format!("conforms at L{level} in {}", self.scope()),
        }
    }

    fn scope(&self) -> String {
        if self.left_out.is_empty() {
            return format!("all {} parts", self.parts.len());
        }
        let left_out: Vec<_> = self.left_out.iter().map(|part| part.name()).collect();
        let all = self.parts.len() + left_out.len();
        format!("{} of {all} parts, without {}", self.parts.len(), left_out.join(", "))
    }

    fn slowest(&self, name: &str, most: usize) -> Vec<String> {
        let mut took = self.took.clone();
        took.sort_by(|one, other| other.cmp(one));
        let line = |(took, case): &(Duration, String)| format!("{name}: {:.1} s {case}\n", took.as_secs_f64());
        took.iter().take(most).map(line).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::suite::cases;

    #[test]
    fn the_slowest_come_first_and_only_so_many() {
        let mut report = Report::of(Selection::Everything, &Declared::all());
        for (case, seconds) in cases().iter().zip([2, 7, 1]) {
            report.enter(case, true, Duration::from_secs(seconds));
        }
        let names: Vec<_> = cases().iter().take(2).map(Case::name).collect();
        assert_eq!(
            report.slowest("here", 2),
            [format!("here: 7.0 s {}\n", names[1]), format!("here: 2.0 s {}\n", names[0])]
        );
    }

    /// What is said of a backend that leaves this out, after these cases were run and this one of them failed.
    fn said(declared: &Declared, run: impl Fn(usize) -> bool, failed: Option<usize>) -> String {
        let mut report = Report::of(Selection::Everything, declared);
        let asked = Selection::Everything.cases().into_iter().filter(|case| declared.ignores(case).is_none());
        for (number, case) in asked.enumerate().filter(|(number, _)| run(*number)) {
            report.enter(&case, Some(number) != failed, Duration::ZERO);
        }
        report.verdict()
    }

    #[test]
    fn a_backend_conforms_at_the_highest_level_that_was_asked_in_the_parts_that_it_has() {
        let all = Declared::all();
        assert_eq!(said(&all, |_| true, None), "conforms at L4 in all 10 parts");
        let calm = all.without_restart("no server").without_network("no server");
        assert_eq!(said(&calm, |_| true, None), "conforms at L3 in all 10 parts");
        let partial = calm.without(Part::Ordered, "not yet").without(Part::Strategies, "some");
        assert_eq!(said(&partial, |_| true, None), "conforms at L3 in 8 of 10 parts, without strategies, ordered");
    }

    #[test]
    fn one_failure_or_a_choice_of_cases_is_no_conformance() {
        let count = Selection::Everything.cases().len();
        let all = Declared::all();
        assert_eq!(said(&all, |_| true, Some(7)), format!("does not conform: 1 of {count} cases failed"));
        assert_eq!(said(&all, |number| number < 3, Some(1)), "does not conform: 1 of 3 cases failed");
        assert_eq!(
            said(&all, |number| number < 3, None),
            format!("no verdict: 3 of {count} cases were chosen, and held")
        );
    }
}
