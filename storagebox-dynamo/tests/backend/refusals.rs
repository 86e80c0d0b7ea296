//! Replies of a server that refuses a request: their names and status codes.

use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use aws_smithy_runtime_api::client::http::{
    HttpClient, HttpConnector, HttpConnectorFuture, HttpConnectorSettings, SharedHttpClient, SharedHttpConnector,
};
use aws_smithy_runtime_api::client::orchestrator::{HttpRequest, HttpResponse};
use aws_smithy_runtime_api::client::runtime_components::RuntimeComponents;
use aws_smithy_types::body::SdkBody;
use futures_util::future::try_join_all;
use storagebox_core::{Backend, Certainty, Change, Counter, ErrorKind, Hold, ItemBank, Result, Strategy};

use crate::readme::{read, section};
use crate::scene::with_place;
use crate::support::Place;

/// An HTTP client that passes requests to the server. A test can set an answer for all further requests, or for some
/// operations.
#[derive(Clone, Debug)]
pub(crate) struct Way {
    inner: SharedHttpClient,
    answer: Arc<Mutex<Option<(u16, String)>>>,
    operations: Option<&'static [&'static str]>,
    answered: Arc<AtomicUsize>,
}

impl Way {
    pub(crate) fn to(place: &Place) -> Self {
        Self { inner: place.table.http(), answer: Arc::default(), operations: None, answered: Arc::default() }
    }

    /// Gives the test's answer only to these operations.
    pub(crate) fn only(self, operations: &'static [&'static str]) -> Self {
        Self { operations: Some(operations), ..self }
    }

    pub(crate) fn answers(&self, status: u16, body: impl Into<String>) {
        *self.answer.lock().unwrap() = Some((status, body.into()));
    }

    pub(crate) fn answered(&self) -> usize {
        self.answered.load(Relaxed)
    }

    /// Returns the answer that the test has chosen for this request; `None` if the server answers the request.
    fn answer_to(&self, request: &HttpRequest) -> Option<(u16, String)> {
        let asked = request.headers().get("x-amz-target").and_then(|target| target.rsplit('.').next());
        let is_ours = self.operations.is_none_or(|some| asked.is_some_and(|asked| some.contains(&asked)));
        self.answer.lock().unwrap().clone().filter(|_| is_ours)
    }
}

impl HttpClient for Way {
    fn http_connector(&self, settings: &HttpConnectorSettings, components: &RuntimeComponents) -> SharedHttpConnector {
        let inner = self.inner.http_connector(settings, components);
        SharedHttpConnector::new(Answering { way: self.clone(), inner })
    }
}

#[derive(Debug)]
struct Answering {
    way: Way,
    inner: SharedHttpConnector,
}

impl HttpConnector for Answering {
    fn call(&self, request: HttpRequest) -> HttpConnectorFuture {
        let Some((status, body)) = self.way.answer_to(&request) else {
            return self.inner.call(request);
        };
        self.way.answered.fetch_add(1, Relaxed);
        let mut answer = HttpResponse::new(status.try_into().unwrap(), SdkBody::from(body));
        answer.headers_mut().insert("content-type", "application/x-amz-json-1.0");
        HttpConnectorFuture::ready(Ok(answer))
    }
}

pub(crate) fn named(name: &str) -> String {
    format!("{{\"__type\":\"com.amazonaws.dynamodb.v20120810#{name}\",\"message\":\"no\"}}")
}

/// A counter whose namespace is open, behind a [`Way`]. A change is a single request.
struct Behind {
    way: Way,
    counter: Arc<dyn Counter>,
}

impl Behind {
    async fn of(place: &Place) -> Result<Self> {
        let way = Way::to(place);
        let driver = place.table.client(None, Some(SharedHttpClient::new(way.clone()))).await;
        let counter = place.builder().from_client(&driver)?.counter(&"counters".parse()?, Strategy::Atomic)?;
        counter.value(&"key".parse()?).await?;
        Ok(Self { way, counter })
    }

    async fn is_told(&self, status: u16, body: &str, kind: &str) -> Result<()> {
        self.way.answers(status, body);
        let error = self.counter.apply(&"key".parse()?, &Change::new("op".parse()?, 1)).await.expect_err(body);
        let asked = self.way.answered();
        let of = format!("{status} {body} after {asked}: {error:?}");
        assert_eq!(format!("{:?}", error.kind()), kind, "{of}");
        assert_eq!(error.certainty() == Certainty::NotApplied, kind != "OutcomeUnknown", "{of}");
        assert_eq!(asked == 1, !error.is_retryable(), "{of}");
        let said = error.context().find(|(about, _)| *about == "status").map(|(_, status)| status);
        assert_eq!(said, Some(&*status.to_string()), "{of}");
        Ok(())
    }
}

/// Makes one change per answer, each on its own counter. Checks the error of each change.
async fn are_told(place: &Place, answers: &[(u16, String, &str)]) -> Result<()> {
    let behind = try_join_all(answers.iter().map(|_| Behind::of(place))).await?;
    let told = behind.iter().zip(answers).map(|(one, (status, body, kind))| one.is_told(*status, body, kind));
    tokio::time::pause();
    let told = try_join_all(told).await;
    tokio::time::resume();
    told?;
    assert_eq!(place.store().await?.counter(&"counters".parse()?, Strategy::Atomic)?.value(&"key".parse()?).await?, 0);
    Ok(())
}

/// Checks each row of the README's table.
#[test]
fn each_error_code_has_the_kind_that_the_readme_lists() -> Result<()> {
    with_place(async |place| {
        let readme = read("README.md");
        let (names, _) = section(&readme, "Errors").split_once("A cancelled transaction").unwrap();
        let rows = names.lines().filter_map(|line| line.strip_prefix("| `")?.split_once("` | `"));
        let rows: Vec<_> = rows.map(|(name, rest)| (name, rest.split_once('`').unwrap().0)).collect();
        assert!(rows.len() > 50, "{rows:?}");
        let rows = rows.into_iter();
        are_told(place, &rows.map(|(name, kind)| (400, named(name), kind)).collect::<Vec<_>>()).await
    })
}

/// An emulator, a proxy or a newer service may reply with an unknown name, an HTML page, or an empty body.
#[test]
fn a_reply_without_a_known_code_is_classified_by_its_status() -> Result<()> {
    const STATUSES: [(u16, &str); 25] = [
        (301, "Misconfigured"),
        (307, "Misconfigured"),
        (400, "Misconfigured"),
        (401, "Denied"),
        (402, "Misconfigured"),
        (403, "Denied"),
        (404, "Misconfigured"),
        (405, "Misconfigured"),
        (407, "Denied"),
        (409, "Misconfigured"),
        (411, "Misconfigured"),
        (415, "Misconfigured"),
        (421, "Misconfigured"),
        (422, "Misconfigured"),
        (431, "Misconfigured"),
        (413, "TooLarge"),
        (425, "Unavailable"),
        (429, "Throttled"),
        (501, "Unsupported"),
        (408, "OutcomeUnknown"),
        (460, "OutcomeUnknown"),
        (499, "OutcomeUnknown"),
        (500, "OutcomeUnknown"),
        (502, "OutcomeUnknown"),
        (504, "OutcomeUnknown"),
    ];
    with_place(async |place| {
        for body in [&*named("SomethingNewException"), "<html><body>no</body></html>", ""] {
            are_told(place, &STATUSES.map(|(status, kind)| (status, body.to_owned(), kind))).await?;
        }
        Ok(())
    })
}

/// The calls are the first call of a namespace, a read, `ping` and `setup`.
#[test]
fn no_call_repeats_a_request_after_a_permanent_refusal() -> Result<()> {
    with_place(async |place| {
        for (name, kind) in [
            ("UnknownOperationException", ErrorKind::Unsupported),
            ("SomethingNewException", ErrorKind::Misconfigured),
            ("InvalidSignatureException", ErrorKind::Denied),
        ] {
            let way = Way::to(place);
            let driver = place.table.client(None, Some(SharedHttpClient::new(way.clone()))).await;
            let store = place.builder().from_client(&driver)?;
            way.answers(400, named(name));
            let bank = store.item_bank(&"namespace".parse()?)?;
            let told = [
                bank.take(&"ada".parse()?, Hold::Forever).await.err(),
                bank.get(&"ada".parse()?).await.err(),
                store.ping().await.err(),
                store.setup().await.err(),
            ];
            assert!(told.iter().flatten().all(|error| error.kind() == kind), "{name}: {told:?}");
            assert_eq!((told.iter().flatten().count(), way.answered()), (4, 4), "{name}");
        }
        Ok(())
    })
}

/// A call makes no attempt that its timeout would cut off, because the outcome of that attempt would be unknown.
#[test]
fn a_call_that_is_always_throttled_returns_throttled() -> Result<()> {
    with_place(async |place| {
        for millis in [1, 20, 60, 200, 10_000] {
            let way = Way::to(place);
            let driver = place.table.client(None, Some(SharedHttpClient::new(way.clone()))).await;
            let store = place.builder().call_timeout(Duration::from_millis(millis)).from_client(&driver)?;
            way.answers(400, named("ThrottlingException"));
            tokio::time::pause();
            let error = store.ping().await.unwrap_err();
            tokio::time::resume();
            assert_eq!((error.kind(), error.certainty()), (ErrorKind::Throttled, Certainty::NotApplied), "{error}");
        }
        Ok(())
    })
}
