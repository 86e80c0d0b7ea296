//! The kinds of namespaces that a store tells apart (S-3).

/// What a namespace holds. A store writes the kind next to the namespace's name.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum NamespaceKind {
    /// Items and claims.
    Bank,
    /// Deduplication records and their leases.
    Records,
    /// Tokens.
    Tokens,
    /// Entities, each with the entries of its messages.
    Entities,
    /// Counters, and ledgers with their log.
    Counters,
    /// Ordered values.
    Ordered,
}

impl NamespaceKind {
    /// Every kind.
    pub const ALL: [Self; 6] = [Self::Bank, Self::Records, Self::Tokens, Self::Entities, Self::Counters, Self::Ordered];

    /// Returns the name of the kind, whose first letter no other kind has.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Bank => "bank",
            Self::Records => "records",
            Self::Tokens => "tokens",
            Self::Entities => "entities",
            Self::Counters => "counters",
            Self::Ordered => "ordered",
        }
    }
}
