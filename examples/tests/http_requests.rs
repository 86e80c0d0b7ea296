//! The check of the example `http-requests` holds, and can fail.

#![cfg(feature = "memory")]
#![allow(clippy::disallowed_methods, reason = "a test may unwrap")]

#[path = "../examples/http-requests/client.rs"]
mod client;
#[path = "../examples/http-requests/crashes.rs"]
mod crashes;
#[path = "../examples/http-requests/http.rs"]
mod http;
#[path = "../examples/http-requests/rounds.rs"]
mod rounds;
#[path = "../examples/http-requests/server.rs"]
mod server;

use std::sync::Arc;

use axum::http::{Method, StatusCode};
use client::Protocol;
use storagebox::{MemoryStore, Payload, Store};
use tokio::task::JoinHandle;

#[tokio::test]
async fn payment_with_a_crash_at_any_step_is_made_once() {
    let steps = rounds::all(&Store::new(MemoryStore::new()), "requests", Protocol::Requests).await.unwrap();
    assert!(steps > 50, "only {steps} steps to crash at");
}

#[tokio::test]
async fn plain_post_pays_twice_after_a_crash() {
    let error = rounds::all(&Store::new(MemoryStore::new()), "plain", Protocol::Plain).await.unwrap_err();
    assert!(error.to_string().contains("one payment of 12 was made, but the balance is 24"), "{error}");
}

/// Starts a server with a new store. Returns the server, and a client that never crashes.
async fn served() -> (server::Server, Arc<http::Http>, JoinHandle<std::io::Result<()>>) {
    let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
    let client = http::Http::to(listener.local_addr().unwrap(), crashes::Crashes::at(usize::MAX));
    let server = server::Server::open(&Store::new(MemoryStore::new()), "table").unwrap();
    let router = server.clone().router();
    (server, client, tokio::spawn(async move { axum::serve(listener, router).await }))
}

#[tokio::test]
async fn late_put_does_not_store_an_ended_request() {
    let (server, client, serving) = served().await;
    for (body, id) in [("1", "/requests/8"), ("", "/requests/9")] {
        let body = Payload::try_from(body).unwrap();
        for (method, status) in [
            (Method::DELETE, StatusCode::NO_CONTENT),
            (Method::PUT, StatusCode::GONE),
            (Method::POST, StatusCode::NOT_FOUND),
            (Method::GET, StatusCode::NOT_FOUND),
            (Method::DELETE, StatusCode::NO_CONTENT),
            (Method::PUT, StatusCode::GONE),
        ] {
            assert_eq!(client.call(method.clone(), id, &body).await.unwrap().0, status, "{method} {id}");
        }
    }
    assert_eq!(server.left(&["8".to_owned(), "9".to_owned()]).await.unwrap(), Vec::<String>::new());
    assert_eq!(server.balance().await.unwrap(), Payload::default());
    serving.abort();
}

#[tokio::test]
async fn server_returns_the_documented_status_for_each_call() {
    let (_, client, serving) = served().await;
    let (one, other) = (Payload::try_from("1").unwrap(), Payload::try_from("2").unwrap());
    for (number, (method, body, status, answer)) in [
        (Method::POST, &one, StatusCode::NOT_FOUND, ""),
        (Method::GET, &one, StatusCode::NOT_FOUND, ""),
        (Method::PUT, &one, StatusCode::CREATED, ""),
        (Method::PUT, &one, StatusCode::OK, ""),
        (Method::PUT, &other, StatusCode::CONFLICT, ""),
        (Method::GET, &one, StatusCode::NOT_FOUND, ""),
        (Method::POST, &one, StatusCode::OK, "paid; balance 1"),
        (Method::POST, &other, StatusCode::OK, "paid; balance 1"),
        (Method::GET, &one, StatusCode::OK, "paid; balance 1"),
        (Method::PUT, &one, StatusCode::OK, ""),
        (Method::DELETE, &one, StatusCode::NO_CONTENT, ""),
        (Method::DELETE, &one, StatusCode::NO_CONTENT, ""),
        (Method::PUT, &one, StatusCode::GONE, ""),
        (Method::POST, &one, StatusCode::NOT_FOUND, ""),
        (Method::GET, &one, StatusCode::NOT_FOUND, ""),
    ]
    .into_iter()
    .enumerate()
    {
        let (found, text) = client.call(method.clone(), "/requests/7", body).await.unwrap();
        assert_eq!((found, &*text), (status, answer.as_bytes()), "call {number}, {method}");
    }
    serving.abort();
}
