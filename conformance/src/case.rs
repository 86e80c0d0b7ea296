//! One case: a function, the clause that it defends, and how it goes about it.

use std::fmt;
use std::future::Future;
use std::pin::Pin;

use crate::counter::Kind;
use crate::failure::Failure;
use crate::world::World;

pub(crate) type Verdict = Result<(), Failure>;

type Running<'a> = Pin<Box<dyn Future<Output = Verdict> + Send + 'a>>;

/// A case of the suite.
#[derive(Clone, Copy)]
pub struct Case {
    row: &'static Row,
    run: Run,
}

#[derive(Clone, Copy)]
enum Run {
    Once(for<'a> fn(&'a World) -> Running<'a>),
    /// The name is the strategy and the function's name, unless the case has another.
    By(Kind, Option<&'static str>, for<'a> fn(&'a World, Kind) -> Running<'a>),
}

/// A row of a part's list: one case, or one for each of several counter strategies.
pub(crate) struct Row {
    pub(crate) part: Part,
    pub(crate) clause: &'static str,
    pub(crate) family: Family,
    /// The parts of a store that it works with, besides its own.
    pub(crate) needs: &'static [Part],
    pub(crate) function: &'static str,
    pub(crate) check: Check,
}

/// How a row's cases run.
pub(crate) enum Check {
    Once(for<'a> fn(&'a World) -> Running<'a>),
    By(&'static [(Kind, Option<&'static str>)], for<'a> fn(&'a World, Kind) -> Running<'a>),
}

/// What a case is about.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[non_exhaustive]
pub enum Part {
    /// The limits of values, in the parts that are there.
    Values,
    /// Errors and retries, in the parts that are there.
    Errors,
    /// The store as a whole, with the parts that are there.
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
    /// The parts that keep something in a store.
    pub(crate) const STORED: &'static [Self] =
        &[Self::ItemBank, Self::Dedup, Self::Tokens, Self::Counter, Self::Ordered];

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

impl Row {
    /// The row's cases, in the order of its strategies.
    pub(crate) fn cases(&'static self) -> Vec<Case> {
        match self.check {
            Check::Once(run) => vec![Case { row: self, run: Run::Once(run) }],
            Check::By(kinds, run) => {
                kinds.iter().map(|(kind, name)| Case { row: self, run: Run::By(*kind, *name, run) }).collect()
            }
        }
    }
}

impl Case {
    /// What it is about.
    pub fn part(&self) -> Part {
        self.row.part
    }

    /// The clause that it defends, such as `IB-3`.
    pub fn clause(&self) -> &'static str {
        self.row.clause
    }

    /// How it goes about it.
    pub fn family(&self) -> Family {
        self.row.family
    }

    /// The parts of a store that it works with: without one of them it is not asked.
    pub(crate) fn needs(&self) -> &'static [Part] {
        match self.part() {
            Part::Deduplicator => &[Part::ItemBank, Part::Dedup],
            Part::Strategies => &[Part::Counter],
            _ => self.row.needs,
        }
    }

    /// Its full name, such as `item_bank::IB-3::same_claim_same_item`.
    pub fn name(&self) -> String {
        format!("{}::{}::{}", self.part().name(), self.clause(), self.short_name())
    }

    /// The last part of its name.
    fn short_name(&self) -> String {
        match self.run {
            Run::Once(_) => self.row.function.to_owned(),
            Run::By(_, Some(name), _) => name.to_owned(),
            Run::By(kind, None, _) => format!("{}_{}", kind.name(), self.row.function),
        }
    }

    /// Whether its verdict rests on the answer to every call, because by contract a call that is made again after a
    /// lost answer may count again or tell less than the first.
    pub fn needs_each_answer(&self) -> bool {
        let name = self.short_name();
        let about = |begin| name.starts_with(begin);
        match self.part() {
            Part::Counter => about("atomic_") || about("approach_1_"),
            Part::Strategies => match self.family() {
                Family::Concurrent => about("optimistic_") || about("approach_2_") || about("writers_and_compactions_"),
                _ => about("a_compaction_can_be_dropped_") || about("lost_compactions_"),
            },
            Part::Store => {
                about("a_strategy_works_")
                    || about("a_counter_is_opened_as_it_was_")
                    || about("one_of_racing_strategies_")
            }
            Part::ItemBank => about("retire_lets_the_id_") || about("a_claim_that_was_retired_"),
            Part::Ordered => self.family() == Family::Concurrent && about("racing_writes_of_one_key_"),
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
        match self.run {
            Run::Once(run) => run(world).await,
            Run::By(kind, _, run) => run(world, kind).await,
        }
    }
}

impl fmt::Debug for Case {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.name())
    }
}

/// Lists the cases of a part, by clause, family and module: `"IB-5" Edge edge: duplicates_in_one_call_count_once;`.
/// Each is an `async fn(&World) -> Verdict`.
///
/// `"V-3" Edge [Ordered] bytes: ordered_bytes_come_back;` is asked only of stores that have that part, and `[..]` stands
/// for all parts.
///
/// `value_is_the_sum [Atomic, Marker]` is one `async fn(&World, Kind) -> Verdict` for two cases, whose names say the
/// strategy: `atomic_value_is_the_sum` and `marker_value_is_the_sum`. `[Window as a_full_window_is_full]` gives the
/// case another name.
macro_rules! cases {
    ($part:ident: $(
        $clause:literal $family:ident $([$($needs:tt)+])? $($module:ident)::+:
            $($function:ident $([$($kind:ident $(as $name:ident)?),+])?),+;
    )*) => {
        pub(crate) const CASES: &[&[$crate::case::Row]] = &[$({
            use $($module)::+ as module;
            const NEEDS: &[$crate::case::Part] = $crate::case::needs!($($($needs)+)?);
            &[$(
                $crate::case::Row {
                    part: $crate::case::Part::$part,
                    clause: $clause,
                    family: $crate::case::Family::$family,
                    needs: NEEDS,
                    function: stringify!($function),
                    check: $crate::case::check!(module::$function $([$($kind $($name)?),+])?),
                },
            )+]
        },)*];
    };
}

macro_rules! needs {
    () => {
        &[]
    };
    (..) => {
        $crate::case::Part::STORED
    };
    ($($part:ident),+) => {
        &[$($crate::case::Part::$part),+]
    };
}

macro_rules! check {
    ($check:path) => {
        $crate::case::Check::Once(|world| Box::pin($check(world)))
    };
    ($check:path [$($kind:ident $($name:ident)?),+]) => {
        $crate::case::Check::By(
            &[$(($crate::counter::Kind::$kind, $crate::case::name!($($name)?))),+],
            |world, kind| Box::pin($check(world, kind)),
        )
    };
}

macro_rules! name {
    () => {
        None
    };
    ($name:ident) => {
        Some(stringify!($name))
    };
}

pub(crate) use {cases, check, name, needs};
