//! Stores that each break one promise that one-time tokens depend on.

use std::time::Duration;

use async_trait::async_trait;
use storagebox_core::layer::{Answered, Call, Layer, Next};
use storagebox_core::{
    Begun, Completed, DedupId, Discarded, Entry, Fence, Forgotten, Lease, OpId, Payload, Recorded, Result, Version,
};

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Mutant {
    /// A gone token is reported as live.
    StaleToken,
    /// A live token is reported as gone.
    LostToken,
    KeepsTokens,
    /// Every call of `begin` gets a lease.
    LeasesToEach,
    /// A fenced lease completes.
    CompletesTheFenced,
    /// The record of a completed lease is lost.
    LosesRecords,
    /// The result is not recorded for replay when the commit is finished.
    LosesResults,
    KeepsRecords,
}

impl Mutant {
    pub(crate) const ALL: [Self; 8] = [
        Self::StaleToken,
        Self::LostToken,
        Self::KeepsTokens,
        Self::LeasesToEach,
        Self::CompletesTheFenced,
        Self::LosesRecords,
        Self::LosesResults,
        Self::KeepsRecords,
    ];

    /// Returns the clause that the mutant breaks.
    pub(crate) fn breaks(self) -> &'static str {
        match self {
            Self::StaleToken | Self::LostToken | Self::KeepsTokens | Self::LeasesToEach | Self::CompletesTheFenced => {
                "OT-2"
            }
            Self::LosesRecords | Self::LosesResults => "OT-3",
            Self::KeepsRecords => "OT-4",
        }
    }
}

#[async_trait]
impl Layer for Mutant {
    async fn around(&self, call: &Call<'_>, next: Next<'_>) -> Result<Answered> {
        Ok(match (*self, call.operation) {
            (Self::StaleToken | Self::LostToken, "exists") => {
                next.call().await?.map::<bool>(|live| *live = *self == Self::StaleToken)
            }
            (Self::KeepsTokens, "discard") => Answered::of(Discarded::default()),
            (Self::LeasesToEach, "begin") => next.call().await?.map::<Begun>(|begun| lease_anyway(begun, call)),
            (Self::CompletesTheFenced, "complete") => {
                next.call().await?.map::<Completed>(|completed| complete_anyway(completed, call))
            }
            (Self::LosesRecords, "get") => next.call().await?.map::<Option<Entry>>(|entry| *entry = None),
            (Self::LosesResults, "record") => Answered::of(Recorded::New(Version::new(1))),
            (Self::KeepsRecords, "forget") => Answered::of(Forgotten::Forgotten),
            _ => return next.call().await,
        })
    }
}

fn lease_anyway(begun: &mut Begun, call: &Call<'_>) {
    let (Some(id), Some(op)) = (call.argument::<DedupId>(), call.argument::<OpId>()) else { return };
    if matches!(begun, Begun::InFlight { .. }) && call.argument::<Duration>().is_some() {
        *begun = Begun::Started(Lease { id, op, fence: Fence::new(u64::MAX) });
    }
}

fn complete_anyway(completed: &mut Completed, call: &Call<'_>) {
    let Some(value) = call.argument::<Payload>() else { return };
    if *completed == Completed::Fenced {
        *completed = Completed::Completed(Entry { value, version: Version::new(1) });
    }
}
