//! Requests whose connection was lost and that the server still gets.

use std::collections::VecDeque;

use aws_smithy_runtime_api::client::http::SharedHttpConnector;

use super::State;
use super::client::send;
use super::request::Request;

/// The largest number of later requests that a late request waits for.
const LATEST: u64 = 3;

#[derive(Default)]
pub(super) struct Late {
    /// The number of requests so far.
    calls: u64,
    /// The number of requests so far that were parked with `lands_soon`.
    lates: u64,
    pub(super) parked: VecDeque<Parked>,
}

/// A request that will be sent later, and the connector that will send it.
pub(super) struct Parked {
    request: Request,
    connector: SharedHttpConnector,
    /// The number of the request after which this request is sent; `None` if only `land` sends this request.
    due: Option<u64>,
}

impl Late {
    pub(super) fn call(&mut self) -> u64 {
        self.calls += 1;
        self.calls
    }

    /// Keeps a request until `land` sends the request. With `lands_soon`, the request is sent after one to three more
    /// requests at the latest.
    pub(super) fn park(&mut self, request: Request, connector: SharedHttpConnector, lands_soon: bool) {
        let due = lands_soon.then_some(self.calls + 1 + self.lates % LATEST);
        self.lates += u64::from(lands_soon);
        self.parked.push_back(Parked { request, connector, due });
    }

    /// Removes and returns a request that must be sent after the answer to request number `call`.
    pub(super) fn due(&mut self, call: u64) -> Option<Parked> {
        let first = self.parked.iter().position(|parked| parked.due.is_some_and(|due| due <= call))?;
        self.parked.remove(first)
    }
}

impl Parked {
    /// Sends the request, and ignores the answer.
    pub(super) async fn land(self, state: &State) {
        let _ = send(state, &self.connector, self.request).await;
    }
}
