//! Store calls and their replies as plain data, so that requests in flight can be kept, copied and shown.

use std::fmt;

use storagebox_core::layer::Response;
use storagebox_core::{ClaimId, DedupId, Entry, Namespace, OpId, Payload, Recorded, Replaced, Taken, Version};

use crate::record::Written;

/// A call to a store, as plain data. All holds and retentions are unlimited.
#[derive(Clone, Debug, Hash)]
pub(crate) enum Call {
    Record { id: DedupId, value: Payload, op: OpId },
    Replace { id: DedupId, version: Version, value: Payload, op: OpId },
    Get { id: DedupId },
    List,
    Take { bank: Namespace, claim: ClaimId },
    Release { bank: Namespace, claim: ClaimId },
}

impl Call {
    pub(crate) fn writes(&self) -> bool {
        !matches!(self, Self::Get { .. } | Self::List)
    }
}

impl fmt::Display for Call {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Record { id, value, op } => write!(f, "record {id} = {} (op {op})", Written::read(value)),
            Self::Replace { id, version, value, op } => {
                let (version, value) = (version.number(), Written::read(value));
                write!(f, "replace {id} at version {version} by {value} (op {op})")
            }
            Self::Get { id } => write!(f, "get {id}"),
            Self::List => write!(f, "list the records"),
            Self::Take { bank, claim } => write!(f, "take from {bank} for {claim}"),
            Self::Release { bank, claim } => write!(f, "release {claim} in {bank}"),
        }
    }
}

/// Shows a response as text. Different responses have different texts.
pub(crate) struct Shown<'a>(pub(crate) &'a Response);

impl fmt::Display for Shown<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.0 {
            Response::Record(recorded) => show_recorded(f, recorded),
            Response::Replace(replaced) => show_replaced(f, replaced),
            Response::GetRecord(entry) => show_entry(f, "found", entry.as_ref()),
            Response::ListRecords(page) => {
                page.entries.iter().try_for_each(|listed| show_entry(f, listed.id.as_str(), Some(&listed.entry)))
            }
            Response::Take(taken) => match taken {
                Taken::New(held) => write!(f, "new item {}", held.item.as_str()),
                Taken::Again(held) => write!(f, "again item {}", held.item.as_str()),
                Taken::Empty => write!(f, "empty"),
                Taken::Ended(why) => write!(f, "ended, {why:?}"),
            },
            response => write!(f, "{response:?}"),
        }
    }
}

fn show_recorded(f: &mut fmt::Formatter<'_>, recorded: &Recorded) -> fmt::Result {
    match recorded {
        Recorded::New(version) => write!(f, "new, version {}", version.number()),
        Recorded::Again(entry) => show_entry(f, "again", Some(entry)),
        Recorded::Existing(entry) => show_entry(f, "existing", Some(entry)),
        Recorded::InFlight { .. } | Recorded::Fenced => write!(f, "{recorded:?}"),
    }
}

fn show_replaced(f: &mut fmt::Formatter<'_>, replaced: &Replaced) -> fmt::Result {
    match replaced {
        Replaced::Replaced(version) => write!(f, "replaced, version {}", version.number()),
        Replaced::Again(version) => write!(f, "again, version {}", version.number()),
        Replaced::Stale(entry) => show_entry(f, "stale", entry.as_ref()),
    }
}

fn show_entry(f: &mut fmt::Formatter<'_>, what: &str, entry: Option<&Entry>) -> fmt::Result {
    match entry {
        None => write!(f, "{what}: no record"),
        Some(entry) => {
            let (value, version) = (Written::read(&entry.value), entry.version.number());
            write!(f, "{what}: {value} at version {version}")
        }
    }
}
