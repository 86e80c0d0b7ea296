//! The command line.

use std::fmt;

use storagebox_testkit::Way;

pub(crate) const HELP: &str = "\
cargo xtask test [--install] [--servers docker|local]
    Everything that must be green. `--install` installs the servers that the tests need (packages on
    Debian, as root; dynoxide by cargo, into target/tools); `--servers` says where the tests get them from.

cargo xtask prove memory|sqlite|postgres|dynamo|redis|deduplicator|hand-out|bench
    The long checks, one part at a time.

cargo xtask clauses [--check]
    Writes conformance/CLAUSES.md anew, or says whether it is fresh.";

#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Task {
    Help,
    Test(TestOptions),
    Prove(Part),
    Clauses { check: bool },
}

#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(crate) struct TestOptions {
    pub(crate) install: bool,
    /// Where the tests get their servers from.
    pub(crate) servers: Option<Way>,
}

#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Part {
    Memory,
    Sqlite,
    Postgres,
    Dynamo,
    Redis,
    Deduplicator,
    HandOut,
    Bench,
}

#[derive(Debug, PartialEq)]
pub(crate) enum Usage {
    Unknown(String),
    Servers(Option<String>),
    Part(Option<String>),
}

impl fmt::Display for Usage {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Unknown(argument) => write!(f, "`{argument}` makes no sense here"),
            Self::Servers(found) => write!(f, "--servers needs `docker` or `local`{}", instead_of(found)),
            Self::Part(found) => {
                let parts = "`memory`, `sqlite`, `postgres`, `dynamo`, `redis`, `deduplicator`, `hand-out` or `bench`";
                write!(f, "prove needs {parts}{}", instead_of(found))
            }
        }
    }
}

fn instead_of(found: &Option<String>) -> String {
    found.as_ref().map_or(String::new(), |found| format!(", not `{found}`"))
}

impl Task {
    pub(crate) fn parse(mut arguments: impl Iterator<Item = String>) -> Result<Self, Usage> {
        let Some(task) = arguments.next() else {
            return Ok(Self::Help);
        };
        match task.as_str() {
            "test" => TestOptions::parse(arguments).map(Self::Test),
            "prove" => prove(arguments),
            "clauses" => clauses(arguments),
            "help" | "--help" | "-h" => Ok(Self::Help),
            _ => Err(Usage::Unknown(task)),
        }
    }
}

impl TestOptions {
    fn parse(mut arguments: impl Iterator<Item = String>) -> Result<Self, Usage> {
        let mut options = Self::default();
        while let Some(argument) = arguments.next() {
            match argument.as_str() {
                "--install" => options.install = true,
                "--servers" => options.servers = Some(servers(arguments.next())?),
                _ => return Err(Usage::Unknown(argument)),
            }
        }
        Ok(options)
    }
}

fn servers(name: Option<String>) -> Result<Way, Usage> {
    name.as_deref().and_then(Way::named).ok_or(Usage::Servers(name))
}

fn prove(mut arguments: impl Iterator<Item = String>) -> Result<Task, Usage> {
    let name = arguments.next();
    let part = match name.as_deref() {
        Some("memory") => Part::Memory,
        Some("sqlite") => Part::Sqlite,
        Some("postgres") => Part::Postgres,
        Some("dynamo") => Part::Dynamo,
        Some("redis") => Part::Redis,
        Some("deduplicator") => Part::Deduplicator,
        Some("hand-out") => Part::HandOut,
        Some("bench") => Part::Bench,
        _ => return Err(Usage::Part(name)),
    };
    end(arguments).map(|()| Task::Prove(part))
}

fn clauses(mut arguments: impl Iterator<Item = String>) -> Result<Task, Usage> {
    match arguments.next() {
        None => Ok(Task::Clauses { check: false }),
        Some(argument) if argument == "--check" => end(arguments).map(|()| Task::Clauses { check: true }),
        Some(argument) => Err(Usage::Unknown(argument)),
    }
}

fn end(mut arguments: impl Iterator<Item = String>) -> Result<(), Usage> {
    arguments.next().map_or(Ok(()), |argument| Err(Usage::Unknown(argument)))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parse(line: &str) -> Result<Task, Usage> {
        Task::parse(line.split_whitespace().map(str::to_owned))
    }

    #[test]
    fn each_task_is_read() {
        assert_eq!(parse(""), Ok(Task::Help));
        assert_eq!(parse("test"), Ok(Task::Test(TestOptions::default())));
        let options = TestOptions { install: true, servers: Some(Way::Docker) };
        assert_eq!(parse("test --servers docker --install"), Ok(Task::Test(options)));
        assert_eq!(parse("prove hand-out"), Ok(Task::Prove(Part::HandOut)));
        assert_eq!(parse("prove sqlite"), Ok(Task::Prove(Part::Sqlite)));
        assert_eq!(parse("prove postgres"), Ok(Task::Prove(Part::Postgres)));
        assert_eq!(parse("prove dynamo"), Ok(Task::Prove(Part::Dynamo)));
        assert_eq!(parse("prove redis"), Ok(Task::Prove(Part::Redis)));
        assert_eq!(parse("clauses"), Ok(Task::Clauses { check: false }));
        assert_eq!(parse("clauses --check"), Ok(Task::Clauses { check: true }));
    }

    #[test]
    fn what_makes_no_sense_is_refused() {
        let unknown = |argument: &str| Err(Usage::Unknown(argument.to_owned()));
        assert_eq!(parse("tset"), unknown("tset"));
        assert_eq!(parse("test --fast"), unknown("--fast"));
        assert_eq!(parse("prove memory again"), unknown("again"));
        assert_eq!(parse("clauses --check now"), unknown("now"));
        assert_eq!(parse("test --servers"), Err(Usage::Servers(None)));
        assert_eq!(parse("test --servers cloud"), Err(Usage::Servers(Some("cloud".to_owned()))));
        assert_eq!(parse("prove"), Err(Usage::Part(None)));
    }
}
