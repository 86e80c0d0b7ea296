//! The table of the results of mutants.

use std::fmt;
use std::time::Duration;

use super::bench::Verdict;
use super::catalogue::Mutant;

#[derive(Debug, Default)]
pub(super) struct Table(Vec<Row>);

#[derive(Debug)]
pub(super) struct Row {
    mutant: Mutant,
    verdict: Verdict,
    took: Duration,
}

impl Row {
    pub(super) fn new(mutant: &Mutant, verdict: Verdict, took: Duration) -> Self {
        Self { mutant: mutant.clone(), verdict, took }
    }

    fn is_caught(&self) -> bool {
        matches!(self.verdict, Verdict::Failed(_))
    }
}

impl Table {
    pub(super) fn add(&mut self, row: Row) {
        self.0.push(row);
    }

    /// Returns the names of the mutants that no case caught.
    pub(super) fn survivors(&self) -> Vec<String> {
        self.0.iter().filter(|row| !row.is_caught()).map(|row| row.mutant.name.clone()).collect()
    }
}

impl fmt::Display for Table {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "| mutant | what is wrong | clause | case | seconds | |\n|---|---|---|---|---:|---|")?;
        for row in &self.0 {
            let Mutant { name, wrong, clause, case, .. } = &row.mutant;
            let seconds = row.took.as_secs_f64();
            writeln!(f, "| {name} | {wrong} | {clause} | `{case}` | {seconds:.1} | {} |", row.verdict.word())?;
        }
        let caught = self.0.iter().filter(|row| row.is_caught()).count();
        write!(f, "\n{caught} of {} mutants were caught", self.0.len())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn row(name: &str, verdict: Verdict) -> Row {
        let (clause, wrong, case, test) = ("IB-1".into(), "it is wrong".into(), "a::IB-1::b".into(), "backend".into());
        let mutant = Mutant { name: name.into(), clause, wrong, case, test, runs: 1, patch: vec![] };
        Row::new(&mutant, verdict, Duration::from_millis(1_500))
    }

    #[test]
    fn the_table_lists_each_mutant_and_names_the_survivors() {
        let (caught, unclear) = (Verdict::Failed("no".to_owned()), Verdict::Unclear("no".to_owned()));
        let table = Table(vec![row("one", caught), row("two", Verdict::Passed), row("three", unclear)]);
        let text = table.to_string();
        assert!(text.contains("| one | it is wrong | IB-1 | `a::IB-1::b` | 1.5 | caught |"), "{text}");
        assert!(text.ends_with("1 of 3 mutants were caught"), "{text}");
        assert_eq!(table.survivors(), ["two", "three"]);
    }
}
