//! The parts and families of cases.

/// The part of a store that a case tests.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[non_exhaustive]
pub enum Part {
    /// The limits of values, in all parts that the backend has.
    Values,
    /// Errors and retries, in all parts that the backend has.
    Errors,
    /// The store as a whole, with all parts that the backend has.
    Store,
    /// The item bank.
    ItemBank,
    /// The composition of several banks.
    Deduplicator,
    /// Deduplication records and leases.
    Dedup,
    /// Tokens.
    Tokens,
    /// Entities, and the processor that uses them.
    Entities,
    /// Entities whose commits change tokens in the same step.
    JoinedEntities,
    /// Counters of the strategies that every backend has.
    Counter,
    /// The counter strategies that not every backend has.
    Strategies,
    /// Ordered values.
    Ordered,
    /// Calls within a transaction of the caller, in all parts that the backend has.
    Transactions,
}

/// The method of a case.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Family {
    /// One caller that makes one call after another.
    Sequential,
    /// Limits, unusual texts, extreme values.
    Edge,
    /// Many concurrent callers.
    Concurrent,
    /// Lost replies, requests that land late or twice.
    Ambiguous,
    /// Dropped futures.
    Cancel,
    /// Connections that are cut by a proxy in front of the server.
    Network,
    /// Another process that works at the same time.
    Beside,
    /// Killed processes.
    Process,
    /// Restarted servers.
    Crash,
}

impl Part {
    /// The parts that a store implements.
    pub(crate) const STORED: &'static [Self] =
        &[Self::ItemBank, Self::Dedup, Self::Tokens, Self::Counter, Self::Ordered];

    /// Returns the first part of a case's name.
    pub fn name(self) -> &'static str {
        match self {
            Self::Values => "values",
            Self::Errors => "errors",
            Self::Store => "store",
            Self::ItemBank => "item_bank",
            Self::Deduplicator => "deduplicator",
            Self::Dedup => "dedup",
            Self::Tokens => "tokens",
            Self::Entities => "entities",
            Self::JoinedEntities => "joined_entities",
            Self::Counter => "counter",
            Self::Strategies => "strategies",
            Self::Ordered => "ordered",
            Self::Transactions => "transactions",
        }
    }
}

impl Family {
    /// Returns the level of conformance that the family's cases belong to.
    pub fn level(self) -> u8 {
        match self {
            Self::Sequential | Self::Edge => 1,
            Self::Concurrent | Self::Beside => 2,
            Self::Ambiguous | Self::Cancel | Self::Network => 3,
            Self::Process | Self::Crash => 4,
        }
    }
}
