//! The command line.

use clap::{Args, Parser, Subcommand, ValueEnum};
use storagebox_testkit::Way;

use crate::mutants::Filter;

#[derive(Debug, Parser)]
#[command(bin_name = "cargo xtask", about = "The tasks of this workspace")]
pub(crate) struct Arguments {
    #[command(subcommand)]
    pub(crate) task: Task,
}

#[derive(Clone, Debug, PartialEq, Subcommand)]
pub(crate) enum Task {
    /// Build and run the tests
    ///
    /// First lists the missing programs, and then installs them: Debian packages as root or with sudo, dynoxide with
    /// cargo into target/tools.
    Test {
        /// Where the tests get their servers from; with `none`, the tests that need no server run, and nothing is
        /// installed
        #[arg(long, value_enum)]
        servers: Option<Servers>,
    },
    /// Check what must be green besides the tests: format, clippy, documentation, each feature alone, the packages, a
    /// fresh crate, the public names
    Lint,
    /// Run one of the long checks
    #[command(subcommand)]
    Prove(Part),
    /// Run backends under faults, check every answer, and print what has grown
    ///
    /// If no backend is named, afterwards also runs the tests `fuzz_...` of the parsers with random inputs. With
    /// `--minutes 10`, each of these tests runs for 10 seconds.
    Soak(Soak),
    /// Regenerate conformance/CLAUSES.md
    Clauses {
        /// Only check whether the file is up to date
        #[arg(long)]
        check: bool,
    },
    /// Regenerate the lists of public names in docs/api; needs the nightly toolchain
    Api {
        /// Only check whether the lists are up to date
        #[arg(long)]
        check: bool,
    },
}

/// How long the soak test runs, and on which backends.
#[derive(Args, Clone, Debug, PartialEq)]
pub(crate) struct Soak {
    /// How many minutes the backends run
    #[arg(long, value_parser = clap::value_parser!(u32).range(1..))]
    pub(crate) minutes: u32,
    /// The backends; all if none is named
    pub(crate) backends: Vec<String>,
}

/// Where the tests get their servers from.
#[derive(Clone, Copy, Debug, PartialEq, ValueEnum)]
pub(crate) enum Servers {
    Docker,
    Local,
    None,
}

impl Servers {
    /// Returns how the servers are started, or `None` if the tests start no server.
    pub(crate) fn way(self) -> Option<Way> {
        match self {
            Self::Docker => Some(Way::Docker),
            Self::Local => Some(Way::Local),
            Self::None => None,
        }
    }
}

#[derive(Clone, Debug, PartialEq, Subcommand)]
pub(crate) enum Part {
    /// Clippy of everything, each feature of every package alone, all public names
    Features,
    /// The licence, the source and the version of each dependency
    Dependencies,
    /// Each broken store with 1,000 seeds, and the suite 10,000 times, in memory
    Memory,
    /// Kills the command while it uses a SQLite file, and runs the suite in every set-up
    Sqlite,
    /// The backend under stress and kills, and the suite in every set-up
    Postgres,
    /// Article 1's package beside ours, and the suite under each fault
    Dynamo,
    /// The backend and a cluster under stress and kills, and the suite in every set-up
    Redis,
    /// The explorations of assignments that take minutes
    Deduplicator,
    /// The explorations of article 2 and of the processor, with more workers than the gate has
    Tokens,
    /// 100,000 messages through two endpoints on each backend
    Messages,
    /// RabbitMQ, whose server takes a minute to start
    Transports,
    /// 10,000 calls through handles, with every third reply lost
    Handles,
    /// The programs of users and of backend authors, each in a crate outside the workspace
    Fresh,
    /// The SQL interface through other drivers, each on a PostgreSQL
    Drivers,
    /// Ten million items through the command
    HandOut,
    /// The table of benches/, which fails if a row falls short of its target
    Bench,
    /// The example `pipeline` with workers and a broker that are killed, over one transport or over each
    ///
    /// Then runs the example without deduplication, and fails unless an order is paid or shipped more than once. Then
    /// keeps messages back until the store no longer remembers them, and sends them again.
    Pipeline { transport: Option<String> },
    /// Each mistake of proofs/mutants in a copy of its backend: the named case must notice the mistake
    Mutants(Filter),
    /// Whole runs of the suite on one backend, or on all at once, while four busy threads use up the cores
    ///
    /// Runs the suite 300 times in memory and 10 times on each other backend. No case may fail.
    Alarms { backend: Option<String> },
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parse(line: &str) -> Result<Task, clap::Error> {
        let words = ["cargo xtask"].into_iter().chain(line.split_whitespace());
        Arguments::try_parse_from(words).map(|arguments| arguments.task)
    }

    #[test]
    fn the_definition_of_the_arguments_is_valid() {
        use clap::CommandFactory;
        Arguments::command().debug_assert();
    }

    #[test]
    fn options_and_names_are_read_in_any_order() {
        let filter = Filter { backend: Some("redis".to_owned()), only: Some("one".to_owned()), check: false };
        assert_eq!(parse("prove mutants redis --only one").unwrap(), Task::Prove(Part::Mutants(filter)));
        let soak = Soak { minutes: 1, backends: vec!["redis".to_owned(), "sqlite".to_owned()] };
        assert_eq!(parse("soak redis --minutes 1 sqlite").unwrap(), Task::Soak(soak));
    }

    #[test]
    fn a_missing_or_extra_argument_is_refused() {
        for line in ["test --servers cloud", "prove", "prove alarms redis sqlite", "soak", "soak --minutes 0"] {
            assert!(parse(line).is_err(), "{line}");
        }
    }
}
