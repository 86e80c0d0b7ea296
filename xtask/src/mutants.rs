//! Mutants of the real backends. Each mutant is one mistake in SQL, Lua, conditions or Rust, and its catalogue names
//! the case that must notice the mistake.

mod bench;
mod catalogue;
mod fit;
mod source;
mod table;

use std::collections::BTreeSet;
use std::time::{Duration, Instant};

use anyhow::{Result, ensure};
use clap::Args;

use crate::install;
use crate::steps::step;

use bench::{Bench, Verdict};
use catalogue::{Catalogue, Mutant};
use table::{Row, Table};

/// The arguments of `prove mutants`.
#[derive(Args, Clone, Debug, Default, PartialEq)]
pub(crate) struct Filter {
    /// One backend instead of all
    pub(crate) backend: Option<String>,
    /// One mutant instead of all, or the mutants of one clause, such as ER-5
    #[arg(long, value_name = "NAME")]
    pub(crate) only: Option<String>,
    /// Only check whether every patch applies and every case exists
    #[arg(long)]
    pub(crate) check: bool,
}

/// The verdict for a mutant that is not tried, because its case fails even without the patch.
const RED: &str = "its case fails without the patch";

/// The backend whose server, dynoxide, is installed with cargo and not as a package of the system.
const NEEDS_DYNOXIDE: &str = "dynamo";

/// Runs the catalogues. Fails if a patch does not fit, a case does not pass without a patch, or a mutant survives.
pub(crate) fn run(filter: &Filter) -> Result<()> {
    let chosen = chosen(catalogue::read()?, filter)?;
    fit::check(&chosen)?;
    let count: usize = chosen.iter().map(|catalogue| catalogue.mutants.len()).sum();
    println!("{count} mutants: every patch fits and every case exists");
    if filter.check {
        return Ok(());
    }
    let mut table = Table::default();
    let outcome = chosen.iter().try_for_each(|catalogue| prove(catalogue, &mut table));
    println!("\n{table}");
    outcome?;
    let survivors = table.survivors();
    ensure!(survivors.is_empty(), "no case noticed these mutants: {}", survivors.join(", "));
    Ok(())
}

fn chosen(all: Vec<Catalogue>, filter: &Filter) -> Result<Vec<Catalogue>> {
    let is_of = |catalogue: &Catalogue| filter.backend.as_ref().is_none_or(|backend| *backend == catalogue.backend);
    let is_it =
        |mutant: &Mutant| filter.only.as_ref().is_none_or(|only| [&mutant.name, &mutant.clause].contains(&only));
    let mut chosen: Vec<_> = all.into_iter().filter(is_of).collect();
    chosen.iter_mut().for_each(|catalogue| catalogue.mutants.retain(is_it));
    chosen.retain(|catalogue| !catalogue.mutants.is_empty());
    ensure!(!chosen.is_empty(), "no mutant is {}", description(filter));
    Ok(chosen)
}

fn description(filter: &Filter) -> String {
    let named = filter.only.as_ref().map_or("there".to_owned(), |only| format!("called `{only}`"));
    filter.backend.as_ref().map_or(named.clone(), |backend| format!("{named} in the catalogue `{backend}`"))
}

/// Runs all named cases without a patch, and then each mutant with its own case.
fn prove(catalogue: &Catalogue, table: &mut Table) -> Result<()> {
    if catalogue.backend == NEEDS_DYNOXIDE {
        step("dynoxide (some minutes, once)", install::dynoxide)?;
    }
    let bench = Bench::of(catalogue)?;
    let mut red = BTreeSet::new();
    for test in catalogue.tests() {
        println!("{}: builds the test `{test}` without a patch", catalogue.backend);
        let program = bench.built_shown(test)?;
        for case in catalogue.cases(test) {
            step(&format!("without a patch: {case}"), || {
                let verdict = bench.without_patch(&program, case)?;
                red.extend(Some(case).filter(|_| verdict != Verdict::Passed));
                Ok(verdict.to_string())
            })?;
        }
    }
    for (number, mutant) in catalogue.mutants.iter().enumerate() {
        let place = format!("{} {}/{}", catalogue.backend, number + 1, catalogue.mutants.len());
        table.add(match red.contains(mutant.case.as_str()) {
            true => Row::new(mutant, Verdict::Unclear(RED.to_owned()), Duration::ZERO),
            false => tried(&bench, mutant, &place)?,
        });
    }
    Ok(())
}

fn tried(bench: &Bench, mutant: &Mutant, place: &str) -> Result<Row> {
    let (start, mut verdict) = (Instant::now(), Verdict::Unclear("it was not tried".to_owned()));
    step(&format!("{place} {}", mutant.name), || {
        verdict = bench.with_patch(mutant)?;
        Ok(format!("{}: {verdict}", verdict.word()))
    })?;
    Ok(Row::new(mutant, verdict, start.elapsed()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_filter_selects_one_backend_or_one_mutant() {
        let all = || catalogue::read().unwrap();
        let of = |filter: &Filter| chosen(all(), filter).unwrap();
        let sqlite = Filter { backend: Some("sqlite".to_owned()), ..Filter::default() };
        assert!(of(&sqlite).iter().all(|catalogue| catalogue.backend == "sqlite"));
        assert!(of(&Filter::default()).len() > of(&sqlite).len());
        let name = of(&sqlite)[0].mutants[0].name.clone();
        let one = of(&Filter { only: Some(name), ..sqlite });
        assert_eq!((one.len(), one[0].mutants.len()), (1, 1));
    }

    #[test]
    fn an_unknown_mutant_is_named_in_the_error() {
        let filter = Filter { only: Some("no_such_mutant".to_owned()), ..Filter::default() };
        let error = chosen(catalogue::read().unwrap(), &filter).unwrap_err();
        assert!(error.to_string().contains("called `no_such_mutant`"), "{error}");
    }
}
