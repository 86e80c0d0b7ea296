//! Layers for tests.

use std::fmt::{self, Debug, Formatter};
use std::future::pending;
use std::pin::Pin;
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use storagebox::bank::{End, Hold};
use storagebox::layer::{Call, Layer, Next, Request, Response};
use storagebox::time::{Timer, TokioTimer};
use storagebox::values::Namespace;
use storagebox::{Error, ErrorKind, Result, Taken, async_trait};

#[derive(Debug, Default)]
pub(crate) struct Counts(Mutex<Vec<String>>);

impl Counts {
    pub(crate) fn told(&self) -> Vec<String> {
        self.0.lock().unwrap().clone()
    }
}

#[async_trait]
impl Layer for Counts {
    async fn call(&self, call: &Call<'_>, next: Next<'_>) -> Result<Response> {
        let namespace = call.namespace.map(Namespace::as_str);
        let Call { backend, part, repeatable, .. } = call;
        let (operation, kind) = (call.operation(), call.kind());
        let told = format!("{backend} {part} {operation} {namespace:?} {kind:?} {repeatable}");
        self.0.lock().unwrap().push(told);
        next.run().await
    }
}

/// A layer that makes each call twice and returns the second response.
#[derive(Debug)]
pub(crate) struct Twice;

#[async_trait]
impl Layer for Twice {
    async fn call(&self, _: &Call<'_>, next: Next<'_>) -> Result<Response> {
        let _first = next.run().await?;
        next.run().await
    }
}

/// A layer that makes calls and loses some of their replies.
#[derive(Debug)]
pub(crate) struct Loses {
    each: usize,
    until: usize,
    calls: AtomicUsize,
    lost: AtomicUsize,
}

impl Loses {
    /// Creates a layer that loses every `each`-th reply.
    pub(crate) fn each(each: usize) -> Self {
        Self { each, until: usize::MAX, calls: AtomicUsize::new(0), lost: AtomicUsize::new(0) }
    }

    /// Creates a layer that loses the first `until` replies.
    pub(crate) fn first(until: usize) -> Self {
        Self { until, ..Self::each(1) }
    }

    pub(crate) fn lost(&self) -> usize {
        self.lost.load(Ordering::SeqCst)
    }
}

#[async_trait]
impl Layer for Loses {
    async fn call(&self, _: &Call<'_>, next: Next<'_>) -> Result<Response> {
        let answered = next.run().await?;
        let number = self.calls.fetch_add(1, Ordering::SeqCst) + 1;
        if number > self.until || !number.is_multiple_of(self.each) {
            return Ok(answered);
        }
        self.lost.fetch_add(1, Ordering::SeqCst);
        Err(Error::unknown("the reply was lost, as the test asked"))
    }
}

#[derive(Debug)]
pub(crate) struct Fails(AtomicUsize, ErrorKind);

impl Fails {
    /// Creates a layer that does not make the first `failures` calls and returns an error of this kind instead.
    pub(crate) fn first(failures: usize, kind: ErrorKind) -> Self {
        Self(AtomicUsize::new(failures), kind)
    }
}

#[async_trait]
impl Layer for Fails {
    async fn call(&self, _: &Call<'_>, next: Next<'_>) -> Result<Response> {
        let one_less = |left: usize| left.checked_sub(1);
        match self.0.fetch_update(Ordering::SeqCst, Ordering::SeqCst, one_less) {
            Ok(_) => Err(Error::new(self.1, "as the test asked")),
            Err(_) => next.run().await,
        }
    }
}

#[derive(Clone, Copy, Debug)]
pub(crate) struct Slow(pub(crate) Duration);

#[async_trait]
impl Layer for Slow {
    async fn call(&self, _: &Call<'_>, next: Next<'_>) -> Result<Response> {
        TokioTimer.sleep(self.0).await;
        next.run().await
    }
}

#[derive(Debug)]
pub(crate) struct Silent;

#[async_trait]
impl Layer for Silent {
    async fn call(&self, _: &Call<'_>, _: Next<'_>) -> Result<Response> {
        pending().await
    }
}

/// A layer that answers every second call with the response of the call before it.
#[derive(Debug, Default)]
pub(crate) struct Borrows(Mutex<Option<Response>>);

#[async_trait]
impl Layer for Borrows {
    async fn call(&self, _: &Call<'_>, next: Next<'_>) -> Result<Response> {
        let borrowed = self.0.lock().unwrap().take();
        if let Some(answered) = borrowed {
            return Ok(answered);
        }
        let kept = next.run().await?;
        *self.0.lock().unwrap() = Some(kept);
        next.run().await
    }
}

/// A layer that checks the arguments of the calls of one test.
#[derive(Debug)]
pub(crate) struct Arguments;

#[async_trait]
impl Layer for Arguments {
    async fn call(&self, call: &Call<'_>, next: Next<'_>) -> Result<Response> {
        match call.request {
            Request::AddItems { items, .. } => assert_eq!(items.len(), 2),
            Request::Take { claim, hold, .. } => assert_eq!((claim.as_str(), hold), ("ada", Hold::Forever)),
            Request::ListItems { cursor, limit, .. } => assert_eq!((cursor, limit), (None, 7)),
            _ => unreachable!("the test makes no other call: {call:?}"),
        }
        assert!(!format!("{call:?}").contains("ada"), "{call:?}");
        next.run().await
    }
}

type Parked = Pin<Box<dyn Future<Output = Result<Response>> + Send>>;

/// A layer that fails each call with an unknown outcome, and keeps the last call for `land` to make.
#[derive(Default)]
pub(crate) struct Parks(Mutex<Option<Parked>>);

impl Parks {
    pub(crate) async fn land(&self) -> Result<Response> {
        let parked = self.0.lock().unwrap().take().unwrap();
        tokio::spawn(parked).await.unwrap()
    }
}

impl Debug for Parks {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        f.write_str("Parks")
    }
}

#[async_trait]
impl Layer for Parks {
    async fn call(&self, _: &Call<'_>, next: Next<'_>) -> Result<Response> {
        *self.0.lock().unwrap() = Some(Box::pin(next.detached()));
        Err(Error::unknown("it is still under way"))
    }
}

/// A layer that answers each `take` with an ended claim, and doubles the reported number of free items.
#[derive(Debug)]
pub(crate) struct Lies;

#[async_trait]
impl Layer for Lies {
    async fn call(&self, call: &Call<'_>, next: Next<'_>) -> Result<Response> {
        if call.operation() == "take" {
            return Ok(Response::Take(Taken::Ended(End::Released)));
        }
        let mut response = next.run().await?;
        if let Response::CountItems(counts) = &mut response {
            assert_eq!(counts.free, 1);
            counts.free *= 2;
        }
        Ok(response)
    }
}
