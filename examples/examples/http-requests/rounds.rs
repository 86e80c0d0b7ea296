//! Makes one payment after another, each with a crash at a different step, and checks each result.

use std::net::Ipv4Addr;
use std::sync::Arc;

use axum::http::{Method, StatusCode};
use storagebox::messages::BoxError;
use storagebox::{Outcome, Payload, Store};
use tokio::net::TcpListener;

use crate::client::{self, Client, ORDER, Protocol, Queue};
use crate::crashes::{Crashes, CrashingStore};
use crate::http::Http;
use crate::server::Server;

/// The balance of the account after one payment.
const ONCE: &[u8] = b"12";
/// The maximum number of payments. A payment has fewer steps.
const MOST: usize = 1_000;

/// For each step of a payment, makes a payment with a crash at this step. Returns the number of steps.
pub(crate) async fn all(store: &Store, name: &str, protocol: Protocol) -> Result<usize, BoxError> {
    for step in 0..MOST {
        let round = Round::begin(store, format!("{name}-{step}"), step, protocol).await?;
        let broken = |error| format!("a crash at step {step}: {error}");
        round.work().await.map_err(broken)?;
        round.crashes.end();
        round.check().await.map_err(broken)?;
        if !round.crashes.happened() {
            return Ok(step);
        }
    }
    Err("the payment has too many steps".into())
}

struct Round {
    store: Store,
    name: String,
    protocol: Protocol,
    crashes: Arc<Crashes>,
    queue: Arc<Queue>,
    http: Arc<Http>,
    /// The server, which continues after a crash. Only the call that the server handles at the crash is stopped.
    server: Server,
    serving: tokio::task::JoinHandle<std::io::Result<()>>,
}

impl Drop for Round {
    fn drop(&mut self) {
        self.serving.abort();
    }
}

impl Round {
    async fn begin(store: &Store, name: String, step: usize, protocol: Protocol) -> Result<Self, BoxError> {
        let (crashes, queue) = (Crashes::at(step), Arc::<Queue>::default());
        client::order(store, &name, &queue).await?;
        let crashing = store.clone().layer(CrashingStore(Arc::clone(&crashes)));
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).await?;
        let http = Http::to(listener.local_addr()?, Arc::clone(&crashes));
        let server = Server::open(&crashing, &name)?;
        let router = server.clone().router();
        let serving = tokio::spawn(async move { axum::serve(listener, router).await });
        Ok(Self { store: store.clone(), name, protocol, crashes, queue, http, server, serving })
    }

    /// Runs the client. After a crash, runs a new client, which begins with the first unacknowledged message.
    async fn work(&self) -> Result<(), BoxError> {
        let crashing = self.store.clone().layer(CrashingStore(Arc::clone(&self.crashes)));
        loop {
            let client = Client::open(&crashing, &self.name, &self.http, &self.queue, self.protocol)?;
            if let Some(worked) = self.crashes.run(client.work()).await {
                return Ok(worked?);
            }
        }
    }

    async fn check(&self) -> Result<(), BoxError> {
        self.paid_once().await?;
        self.copies_change_nothing().await?;
        self.paid_once().await?;
        self.nothing_is_left().await
    }

    async fn paid_once(&self) -> Result<(), BoxError> {
        let balance = self.server.balance().await?;
        if balance.as_bytes() != ONCE {
            let found = String::from_utf8_lossy(balance.as_bytes()).into_owned();
            return Err(format!("one payment of 12 was made, but the balance is {found}").into());
        }
        let responses = self.http.responses();
        if responses.len() == 1 { Ok(()) } else { Err(format!("one payment has the responses {responses:?}").into()) }
    }

    /// Checks that copies of all messages and repeated calls of each request have no effect.
    async fn copies_change_nothing(&self) -> Result<(), BoxError> {
        let client = Client::open(&self.store, &self.name, &self.http, &self.queue, self.protocol)?;
        for message in self.queue.seen() {
            let outcome = client.process(&message).await?;
            if outcome != (Outcome::Duplicate { cleaned: false }) {
                return Err(format!("processing a copy of {} returned {outcome:?}", message.id).into());
            }
        }
        for id in self.requests() {
            for (method, expected) in [
                (Method::PUT, StatusCode::GONE),
                (Method::POST, StatusCode::NOT_FOUND),
                (Method::GET, StatusCode::NOT_FOUND),
                (Method::DELETE, StatusCode::NO_CONTENT),
            ] {
                let (status, _) = self.http.call(method.clone(), &path(&id), &Payload::try_from("12")?).await?;
                if status != expected {
                    return Err(format!("{method} of the ended request {id} returned {status}").into());
                }
            }
        }
        Ok(())
    }

    async fn nothing_is_left(&self) -> Result<(), BoxError> {
        let client = Client::open(&self.store, &self.name, &self.http, &self.queue, self.protocol)?;
        let mut left = self.server.left(&self.requests()).await?;
        left.extend(client.left().await?);
        if left.is_empty() { Ok(()) } else { Err(format!("not deleted: {left:?}").into()) }
    }

    fn requests(&self) -> Vec<String> {
        // Every message except the order belongs to a request.
        let ids = self.queue.seen().into_iter().map(|message| message.id.to_string());
        ids.filter(|id| id != ORDER).collect()
    }
}

fn path(id: &str) -> String {
    format!("/requests/{id}")
}
