//! The connector between the driver and the real client.

use std::fmt;
use std::time::Duration;

use aws_sdk_dynamodb::config::{AsyncSleep, SharedAsyncSleep};
use aws_smithy_runtime_api::client::http::{
    HttpClient, HttpConnector, HttpConnectorFuture, HttpConnectorSettings, SharedHttpConnector,
};
use aws_smithy_runtime_api::client::orchestrator::HttpRequest;
use aws_smithy_runtime_api::client::runtime_components::RuntimeComponents;

use super::answer::{self, Answer, lost, whole};
use super::fault::Fault;
use super::request::{Request, operation};
use super::{Faults, State, batch, lock};

impl HttpClient for Faults {
    fn http_connector(&self, settings: &HttpConnectorSettings, components: &RuntimeComponents) -> SharedHttpConnector {
        let inner = self.inner.http_connector(settings, components);
        SharedHttpConnector::new(Connector { faults: self.clone(), inner, timer: components.sleep_impl() })
    }
}

#[derive(Clone)]
struct Connector {
    faults: Faults,
    inner: SharedHttpConnector,
    timer: Option<SharedAsyncSleep>,
}

impl fmt::Debug for Connector {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.faults.fmt(f)
    }
}

impl HttpConnector for Connector {
    fn call(&self, request: HttpRequest) -> HttpConnectorFuture {
        let Some(operation) = operation(&request) else {
            return self.inner.call(request);
        };
        let (connector, request) = (self.clone(), Request { operation, http: request });
        HttpConnectorFuture::new(async move { connector.pass(request).await })
    }
}

impl Connector {
    /// Sends a request and then the late requests that are due, and returns the answer to the request.
    async fn pass(&self, request: Request) -> Answer {
        let call = lock(&self.state().late).call();
        let answer = match self.fault(&request) {
            Some((fault, turn)) => self.meet(fault, turn, request).await,
            None => self.send(request).await,
        };
        loop {
            let due = lock(&self.state().late).due(call);
            let Some(late) = due else { return answer };
            late.land(self.state()).await;
        }
    }

    /// Returns the fault that is planned for this request, and the number of earlier faults of its kind.
    fn fault(&self, request: &Request) -> Option<(Fault, u64)> {
        let fault = lock(&self.state().plan).next(&request.operation)?;
        fault.fits(request).then(|| (fault, lock(&self.state().record).inject(fault)))
    }

    async fn meet(&self, fault: Fault, turn: u64, request: Request) -> Answer {
        match fault {
            Fault::ErrorBefore => Ok(answer::internal_error()),
            Fault::ErrorAfter => self.send(request).await.map(|_| answer::internal_error()),
            Fault::DropBefore => Err(lost()),
            Fault::DropAfter => self.send(request).await.and_then(|_| Err(lost())),
            Fault::Torn => self.send(request).await.map(answer::torn),
            Fault::Throttle => Ok(answer::throttled(&request, turn)),
            Fault::Conflict => Ok(answer::conflict(&request, turn)),
            Fault::Mixed => self.send(request).await.map(|answer| answer::mixed(answer, turn)),
            Fault::InProgress => Ok(answer::in_progress()),
            Fault::Unprocessed => self.send_half(request).await,
            Fault::Delay(time) => self.send_after(time, request).await,
            Fault::Late => self.park(request, true),
            Fault::Parked => self.park(request, false),
            Fault::Twice => self.send_twice(request).await,
        }
    }

    async fn send(&self, request: Request) -> Answer {
        send(self.state(), &self.inner, request).await
    }

    async fn send_half(&self, request: Request) -> Answer {
        let (request, rest) = batch::halved(request);
        self.send(request).await.map(|answer| rest.returned_with(answer))
    }

    async fn send_after(&self, time: Duration, request: Request) -> Answer {
        if let Some(timer) = &self.timer {
            timer.sleep(time).await;
        }
        self.send(request).await
    }

    fn park(&self, request: Request, lands_soon: bool) -> Answer {
        lock(&self.state().late).park(request, self.inner.clone(), lands_soon);
        Err(lost())
    }

    async fn send_twice(&self, request: Request) -> Answer {
        let again = request.again();
        let answer = self.send(request).await;
        match again {
            Some(request) => self.send(request).await,
            None => answer,
        }
    }

    fn state(&self) -> &State {
        &self.faults.state
    }
}

/// Sends a request to the server, and records the request and its reply.
pub(super) async fn send(state: &State, inner: &SharedHttpConnector, request: Request) -> Answer {
    let number = lock(&state.record).sent(&request);
    let answer = whole(inner.call(request.http).await?).await?;
    lock(&state.record).answered(number, &answer);
    Ok(answer)
}
