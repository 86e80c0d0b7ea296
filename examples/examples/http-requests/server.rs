//! The server: requests are stored, executed once, answered with one response, and ended.
//!
//! | | first | again | after `DELETE` |
//! |---|---|---|---|
//! | `PUT /requests/{id}` stores the request | 201 | 200, or 409 with another body | 410 |
//! | `POST /requests/{id}` executes it | 200 and the response | the same | 404 |
//! | `GET /requests/{id}` fetches the response | 200 | the same | 404 |
//! | `DELETE /requests/{id}` ends it | 204 | 204 | 204 |
//!
//! A `DELETE` of an id that was never stored ends it too: a `PUT` that is late stores nothing. The 410 holds for as long as
//! the store remembers ended operations; a `PUT` after that may store the request anew. While a `DELETE` is under way, a
//! `PUT` may be answered as if the request were stored.
//!
//! After 503 the same call may be made again. `POST /pay` is the same payment without all this.

use std::sync::{Arc, Mutex, PoisonError};

use axum::Router;
use axum::body::Bytes;
use axum::extract::{Path, State};
use axum::http::StatusCode;
use axum::response::{IntoResponse, Response};
use axum::routing::{post, put};
use storagebox::dedup::Entry;
use storagebox::messages::{Abandoned, BoxError, Dispatcher, Handler, MissingToken, Outgoing, ProcessError};
use storagebox::values::TokenId;
use storagebox::{
    Decision, Dedup, Error, ErrorKind, Message, Payload, Processor, Recorded, Retention, Store, Tokens, async_trait,
};

pub(crate) const ACCOUNT: &str = "account-1";

#[derive(Clone)]
pub(crate) struct Server {
    requests: Dedup,
    responses: Dedup,
    tokens: Tokens,
    payments: Processor,
    unprotected: Processor,
    responder: Arc<Responder>,
}

impl Server {
    /// Its stores begin with this name.
    pub(crate) fn open(store: &Store, name: &str) -> storagebox::Result<Self> {
        let (accounts, sent) = (format!("{name}-accounts"), format!("{name}-responses"));
        let responses = store.dedup(&sent)?;
        let responder =
            Responder { responses: responses.clone(), tokens: store.tokens(&sent)?, sent: Mutex::default() };
        let responder = Arc::new(responder);
        Ok(Self {
            requests: store.dedup(format!("{name}-requests"))?,
            responses,
            tokens: store.tokens(&accounts)?,
            payments: store.processor(&accounts, Pays)?.sends(&sent, Arc::clone(&responder))?.build()?,
            unprotected: store.processor(&accounts, Adds)?.without_token(MissingToken::Unprotected).build()?,
            responder,
        })
    }

    pub(crate) fn router(self) -> Router {
        let request = put(stored).post(executed).get(fetched).delete(ended);
        Router::new().route("/requests/{id}", request).route("/pay", post(paid)).with_state(self)
    }

    async fn store(&self, id: &str, body: Bytes) -> Result<StatusCode, Failed> {
        // The request's own id names the operation, so that a late copy is known after the request has ended.
        let status = match self.requests.record(id, &*body).keep(Retention::Forever).by(id).await? {
            Recorded::New(_) => StatusCode::CREATED,
            Recorded::Again(known) | Recorded::Existing(known) if known.value.as_bytes() == body => StatusCode::OK,
            Recorded::Fenced => return Ok(StatusCode::GONE),
            Recorded::Again(_) | Recorded::Existing(_) | Recorded::InFlight { .. } => return Ok(StatusCode::CONFLICT),
        };
        if self.responses.get(id).await?.is_none() {
            self.tokens.create([id]).await?;
        }
        Ok(status)
    }

    async fn execute(&self, id: &str) -> Result<Response, Failed> {
        if let Some(known) = self.responses.get(id).await? {
            return Ok(body(known.value));
        }
        let Some(request) = self.requests.get(id).await? else { return Ok(StatusCode::NOT_FOUND.into_response()) };
        let _ = self.payments.process(&message(id, request.value)?).await?;
        self.fetch(id).await
    }

    async fn fetch(&self, id: &str) -> Result<Response, Failed> {
        let response = self.responses.get(id).await?;
        Ok(response.map_or(StatusCode::NOT_FOUND.into_response(), |response| body(response.value)))
    }

    /// The request itself is forgotten last: until then the whole can be done again.
    async fn end(&self, id: &str) -> Result<(), Failed> {
        let Some(request) = self.ending(id).await? else { return Ok(()) };
        let message = message(id, request.value)?;
        // What has changed the account is finished first, so that nobody stores its response afterwards.
        while self.payments.abandon(&message).await? == Abandoned::Pending {
            self.payments.resume(&message.entity, &message.id).await?;
        }
        // A `PUT` that is still under way creates no token after this.
        self.tokens.discard([id]).await?;
        if let Some(response) = self.responses.get(id).await? {
            let _ = self.responses.forget(id, response.version).await?;
        }
        let _ = self.requests.forget(id, request.version).await?;
        Ok(())
    }

    /// The request to end, or `None` if it has ended. An id that nobody stored gets an empty request, so that forgetting it
    /// fences the `PUT` that has not come yet.
    async fn ending(&self, id: &str) -> Result<Option<Entry>, Failed> {
        if let Some(known) = self.requests.get(id).await? {
            return Ok(Some(known));
        }
        let empty = Payload::default();
        match self.requests.record(id, &empty).keep(Retention::Forever).by(id).await? {
            Recorded::New(version) => Ok(Some(Entry { value: empty, version })),
            Recorded::Again(known) | Recorded::Existing(known) => Ok(Some(known)),
            Recorded::Fenced | Recorded::InFlight { .. } => Ok(None),
        }
    }

    /// The same payment for a client that only posts: every request is a new one.
    async fn pay(&self, amount: Bytes) -> Result<Response, Failed> {
        let message = Message::new("a payment without an id", ACCOUNT, &*amount)?;
        let _ = self.unprotected.process(&message).await?;
        Ok(body(self.balance().await?))
    }

    /// What is on the account.
    pub(crate) async fn balance(&self) -> storagebox::Result<Payload> {
        Ok(self.payments.state(ACCOUNT).await?.unwrap_or_default())
    }

    /// What is left of these requests: their tokens, bodies, responses and entries.
    pub(crate) async fn left(&self, ids: &[String]) -> storagebox::Result<Vec<String>> {
        let mut left = vec![];
        for listed in [self.requests.list().page(None, 10).await?, self.responses.list().page(None, 10).await?] {
            left.extend(listed.entries.iter().map(|listed| format!("a record of {}", listed.id)));
        }
        for id in ids {
            left.extend(self.tokens.exists(id).await?.then(|| format!("the token of {id}")));
        }
        for token in self.responder.sent() {
            left.extend(self.responder.tokens.exists(&token).await?.then(|| format!("the token {token}")));
        }
        let pending = self.payments.pending().all().await?;
        left.extend(pending.iter().map(|entry| format!("the entry of {}", entry.message)));
        Ok(left)
    }
}

fn message(id: &str, request: Payload) -> storagebox::Result<Message> {
    Ok(Message::new(id, ACCOUNT, request)?.with_token(id.parse()?))
}

fn body(payload: Payload) -> Response {
    payload.into_bytes().into_response()
}

async fn stored(State(server): State<Server>, Path(id): Path<String>, body: Bytes) -> Result<StatusCode, Failed> {
    server.store(&id, body).await
}

async fn executed(State(server): State<Server>, Path(id): Path<String>) -> Result<Response, Failed> {
    server.execute(&id).await
}

async fn fetched(State(server): State<Server>, Path(id): Path<String>) -> Result<Response, Failed> {
    server.fetch(&id).await
}

async fn ended(State(server): State<Server>, Path(id): Path<String>) -> Result<StatusCode, Failed> {
    server.end(&id).await.map(|()| StatusCode::NO_CONTENT)
}

async fn paid(State(server): State<Server>, body: Bytes) -> Result<Response, Failed> {
    server.pay(body).await
}

/// A payment into the account, and its receipt, which is sent to the request.
struct Pays;

#[async_trait]
impl Handler for Pays {
    async fn handle(&self, balance: Option<Payload>, request: &Message) -> Result<Decision, BoxError> {
        let receipt = |text: String, decision: Decision| decision.send(request.id.as_str(), text);
        Ok(match sum(balance, &request.body)? {
            Some(sum) => receipt(format!("paid; balance {sum}"), Decision::put(sum.to_string())?)?,
            None => receipt("refused: not an amount".to_owned(), Decision::keep())?,
        })
    }
}

/// The same without a receipt.
struct Adds;

#[async_trait]
impl Handler for Adds {
    async fn handle(&self, balance: Option<Payload>, request: &Message) -> Result<Decision, BoxError> {
        let sum = sum(balance, &request.body)?;
        Ok(sum.map_or(Ok(Decision::keep()), |sum| Decision::put(sum.to_string()))?)
    }
}

/// `None` if the request is no amount, or one too many.
fn sum(balance: Option<Payload>, amount: &Payload) -> Result<Option<u64>, BoxError> {
    let number = |payload: &Payload| str::from_utf8(payload.as_bytes()).ok()?.parse::<u64>().ok();
    let balance = balance.map_or(Some(0), |balance| number(&balance)).ok_or("the balance is not a number")?;
    Ok(number(amount).and_then(|amount| balance.checked_add(amount)))
}

/// Stores responses where their clients fetch them.
struct Responder {
    responses: Dedup,
    tokens: Tokens,
    /// The tokens of the responses, for the check at the end.
    sent: Mutex<Vec<TokenId>>,
}

impl Responder {
    fn sent(&self) -> Vec<TokenId> {
        self.sent.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }
}

#[async_trait]
impl Dispatcher for Responder {
    async fn dispatch(&self, messages: &[Outgoing]) -> Result<(), BoxError> {
        for Outgoing { token, destination: request, body, .. } in messages {
            self.sent.lock().unwrap_or_else(PoisonError::into_inner).push(token.clone());
            let _ = self.responses.record(request.as_str(), body).keep(Retention::Forever).by(request.as_str()).await?;
            // The response has arrived, so nobody else processes this message.
            let _ = self.tokens.consume(token).by(request.as_str()).await?;
        }
        Ok(())
    }
}

/// What a client is told of a failure: whether it may call again.
pub(crate) struct Failed(BoxError, StatusCode);

impl From<Error> for Failed {
    fn from(error: Error) -> Self {
        let status = match error.kind() {
            ErrorKind::InvalidInput | ErrorKind::TooLarge => StatusCode::BAD_REQUEST,
            _ if error.is_retryable() => StatusCode::SERVICE_UNAVAILABLE,
            _ => StatusCode::INTERNAL_SERVER_ERROR,
        };
        Self(error.into(), status)
    }
}

impl From<ProcessError> for Failed {
    fn from(error: ProcessError) -> Self {
        match error {
            ProcessError::Store(error) => error.into(),
            other => Self(other.into(), StatusCode::SERVICE_UNAVAILABLE),
        }
    }
}

impl IntoResponse for Failed {
    fn into_response(self) -> Response {
        let Self(error, status) = self;
        (status, error.to_string()).into_response()
    }
}
