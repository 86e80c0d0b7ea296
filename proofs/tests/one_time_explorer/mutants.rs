//! Stores that each break one promise that one-time tokens depend on.

use async_trait::async_trait;
use storagebox_core::layer::{Call, Layer, Next, Request, Response};
use storagebox_core::{Begun, Completed, Discarded, Entry, Fence, Forgotten, Lease, Recorded, Result, Version};

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Mutant {
    /// A gone token is reported as live.
    StaleToken,
    /// A live token is reported as gone.
    LostToken,
    KeepsTokens,
    /// Every call of `begin` gets a lease.
    LeasesToEach,
    /// A lease completes although it is fenced.
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
    async fn call(&self, call: &Call<'_>, next: Next<'_>) -> Result<Response> {
        Ok(match (*self, call.request) {
            (Self::StaleToken | Self::LostToken, Request::TokenExists { .. }) => {
                next.run().await.map(|_| Response::TokenExists(*self == Self::StaleToken))?
            }
            (Self::KeepsTokens, Request::Discard { .. }) => Response::Discard(Discarded::default()),
            (Self::LeasesToEach, Request::Begin { id, op, .. }) => match next.run().await? {
                Response::Begin(Begun::InFlight { .. }) => {
                    let lease = Lease { id: id.clone(), op: op.clone(), fence: Fence::new(u64::MAX) };
                    Response::Begin(Begun::Started(lease))
                }
                response => response,
            },
            (Self::CompletesTheFenced, Request::Complete { result, .. }) => match next.run().await? {
                Response::Complete(Completed::Fenced) => {
                    let entry = Entry { value: result.clone(), version: Version::new(1) };
                    Response::Complete(Completed::Completed(entry))
                }
                response => response,
            },
            (Self::LosesRecords, Request::GetRecord { .. }) => next.run().await.map(|_| Response::GetRecord(None))?,
            (Self::LosesResults, Request::Record { .. }) => Response::Record(Recorded::New(Version::new(1))),
            (Self::KeepsRecords, Request::Forget { .. }) => Response::Forget(Forgotten::Forgotten),
            _ => return next.run().await,
        })
    }
}
