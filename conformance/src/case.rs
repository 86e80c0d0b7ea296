//! One case: a function, the clause that it defends, and how it goes about it.

use std::fmt;
use std::future::Future;
use std::pin::Pin;

use crate::failure::Failure;
use crate::world::World;

pub(crate) type Verdict = Result<(), Failure>;

type Run = for<'a> fn(&'a World) -> Pin<Box<dyn Future<Output = Verdict> + Send + 'a>>;

/// A case of the suite.
#[derive(Clone, Copy)]
pub struct Case {
    part: Part,
    clause: &'static str,
    family: Family,
    path: &'static str,
    run: Run,
}

/// What a case is about.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[non_exhaustive]
pub enum Part {
    /// The limits of values; needs a bank, records, tokens, counters and ordered values.
    Values,
    /// Errors and retries.
    Errors,
    /// The store as a whole.
    Store,
    /// The item bank.
    ItemBank,
    /// The composition of several banks.
    Deduplicator,
    /// Deduplication records and leases.
    Dedup,
    /// Tokens.
    Tokens,
    /// Counters of the strategies that every backend has.
    Counter,
    /// The counter strategies that not every backend has.
    Strategies,
    /// Ordered values.
    Ordered,
}

/// How a case goes about it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Family {
    /// One caller, one call after another.
    Sequential,
    /// Limits, odd texts, extremes.
    Edge,
    /// Many callers at once.
    Concurrent,
    /// Replies that are lost, requests that land late or twice.
    Ambiguous,
    /// Futures that are dropped.
    Cancel,
    /// Connections that are cut, by a proxy in front of the server.
    Network,
    /// Servers that are restarted.
    Crash,
}

impl Part {
    /// The first part of a case's name.
    pub fn name(self) -> &'static str {
        match self {
            Self::Values => "values",
            Self::Errors => "errors",
            Self::Store => "store",
            Self::ItemBank => "item_bank",
            Self::Deduplicator => "deduplicator",
            Self::Dedup => "dedup",
            Self::Tokens => "tokens",
            Self::Counter => "counter",
            Self::Strategies => "strategies",
            Self::Ordered => "ordered",
        }
    }
}

impl Family {
    /// The level of conformance that its cases belong to.
    pub fn level(self) -> u8 {
        match self {
            Self::Sequential | Self::Edge => 1,
            Self::Concurrent => 2,
            Self::Ambiguous | Self::Cancel | Self::Network => 3,
            Self::Crash => 4,
        }
    }
}

impl Case {
    pub(crate) const fn new(part: Part, clause: &'static str, family: Family, path: &'static str, run: Run) -> Self {
        Self { part, clause, family, path, run }
    }

    /// What it is about.
    pub fn part(&self) -> Part {
        self.part
    }

    /// The clause that it defends, such as `IB-3`.
    pub fn clause(&self) -> &'static str {
        self.clause
    }

    /// How it goes about it.
    pub fn family(&self) -> Family {
        self.family
    }

    /// Its full name, such as `item_bank::IB-3::same_claim_same_item`.
    pub fn name(&self) -> String {
        format!("{}::{}::{}", self.part.name(), self.clause, self.function())
    }

    fn function(&self) -> &'static str {
        self.path.rsplit(':').next().unwrap_or(self.path).trim()
    }

    /// Whether its verdict rests on the answer to every call, because by contract a call that is made again after a lost
    /// answer may count again or tell less than the first.
    pub fn needs_each_answer(&self) -> bool {
        let about = |begin| self.function().starts_with(begin);
        match self.part {
            Part::Counter => about("atomic_") || about("approach_1_"),
            Part::Strategies => match self.family {
                Family::Concurrent => about("optimistic_") || about("approach_2_") || about("writers_and_compactions_"),
                _ => about("a_compaction_can_be_dropped_") || about("lost_compactions_"),
            },
            Part::Store => {
                about("a_strategy_works_")
                    || about("a_counter_is_opened_as_it_was_")
                    || about("one_of_racing_strategies_")
            }
            Part::Ordered => self.family == Family::Concurrent && about("racing_writes_of_one_key_"),
            _ => false,
        }
    }

    /// Runs it.
    ///
    /// # Cancel safety
    ///
    /// Safe: its sandbox is removed with the world.
    ///
    /// # Errors
    ///
    /// What did not hold.
    pub async fn run(&self, world: &World) -> Result<(), Failure> {
        (self.run)(world).await
    }
}

impl fmt::Debug for Case {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.name())
    }
}

/// Lists the cases of a part: `"IB-3" Sequential same_claim_same_item;`. Each is an `async fn(&World) -> Verdict`.
macro_rules! cases {
    ($part:ident: $($clause:literal $family:ident $($path:ident)::+;)*) => {
        pub(crate) const CASES: &[$crate::case::Case] = &[$(
            $crate::case::Case::new(
                $crate::case::Part::$part,
                $clause,
                $crate::case::Family::$family,
                stringify!($($path)::+),
                |world| Box::pin($($path)::+(world)),
            ),
        )*];
    };
}

pub(crate) use cases;
