//! Requests whose connection was lost and that the server still gets.

use std::collections::VecDeque;

use aws_smithy_runtime_api::client::http::SharedHttpConnector;

use super::State;
use super::client::send;
use super::request::Request;

/// The longest that a late request waits, in requests that come after it.
const LATEST: u64 = 3;

#[derive(Default)]
pub(super) struct Late {
    /// Numbers the requests.
    calls: u64,
    /// How many were to land soon.
    lates: u64,
    pub(super) parked: VecDeque<Parked>,
}

/// A request, and the way that it is to take.
pub(super) struct Parked {
    request: Request,
    connector: SharedHttpConnector,
    /// It lands after the request of this number.
    due: Option<u64>,
}

impl Late {
    /// The number of a request that comes now.
    pub(super) fn call(&mut self) -> u64 {
        self.calls += 1;
        self.calls
    }

    /// Keeps a request until `land`, or until one to three more requests have come.
    pub(super) fn park(&mut self, request: Request, connector: SharedHttpConnector, lands_soon: bool) {
        let due = lands_soon.then_some(self.calls + 1 + self.lates % LATEST);
        self.lates += u64::from(lands_soon);
        self.parked.push_back(Parked { request, connector, due });
    }

    /// A request that lands once the request of this number has been answered.
    pub(super) fn due(&mut self, call: u64) -> Option<Parked> {
        let first = self.parked.iter().position(|parked| parked.due.is_some_and(|due| due <= call))?;
        self.parked.remove(first)
    }
}

impl Parked {
    /// Sends the request; no caller waits for the answer.
    pub(super) async fn land(self, state: &State) {
        let _ = send(state, &self.connector, self.request).await;
    }
}
