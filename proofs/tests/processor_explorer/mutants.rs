//! Stores that each break one promise that the processor depends on.

use async_trait::async_trait;
use storagebox_core::layer::{Answered, Call, Layer, Next};
use storagebox_core::{Chosen, Consumed, Discarded, Opened, Result};

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Mutant {
    /// A gone token is reported as live.
    StaleToken,
    /// A live token is reported as gone.
    LostToken,
    KeepsConsumedToken,
    KeepsDiscardedTokens,
    KeepsEntries,
    /// Every attempt is reported as chosen.
    ChoosesEach,
    /// `open` does not return the entry.
    HidesEntry,
}

impl Mutant {
    pub(crate) const ALL: [Self; 7] = [
        Self::StaleToken,
        Self::LostToken,
        Self::KeepsConsumedToken,
        Self::KeepsDiscardedTokens,
        Self::KeepsEntries,
        Self::ChoosesEach,
        Self::HidesEntry,
    ];

    /// Returns the clause that the mutant breaks, or its symptom.
    pub(crate) fn breaks(self) -> &'static str {
        match self {
            Self::StaleToken | Self::KeepsConsumedToken => "P-1",
            // A commit does not replace the hidden entry, so the message is never finished.
            Self::HidesEntry => "no end is reached",
            Self::ChoosesEach => "P-2",
            Self::LostToken => "P-3",
            Self::KeepsDiscardedTokens | Self::KeepsEntries => "P-4",
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
            (Self::KeepsConsumedToken, "consume") => Answered::of(Consumed::Now),
            (Self::KeepsDiscardedTokens, "discard") => Answered::of(Discarded::default()),
            (Self::KeepsEntries, "remove") => Answered::of(true),
            (Self::HidesEntry, "open") => next.call().await?.map::<Opened>(|opened| opened.entry = None),
            (Self::ChoosesEach, "choose") => {
                let own = call.argument();
                next.call().await?.map::<Chosen>(|chosen| {
                    if let Chosen::Chosen(entry) = chosen {
                        entry.chosen = own;
                    }
                })
            }
            _ => return next.call().await,
        })
    }
}
