//! What cases are about, and how they go about it.

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
    /// Entities, and the processor on them.
    Entities,
    /// Entities whose commits change tokens in the same step.
    JoinedEntities,
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
    /// Another process that works beside this one.
    Beside,
    /// Processes that are killed.
    Process,
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
            Self::Entities => "entities",
            Self::JoinedEntities => "joined_entities",
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
            Self::Concurrent | Self::Beside => 2,
            Self::Ambiguous | Self::Cancel | Self::Network => 3,
            Self::Process | Self::Crash => 4,
        }
    }
}
