//! The HTTP client. Each call has its own connection, which ends with the call.

use std::collections::BTreeSet;
use std::net::SocketAddr;
use std::sync::{Arc, Mutex, PoisonError};

use axum::body::Bytes;
use axum::http::{Method, Request, StatusCode, header};
use http_body_util::{BodyExt, Full};
use hyper::client::conn::http1::handshake;
use hyper_util::rt::TokioIo;
use storagebox::Payload;
use storagebox::messages::BoxError;
use tokio::net::TcpStream;

use crate::crashes::Crashes;

pub(crate) struct Http {
    server: SocketAddr,
    crashes: Arc<Crashes>,
    responses: Mutex<BTreeSet<String>>,
}

impl Http {
    pub(crate) fn to(server: SocketAddr, crashes: Arc<Crashes>) -> Arc<Self> {
        Arc::new(Self { server, crashes, responses: Mutex::default() })
    }

    pub(crate) fn responses(&self) -> BTreeSet<String> {
        self.responses.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// Makes a call. The client may crash before and after the call.
    pub(crate) async fn call(
        &self,
        method: Method,
        path: &str,
        body: &Payload,
    ) -> Result<(StatusCode, Bytes), BoxError> {
        self.crashes.pass().await;
        let answer = self.exchange(method, path, body).await;
        self.crashes.pass().await;
        answer
    }

    async fn exchange(&self, method: Method, path: &str, body: &Payload) -> Result<(StatusCode, Bytes), BoxError> {
        let stream = TokioIo::new(TcpStream::connect(self.server).await?);
        let (mut sender, connection) = handshake(stream).await?;
        let request = Request::builder().method(method).uri(path).header(header::HOST, self.server.to_string());
        let request = request.body(Full::new(body.clone().into_bytes()))?;
        let exchange = async {
            let response = sender.send_request(request).await?;
            let status = response.status();
            Ok((status, response.into_body().collect().await?.to_bytes()))
        };
        tokio::select! {
            answer = exchange => answer,
            ended = connection => Err(ended.err().map_or("the server closed the connection".into(), Into::into)),
        }
    }

    /// Makes a call and returns the response. Returns an error for any status other than 200.
    pub(crate) async fn fetched(&self, method: Method, path: &str, body: &Payload) -> Result<Payload, BoxError> {
        let what = format!("{method} {path}");
        let (status, response) = self.call(method, path, body).await?;
        if status != StatusCode::OK {
            return Err(format!("{what} returned {status}").into());
        }
        let text = String::from_utf8_lossy(&response).into_owned();
        self.responses.lock().unwrap_or_else(PoisonError::into_inner).insert(text);
        Ok(Payload::new(response)?)
    }
}
