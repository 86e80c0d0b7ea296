//! The server stores requests, executes each once, answers each with one response, and ends them.
//!
//! | | first | again | after `DELETE` |
//! |---|---|---|---|
//! | `PUT /requests/{id}` stores the request | 201 | 200, or 409 with another body | 410 |
//! | `POST /requests/{id}` executes it | 200 and the response | the same | 404 |
//! | `GET /requests/{id}` fetches the response | 200 | the same | 404 |
//! | `DELETE /requests/{id}` ends it | 204 | 204 | 204 |
//!
//! A `DELETE` of an id that was never stored ends it too, so that a late `PUT` stores nothing. A `PUT` is answered 410
//! for as long as the store remembers ended operations; a later `PUT` may store the request again. During a `DELETE`, a
//! `PUT` may be answered as if the request were stored.
//!
//! After 503 the client may repeat the call. `POST /pay` makes the same payment without this protocol.

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
        let request = put(Self::store).post(Self::execute).get(Self::fetch).delete(Self::end);
        Router::new().route("/requests/{id}", request).route("/pay", post(Self::pay)).with_state(self)
    }

    async fn store(State(server): State<Self>, Path(id): Path<String>, body: Bytes) -> Result<StatusCode, Failed> {
        let id = id.as_str();
        // The request's own id names the operation, so that a late copy is recognised after the request has ended.
        let status = match server.requests.record(id, &*body).keep(Retention::Forever).by(id).await? {
            Recorded::New(_) => StatusCode::CREATED,
            Recorded::Again(known) | Recorded::Existing(known) if known.value.as_bytes() == body => StatusCode::OK,
            Recorded::Fenced => return Ok(StatusCode::GONE),
            Recorded::Again(_) | Recorded::Existing(_) | Recorded::InFlight { .. } => return Ok(StatusCode::CONFLICT),
        };
        if server.responses.get(id).await?.is_none() {
            server.tokens.create([id]).await?;
        }
        Ok(status)
    }

    async fn execute(State(server): State<Self>, Path(id): Path<String>) -> Result<Response, Failed> {
        if server.responses.get(&id).await?.is_none() {
            let Some(request) = server.requests.get(&id).await? else {
                return Ok(StatusCode::NOT_FOUND.into_response());
            };
            let _ = server.payments.process(&message(&id, request.value)?).await?;
        }
        Self::fetch(State(server), Path(id)).await
    }

    async fn fetch(State(server): State<Self>, Path(id): Path<String>) -> Result<Response, Failed> {
        let response = server.responses.get(&id).await?;
        Ok(response.map_or(StatusCode::NOT_FOUND.into_response(), |response| body(response.value)))
    }

    async fn end(State(server): State<Self>, Path(id): Path<String>) -> Result<StatusCode, Failed> {
        let Some(request) = server.ending(&id).await? else { return Ok(StatusCode::NO_CONTENT) };
        let message = message(&id, request.value)?;
        // If the payment has changed the account, finishes it first. Otherwise its response would be stored later.
        while server.payments.abandon(&message).await? == Abandoned::Pending {
            server.payments.resume(&message.entity, &message.id).await?;
        }
        // After this, a `PUT` that is still in progress creates no token.
        server.tokens.discard([&id]).await?;
        if let Some(response) = server.responses.get(&id).await? {
            let _ = server.responses.forget(&id, response.version).await?;
        }
        // This call is last, so that the client can repeat the `DELETE` until then.
        let _ = server.requests.forget(&id, request.version).await?;
        Ok(StatusCode::NO_CONTENT)
    }

    /// Returns the request to end, or `None` if the request has already ended.
    async fn ending(&self, id: &str) -> Result<Option<Entry>, Failed> {
        if let Some(known) = self.requests.get(id).await? {
            return Ok(Some(known));
        }
        // An unknown id gets an empty request, so that a later `PUT` is refused.
        let empty = Payload::default();
        match self.requests.record(id, &empty).keep(Retention::Forever).by(id).await? {
            Recorded::New(version) => Ok(Some(Entry { value: empty, version })),
            Recorded::Again(known) | Recorded::Existing(known) => Ok(Some(known)),
            Recorded::Fenced | Recorded::InFlight { .. } => Ok(None),
        }
    }

    /// Makes a new payment for each `POST`, without the protocol.
    async fn pay(State(server): State<Self>, amount: Bytes) -> Result<Response, Failed> {
        let message = Message::new("a payment without an id", ACCOUNT, &*amount)?;
        let _ = server.unprotected.process(&message).await?;
        Ok(body(server.balance().await?))
    }

    pub(crate) async fn balance(&self) -> storagebox::Result<Payload> {
        Ok(self.payments.state(ACCOUNT).await?.unwrap_or_default())
    }

    /// Returns the tokens, bodies, responses and entries of these requests that still exist.
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

/// The handler of payments, which adds the amount to the balance and sends a receipt as the response.
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

/// The handler of payments without the protocol, which adds the amount to the balance and sends no receipt.
struct Adds;

#[async_trait]
impl Handler for Adds {
    async fn handle(&self, balance: Option<Payload>, request: &Message) -> Result<Decision, BoxError> {
        let sum = sum(balance, &request.body)?;
        Ok(sum.map_or(Ok(Decision::keep()), |sum| Decision::put(sum.to_string()))?)
    }
}

/// Returns the new balance. Returns `None` if the body of the request is not an amount or the sum is too large.
fn sum(balance: Option<Payload>, amount: &Payload) -> Result<Option<u64>, BoxError> {
    let number = |payload: &Payload| str::from_utf8(payload.as_bytes()).ok()?.parse::<u64>().ok();
    let balance = balance.map_or(Some(0), |balance| number(&balance)).ok_or("the balance is not a number")?;
    Ok(number(amount).and_then(|amount| balance.checked_add(amount)))
}

/// A dispatcher that stores responses, so that clients can fetch them.
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
            // The response is stored, so no other process needs this message.
            let _ = self.tokens.consume(token).by(request.as_str()).await?;
        }
        Ok(())
    }
}

/// The answer after a failure, with a status that says whether the client may repeat the call.
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
