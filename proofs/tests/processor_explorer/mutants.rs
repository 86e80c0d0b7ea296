//! Stores that each break one promise that the processor depends on.

use async_trait::async_trait;
use storagebox_core::layer::{Call, Layer, Next, Request, Response};
use storagebox_core::{Chosen, Consumed, Discarded, Result};

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

    /// Returns a text that must be in the failure of the mutant: the broken clause, or another symptom.
    pub(crate) fn breaks(self) -> &'static str {
        match self {
            Self::StaleToken | Self::KeepsConsumedToken => "P-1",
            // A commit does not replace the hidden entry, so the message is never finished.
            Self::HidesEntry => "the run does not end",
            Self::ChoosesEach => "P-2",
            Self::LostToken => "P-3",
            Self::KeepsDiscardedTokens | Self::KeepsEntries => "P-4",
        }
    }
}

#[async_trait]
impl Layer for Mutant {
    async fn call(&self, call: &Call<'_>, next: Next<'_>) -> Result<Response> {
        match (*self, call.request) {
            (Self::StaleToken | Self::LostToken, Request::TokenExists { .. }) => {
                next.run().await.map(|_| Response::TokenExists(*self == Self::StaleToken))
            }
            (Self::KeepsConsumedToken, Request::Consume { .. }) => Ok(Response::Consume(Consumed::Now)),
            (Self::KeepsDiscardedTokens, Request::Discard { .. }) => Ok(Response::Discard(Discarded::default())),
            (Self::KeepsEntries, Request::Remove { .. }) => Ok(Response::Remove(true)),
            _ => {
                let mut response = next.run().await?;
                self.tamper(call.request, &mut response);
                Ok(response)
            }
        }
    }
}

impl Mutant {
    fn tamper(self, request: Request<'_>, response: &mut Response) {
        match (self, request, response) {
            (Self::HidesEntry, _, Response::Open(opened)) => opened.entry = None,
            (Self::ChoosesEach, Request::Choose { attempt, .. }, Response::Choose(Chosen::Chosen(entry))) => {
                entry.chosen = Some(attempt.clone());
            }
            _ => {}
        }
    }
}
