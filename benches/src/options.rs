//! The command line.

use std::time::Duration;

pub(crate) const HELP: &str = "\
cargo bench -p storagebox-benches --bench table -- [OPTIONS]

  --slice SECONDS   how long one side runs at a time   [0.5]
  --rounds N        how many slices each side gets     [7]; where processor time beside a server's has a target,
                    three times as many
  --only TEXT       only rows whose name holds TEXT, such as `P11` or `memory`; given again, also those of that TEXT
  --slow            banks of ten million items where the targets name them, not of a million
  --json            for machines
  --gate            exit with 1 if a row falls short
  --help            this text";

/// The smallest number of rounds that gives a meaningful median of ratios.
const FEWEST_ROUNDS: usize = 3;

#[derive(Debug, PartialEq)]
pub(crate) struct Options {
    pub(crate) slice: Duration,
    pub(crate) rounds: usize,
    /// Only rows whose name contains one of these texts run. If the list is empty, all rows run.
    pub(crate) only: Vec<String>,
    pub(crate) slow: bool,
    pub(crate) json: bool,
    pub(crate) gate: bool,
}

#[derive(Debug, PartialEq)]
pub(crate) enum Wish {
    Measure(Options),
    Help,
}

#[derive(Debug, PartialEq, thiserror::Error)]
pub(crate) enum Usage {
    #[error("there is no option `{0}`")]
    Unknown(String),
    #[error("the option {0} needs a value")]
    NoValue(&'static str),
    #[error("--slice must be a number of seconds from 0.01 to 60, not `{0}`")]
    Slice(String),
    #[error("--rounds must be a number of at least {FEWEST_ROUNDS}, not `{0}`")]
    Rounds(String),
}

impl Default for Options {
    fn default() -> Self {
        Self { slice: Duration::from_millis(500), rounds: 7, only: vec![], slow: false, json: false, gate: false }
    }
}

impl Options {
    pub(crate) fn parse(mut arguments: impl Iterator<Item = String>) -> Result<Wish, Usage> {
        let mut options = Self::default();
        while let Some(argument) = arguments.next() {
            let mut value = |option| arguments.next().ok_or(Usage::NoValue(option));
            match argument.as_str() {
                "--slice" => options.slice = slice(value("--slice")?)?,
                "--rounds" => options.rounds = rounds(value("--rounds")?)?,
                "--only" => options.only.push(value("--only")?),
                "--slow" => options.slow = true,
                "--json" => options.json = true,
                "--gate" => options.gate = true,
                "--help" | "-h" => return Ok(Wish::Help),
                // Cargo adds this argument.
                "--bench" => {}
                _ => return Err(Usage::Unknown(argument)),
            }
        }
        Ok(Wish::Measure(options))
    }

    pub(crate) fn asks_for(&self, name: &str) -> bool {
        self.only.is_empty() || self.only.iter().any(|only| name.contains(only))
    }
}

fn slice(text: String) -> Result<Duration, Usage> {
    match text.parse() {
        Ok(seconds) if (0.01..=60.0).contains(&seconds) => Ok(Duration::from_secs_f64(seconds)),
        _ => Err(Usage::Slice(text)),
    }
}

fn rounds(text: String) -> Result<usize, Usage> {
    match text.parse() {
        Ok(rounds) if rounds >= FEWEST_ROUNDS => Ok(rounds),
        _ => Err(Usage::Rounds(text)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parse(arguments: &[&str]) -> Result<Wish, Usage> {
        Options::parse(arguments.iter().map(|text| (*text).to_owned()))
    }

    #[test]
    fn bench_argument_of_cargo_is_ignored() {
        assert_eq!(parse(&["--bench"]), Ok(Wish::Measure(Options::default())));
    }

    #[test]
    fn every_option_is_read() {
        let expected = Options {
            slice: Duration::from_millis(250),
            rounds: 9,
            only: vec!["P11".to_owned(), "P12".to_owned()],
            slow: true,
            json: true,
            gate: true,
        };
        let arguments =
            ["--slice", "0.25", "--rounds", "9", "--only", "P11", "--only", "P12", "--slow", "--json", "--gate"];
        assert_eq!(parse(&arguments), Ok(Wish::Measure(expected)));
        assert_eq!(parse(&["--help"]), Ok(Wish::Help));
    }

    #[test]
    fn invalid_arguments_are_refused() {
        assert_eq!(parse(&["--fast"]), Err(Usage::Unknown("--fast".to_owned())));
        assert_eq!(parse(&["--only"]), Err(Usage::NoValue("--only")));
        assert_eq!(parse(&["--slice", "NaN"]), Err(Usage::Slice("NaN".to_owned())));
        assert_eq!(parse(&["--rounds", "2"]), Err(Usage::Rounds("2".to_owned())));
    }

    #[test]
    fn row_is_selected_if_its_name_contains_a_filter_text() {
        let only = |texts: &[&str]| {
            let only = texts.iter().map(|text| (*text).to_owned()).collect();
            Options { only, ..Options::default() }
        };
        assert!(only(&["memory"]).asks_for("P11 take, memory, 16"));
        assert!(!only(&["redis"]).asks_for("P11 take, memory, 16"));
        assert!(only(&["redis", "P11"]).asks_for("P11 take, memory, 16"));
        assert!(Options::default().asks_for("P11 take, memory, 16"));
    }
}
