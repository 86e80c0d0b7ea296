//! What a test program says of its cases in the end.

use std::collections::BTreeMap;
use std::time::Duration;

use crate::case::Case;
use crate::harness::Declared;

/// How many of the slowest cases are named.
const SLOWEST: &str = "STORAGEBOX_SLOWEST";

/// What held, level by level, what was not asked, and what took longest.
pub(crate) struct Report {
    by_level: BTreeMap<u8, (usize, usize)>,
    ignored: BTreeMap<String, usize>,
    took: Vec<(Duration, String)>,
}

impl Report {
    pub(crate) fn of(cases: &[Case], declared: &Declared) -> Self {
        let mut ignored = BTreeMap::new();
        for reason in cases.iter().filter_map(|case| declared.ignores(case)) {
            *ignored.entry(reason.to_owned()).or_default() += 1;
        }
        Self { by_level: BTreeMap::new(), ignored, took: vec![] }
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
        std::iter::once(held).chain(ignored).chain(self.slowest(name, most)).collect()
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
        let mut report = Report::of(&[], &Declared::all());
        for (case, seconds) in cases().iter().zip([2, 7, 1]) {
            report.enter(case, true, Duration::from_secs(seconds));
        }
        let names: Vec<_> = cases().iter().take(2).map(Case::name).collect();
        assert_eq!(
            report.slowest("here", 2),
            [format!("here: 7.0 s {}\n", names[1]), format!("here: 2.0 s {}\n", names[0])]
        );
    }
}
