//! The parts of a store, as data.

use std::time::Duration;

use storagebox_core::{Backend, Bounds, ErrorKind, Joins, Namespace, OrderedOptions, Result, Retention, Strategy};

/// Which parts a store has, and which strategies its counters have.
///
/// ```
/// # #[tokio::main(flavor = "current_thread")] async fn main() -> storagebox::Result<()> {
/// use storagebox::Store;
///
/// let has = Store::open("memory:").await?.capabilities()?;
/// assert!(has.banks && has.ledgers);
/// # Ok(()) }
/// ```
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Capabilities {
    /// Banks of items.
    pub banks: bool,
    /// Deduplication: records of results.
    pub records: bool,
    /// Deduplication: runs, and the leases that runs need.
    pub leases: bool,
    /// Tokens.
    pub tokens: bool,
    /// Entities that a processor changes.
    pub entities: bool,
    /// Entities whose changes consume and create tokens in the same step.
    pub joined_tokens: bool,
    /// Counters that keep a log of their changes.
    pub ledgers: bool,
    /// Ordered values.
    pub ordered_values: bool,
    /// The strategies that the counters support, each with example parameters.
    pub strategies: Vec<Strategy>,
}

const DAY: Duration = Duration::from_secs(24 * 3_600);

const STRATEGIES: [Strategy; 9] = [
    Strategy::Atomic,
    Strategy::Optimistic,
    Strategy::OptimisticHistory { len: 16 },
    Strategy::TransactionToken,
    Strategy::Marker { retention: Retention::DEFAULT },
    Strategy::Ledger,
    Strategy::TokenSet { max: 16 },
    Strategy::Window { lifetime: DAY, capacity: 16 },
    Strategy::Sharded { shards: 2, bounds: Bounds::NONE, retention: Retention::DEFAULT },
];

impl Capabilities {
    /// Opens one part of each kind under a reserved name to see which kinds the backend supports. Makes no call.
    pub(super) fn of(backend: &dyn Backend) -> Result<Self> {
        let name = |of: &str| Namespace::new(format!("storagebox/capabilities/{of}"));
        let (probe, joined) = (name("part")?, name("joined")?);
        let joins = Joins { incoming: Some(name("in")?), outgoing: Some(name("out")?) };
        let mut strategies = vec![];
        for (number, strategy) in STRATEGIES.into_iter().enumerate() {
            if is_there(backend.counter(&name(&number.to_string())?, strategy))? {
                strategies.push(strategy);
            }
        }
        Ok(Self {
            banks: is_there(backend.item_bank(&probe))?,
            records: is_there(backend.dedup_repo(&probe))?,
            leases: is_there(backend.lease_repo(&probe))?,
            tokens: is_there(backend.token_store(&probe))?,
            entities: is_there(backend.entity_ledger(&probe, &Joins::default()))?,
            joined_tokens: is_there(backend.entity_ledger(&joined, &joins))?,
            ledgers: is_there(backend.ledger(&name("ledger")?))?,
            ordered_values: is_there(backend.ordered_store(&probe, OrderedOptions::default()))?,
            strategies,
        })
    }
}

fn is_there<T>(opened: Result<T>) -> Result<bool> {
    match opened {
        Ok(_) => Ok(true),
        Err(error) if error.kind() == ErrorKind::Unsupported => Ok(false),
        Err(error) => Err(error),
    }
}
