//! The command line of the counts.

pub(super) const HELP: &str = "\
cargo bench -p storagebox-benches --bench counts -- [OPTIONS]

  --only TEXT   only rows whose name holds TEXT, such as `redis`; given again, also those of that TEXT
  --gate        exit with 1 if a row falls short
  --help        this text

Instructions need valgrind and system calls need strace: apt-get install valgrind strace";

#[derive(Debug, Default, PartialEq)]
pub(super) struct Options {
    only: Vec<String>,
    pub(super) gate: bool,
}

#[derive(Debug, PartialEq)]
pub(super) enum Wish {
    Count(Options),
    /// Count the instructions of this row. The process runs under callgrind.
    Instructions(String),
    Help,
}

#[derive(Debug, PartialEq, thiserror::Error)]
pub(super) enum Usage {
    #[error("there is no option `{0}`")]
    Unknown(String),
    #[error("the option {0} needs a value")]
    NoValue(&'static str),
}

impl Options {
    pub(super) fn parse(mut arguments: impl Iterator<Item = String>) -> Result<Wish, Usage> {
        let mut options = Self::default();
        while let Some(argument) = arguments.next() {
            let mut value = |option| arguments.next().ok_or(Usage::NoValue(option));
            match argument.as_str() {
                "--only" => options.only.push(value("--only")?),
                "--instructions" => return Ok(Wish::Instructions(value("--instructions")?)),
                "--gate" => options.gate = true,
                "--help" | "-h" => return Ok(Wish::Help),
                // Cargo adds this argument.
                "--bench" => {}
                _ => return Err(Usage::Unknown(argument)),
            }
        }
        Ok(Wish::Count(options))
    }

    pub(super) fn asks_for(&self, name: &str) -> bool {
        self.only.is_empty() || self.only.iter().any(|only| name.contains(only))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parse(arguments: &[&str]) -> Result<Wish, Usage> {
        Options::parse(arguments.iter().map(|text| (*text).to_owned()))
    }

    #[test]
    fn every_option_is_read() {
        let expected = Options { only: vec!["redis".to_owned()], gate: true };
        assert!(expected.asks_for("P18 take, redis, 1") && !expected.asks_for("P18 take, memory, 1"));
        assert_eq!(parse(&["--bench", "--only", "redis", "--gate"]), Ok(Wish::Count(expected)));
        assert_eq!(parse(&["--instructions", "a row"]), Ok(Wish::Instructions("a row".to_owned())));
        assert_eq!(parse(&["--help"]), Ok(Wish::Help));
    }

    #[test]
    fn invalid_arguments_are_refused() {
        assert_eq!(parse(&["--fast"]), Err(Usage::Unknown("--fast".to_owned())));
        assert_eq!(parse(&["--only"]), Err(Usage::NoValue("--only")));
    }
}
