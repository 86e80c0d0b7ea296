//! The command line.

use std::fmt;

use storagebox_testkit::Way;

use crate::mutants::Wanted;

pub(crate) const HELP: &str = "\
cargo xtask test [--servers docker|local|none]
    Builds and runs the tests. Installs the programs that they lack and says first which ones: Debian packages as
    root or with sudo, dynoxide with cargo into target/tools. `--servers` says where the tests get their servers
    from; with `none` it runs the tests that need no server, and installs nothing.

cargo xtask lint
    What must be green besides the tests: format, clippy, documentation, each feature alone, the packages, a fresh
    crate, the public names.

cargo xtask prove features|dependencies|memory|sqlite|postgres|dynamo|redis|deduplicator|tokens|messages|transports|handles|fresh|hand-out|bench
    The long checks, one part at a time.

cargo xtask prove pipeline [TRANSPORT]
    The example `pipeline` over a transport, or over each: workers killed 100 times and the broker five times; the same
    without deduplication, where money and parcels must not balance; and messages that are parked until nothing of
    them is remembered, then sent again.

cargo xtask prove mutants [BACKEND] [--only NAME] [--check]
    Puts each mistake of proofs/mutants into a copy of its backend and demands that the case named with it notices;
    `--check` only looks whether every patch applies and every case exists.

cargo xtask prove alarms [BACKEND]
    Runs the whole suite on a backend, or on all side by side: 300 times on the one in memory and 10 times on the
    others, while four threads that never pause take the cores from it. Demands that no case fails.

cargo xtask soak --minutes N [BACKEND...]
    Keeps all backends, or those that are named, at work under faults for so long, looks whether every answer is
    right, and prints what has grown. For all backends, then runs the tests `whatever_...` of what reads from outside,
    with inputs that nobody chose, each for as many seconds.

cargo xtask clauses [--check]
    Writes conformance/CLAUSES.md anew, or says whether it is fresh.

cargo xtask api [--check]
    Writes the lists of public names in docs/api anew, or says whether they are fresh. Needs the nightly toolchain.";

#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Task {
    Help,
    Test(Servers),
    Lint,
    Prove(Part),
    Mutants(Wanted),
    Pipeline(Option<String>),
    Alarms(Option<String>),
    Soak(Soak),
    Clauses { check: bool },
    Api { check: bool },
}

/// How long backends are kept at work, and which; all where none is named.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Soak {
    pub(crate) minutes: u32,
    pub(crate) backends: Vec<String>,
}

/// Where the tests get their servers from.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(crate) enum Servers {
    /// However they can be had.
    #[default]
    Any,
    By(Way),
    /// Only tests that need no server run.
    None,
}

#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Part {
    Features,
    Dependencies,
    Memory,
    Sqlite,
    Postgres,
    Dynamo,
    Redis,
    Deduplicator,
    Tokens,
    Messages,
    Transports,
    Handles,
    Fresh,
    HandOut,
    Bench,
}

/// Each part by the name that the command line gives it.
const PARTS: [(&str, Part); 15] = [
    ("features", Part::Features),
    ("dependencies", Part::Dependencies),
    ("memory", Part::Memory),
    ("sqlite", Part::Sqlite),
    ("postgres", Part::Postgres),
    ("dynamo", Part::Dynamo),
    ("redis", Part::Redis),
    ("deduplicator", Part::Deduplicator),
    ("tokens", Part::Tokens),
    ("messages", Part::Messages),
    ("transports", Part::Transports),
    ("handles", Part::Handles),
    ("fresh", Part::Fresh),
    ("hand-out", Part::HandOut),
    ("bench", Part::Bench),
];

/// What has arguments of its own.
const MUTANTS: &str = "mutants";
const PIPELINE: &str = "pipeline";
const ALARMS: &str = "alarms";

#[derive(Debug, PartialEq)]
pub(crate) enum Usage {
    Unknown(String),
    Servers(Option<String>),
    Part(Option<String>),
    Only,
    Minutes,
}

impl fmt::Display for Usage {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Unknown(argument) => write!(f, "`{argument}` makes no sense here"),
            Self::Servers(found) => {
                write!(f, "--servers needs `docker`, `local` or `none`{}", instead_of(found))
            }
            Self::Part(found) => {
                write!(f, "prove needs one of {}, `{PIPELINE}`, `{MUTANTS}`, `{ALARMS}`{}", parts(), instead_of(found))
            }
            Self::Only => f.write_str("--only needs the name of a mutant"),
            Self::Minutes => f.write_str("soak needs --minutes and a number of at least 1"),
        }
    }
}

fn parts() -> String {
    PARTS.map(|(name, _)| format!("`{name}`")).join(", ")
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
            "test" => Servers::parse(arguments).map(Self::Test),
            "lint" => end(arguments).map(|()| Self::Lint),
            "prove" => prove(arguments),
            "soak" => soak(arguments).map(Self::Soak),
            "clauses" => is_check(arguments).map(|check| Self::Clauses { check }),
            "api" => is_check(arguments).map(|check| Self::Api { check }),
            "help" | "--help" | "-h" => Ok(Self::Help),
            _ => Err(Usage::Unknown(task)),
        }
    }
}

impl Servers {
    fn parse(mut arguments: impl Iterator<Item = String>) -> Result<Self, Usage> {
        let mut servers = Self::default();
        while let Some(argument) = arguments.next() {
            match argument.as_str() {
                "--servers" => servers = Self::named(arguments.next())?,
                _ => return Err(Usage::Unknown(argument)),
            }
        }
        Ok(servers)
    }

    fn named(name: Option<String>) -> Result<Self, Usage> {
        if name.as_deref() == Some("none") {
            return Ok(Self::None);
        }
        name.as_deref().and_then(Way::named).map(Self::By).ok_or(Usage::Servers(name))
    }

    /// The one way that is asked for.
    pub(crate) fn way(self) -> Option<Way> {
        match self {
            Self::By(way) => Some(way),
            Self::Any | Self::None => None,
        }
    }
}

fn prove(mut arguments: impl Iterator<Item = String>) -> Result<Task, Usage> {
    let name = arguments.next();
    match name.as_deref() {
        Some(MUTANTS) => return mutants(arguments).map(Task::Mutants),
        Some(ALARMS) => return one(arguments).map(Task::Alarms),
        Some(PIPELINE) => return one(arguments).map(Task::Pipeline),
        _ => {}
    }
    let part = PARTS.iter().find(|(known, _)| Some(*known) == name.as_deref()).map(|(_, part)| *part);
    let part = part.ok_or(Usage::Part(name))?;
    end(arguments).map(|()| Task::Prove(part))
}

/// One argument at the most.
fn one(mut arguments: impl Iterator<Item = String>) -> Result<Option<String>, Usage> {
    let first = arguments.next();
    end(arguments).map(|()| first)
}

fn mutants(mut arguments: impl Iterator<Item = String>) -> Result<Wanted, Usage> {
    let mut wanted = Wanted::default();
    while let Some(argument) = arguments.next() {
        match argument.as_str() {
            "--check" => wanted.check = true,
            "--only" => wanted.only = Some(arguments.next().ok_or(Usage::Only)?),
            _ if argument.starts_with('-') || wanted.backend.is_some() => return Err(Usage::Unknown(argument)),
            _ => wanted.backend = Some(argument),
        }
    }
    Ok(wanted)
}

fn soak(mut arguments: impl Iterator<Item = String>) -> Result<Soak, Usage> {
    let (mut minutes, mut backends) = (None, vec![]);
    while let Some(argument) = arguments.next() {
        match argument.as_str() {
            "--minutes" => minutes = arguments.next().and_then(|minutes| minutes.parse().ok()),
            _ if argument.starts_with('-') => return Err(Usage::Unknown(argument)),
            _ => backends.push(argument),
        }
    }
    let minutes = minutes.filter(|minutes| *minutes > 0).ok_or(Usage::Minutes)?;
    Ok(Soak { minutes, backends })
}

fn is_check(mut arguments: impl Iterator<Item = String>) -> Result<bool, Usage> {
    match arguments.next() {
        None => Ok(false),
        Some(argument) if argument == "--check" => end(arguments).map(|()| true),
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
        assert_eq!(parse("test"), Ok(Task::Test(Servers::Any)));
        assert_eq!(parse("test --servers docker"), Ok(Task::Test(Servers::By(Way::Docker))));
        assert_eq!(parse("test --servers none"), Ok(Task::Test(Servers::None)));
        assert_eq!(parse("lint"), Ok(Task::Lint));
        assert_eq!(parse("clauses"), Ok(Task::Clauses { check: false }));
        assert_eq!(parse("clauses --check"), Ok(Task::Clauses { check: true }));
        assert_eq!(parse("api --check"), Ok(Task::Api { check: true }));
    }

    #[test]
    fn each_part_is_read_and_stands_in_the_help() {
        for (name, part) in PARTS {
            assert_eq!(parse(&format!("prove {name}")), Ok(Task::Prove(part)));
        }
        assert!(HELP.contains(&format!("cargo xtask prove {}", PARTS.map(|(name, _)| name).join("|"))));
    }

    #[test]
    fn mutants_are_chosen_by_backend_and_name() {
        let wanted = |backend: Option<&str>, only: Option<&str>, check| {
            let (backend, only) = (backend.map(str::to_owned), only.map(str::to_owned));
            Ok(Task::Mutants(Wanted { backend, only, check }))
        };
        assert_eq!(parse("prove mutants"), wanted(None, None, false));
        assert_eq!(parse("prove mutants --check"), wanted(None, None, true));
        assert_eq!(parse("prove mutants redis --only one"), wanted(Some("redis"), Some("one"), false));
        assert_eq!(parse("prove mutants redis --only"), Err(Usage::Only));
        assert_eq!(parse("prove mutants redis sqlite"), Err(Usage::Unknown("sqlite".to_owned())));
        assert!(HELP.contains("cargo xtask prove mutants [BACKEND] [--only NAME] [--check]"));
    }

    #[test]
    fn alarms_are_of_one_backend_or_of_all() {
        assert_eq!(parse("prove alarms"), Ok(Task::Alarms(None)));
        assert_eq!(parse("prove alarms redis"), Ok(Task::Alarms(Some("redis".to_owned()))));
        assert_eq!(parse("prove alarms redis sqlite"), Err(Usage::Unknown("sqlite".to_owned())));
        assert!(HELP.contains("cargo xtask prove alarms [BACKEND]"));
    }

    #[test]
    fn a_pipeline_is_of_one_transport_or_of_all() {
        assert_eq!(parse("prove pipeline"), Ok(Task::Pipeline(None)));
        assert_eq!(parse("prove pipeline nats"), Ok(Task::Pipeline(Some("nats".to_owned()))));
        assert_eq!(parse("prove pipeline nats redis"), Err(Usage::Unknown("redis".to_owned())));
        assert!(HELP.contains("cargo xtask prove pipeline [TRANSPORT]"));
    }

    #[test]
    fn a_soak_needs_its_minutes() {
        let soak = |minutes, backends: &[&str]| {
            let backends = backends.iter().map(|backend| (*backend).to_owned()).collect();
            Ok(Task::Soak(Soak { minutes, backends }))
        };
        assert_eq!(parse("soak --minutes 60"), soak(60, &[]));
        assert_eq!(parse("soak redis --minutes 1 sqlite"), soak(1, &["redis", "sqlite"]));
        for line in ["soak", "soak redis", "soak --minutes", "soak --minutes 0", "soak --minutes some"] {
            assert_eq!(parse(line), Err(Usage::Minutes), "{line}");
        }
        assert_eq!(parse("soak --hours 1"), Err(Usage::Unknown("--hours".to_owned())));
        assert!(HELP.contains("cargo xtask soak --minutes N [BACKEND...]"));
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
