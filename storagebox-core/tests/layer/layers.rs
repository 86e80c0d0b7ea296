//! Layers for tests.

use std::fmt::{self, Debug, Formatter};
use std::future::pending;
use std::pin::Pin;
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use storagebox::bank::End;
use storagebox::layer::{Answered, Call, Layer, Next};
use storagebox::time::{Timer, TokioTimer};
use storagebox::values::{ClaimId, Item, Namespace};
use storagebox::{Cursor, Error, ErrorKind, Result, Taken, async_trait};

/// Records each call.
#[derive(Debug, Default)]
pub(crate) struct Counts(Mutex<Vec<String>>);

impl Counts {
    pub(crate) fn told(&self) -> Vec<String> {
        self.0.lock().unwrap().clone()
    }
}

#[async_trait]
impl Layer for Counts {
    async fn around(&self, call: &Call<'_>, next: Next<'_>) -> Result<Answered> {
        let namespace = call.namespace.map(Namespace::as_str);
        let Call { backend, part, operation, kind, repeatable, .. } = call;
        let told = format!("{backend} {part} {operation} {namespace:?} {kind:?} {repeatable}");
        self.0.lock().unwrap().push(told);
        next.call().await
    }
}

/// Makes each call a second time.
#[derive(Debug)]
pub(crate) struct Twice;

#[async_trait]
impl Layer for Twice {
    async fn around(&self, _: &Call<'_>, next: Next<'_>) -> Result<Answered> {
        let _first = next.call().await?;
        next.call().await
    }
}

/// Loses replies of calls that were made.
#[derive(Debug)]
pub(crate) struct Loses {
    each: usize,
    until: usize,
    calls: AtomicUsize,
    lost: AtomicUsize,
}

impl Loses {
    /// Loses every `each`-th reply.
    pub(crate) fn each(each: usize) -> Self {
        Self { each, until: usize::MAX, calls: AtomicUsize::new(0), lost: AtomicUsize::new(0) }
    }

    /// Loses the first `until` replies.
    pub(crate) fn first(until: usize) -> Self {
        Self { until, ..Self::each(1) }
    }

    pub(crate) fn lost(&self) -> usize {
        self.lost.load(Ordering::SeqCst)
    }
}

#[async_trait]
impl Layer for Loses {
    async fn around(&self, _: &Call<'_>, next: Next<'_>) -> Result<Answered> {
        let answered = next.call().await?;
        let number = self.calls.fetch_add(1, Ordering::SeqCst) + 1;
        if number > self.until || !number.is_multiple_of(self.each) {
            return Ok(answered);
        }
        self.lost.fetch_add(1, Ordering::SeqCst);
        Err(Error::unknown("the reply was lost, as the test asked"))
    }
}

/// Fails calls without making them.
#[derive(Debug)]
pub(crate) struct Fails(AtomicUsize, ErrorKind);

impl Fails {
    /// Fails the first `failures` calls.
    pub(crate) fn first(failures: usize, kind: ErrorKind) -> Self {
        Self(AtomicUsize::new(failures), kind)
    }
}

#[async_trait]
impl Layer for Fails {
    async fn around(&self, _: &Call<'_>, next: Next<'_>) -> Result<Answered> {
        let one_less = |left: usize| left.checked_sub(1);
        match self.0.fetch_update(Ordering::SeqCst, Ordering::SeqCst, one_less) {
            Ok(_) => Err(Error::new(self.1, "as the test asked")),
            Err(_) => next.call().await,
        }
    }
}

/// Makes each call after a delay.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Slow(pub(crate) Duration);

#[async_trait]
impl Layer for Slow {
    async fn around(&self, _: &Call<'_>, next: Next<'_>) -> Result<Answered> {
        TokioTimer.sleep(self.0).await;
        next.call().await
    }
}

/// Never answers.
#[derive(Debug)]
pub(crate) struct Silent;

#[async_trait]
impl Layer for Silent {
    async fn around(&self, _: &Call<'_>, _: Next<'_>) -> Result<Answered> {
        pending().await
    }
}

/// Answers each call with the answer of the one before it.
#[derive(Debug, Default)]
pub(crate) struct Borrows(Mutex<Option<Answered>>);

#[async_trait]
impl Layer for Borrows {
    async fn around(&self, _: &Call<'_>, next: Next<'_>) -> Result<Answered> {
        let borrowed = self.0.lock().unwrap().take();
        if let Some(answered) = borrowed {
            return Ok(answered);
        }
        let kept = next.call().await?;
        *self.0.lock().unwrap() = Some(kept);
        next.call().await
    }
}

/// Looks for the arguments of some calls of a bank.
#[derive(Debug)]
pub(crate) struct Arguments;

#[async_trait]
impl Layer for Arguments {
    async fn around(&self, call: &Call<'_>, next: Next<'_>) -> Result<Answered> {
        let claim = call.argument::<ClaimId>();
        let items = call.argument::<Vec<Item>>();
        let (cursor, limit) = (call.argument::<Option<Cursor>>(), call.argument::<usize>());
        match call.operation {
            "add" => assert_eq!((items.map(|items| items.len()), claim), (Some(2), None)),
            "take" => assert_eq!((claim, items), (Some(ClaimId::new("ada")?), None)),
            _ => assert_eq!((cursor, limit), (Some(None), Some(7))),
        }
        assert!(!format!("{call:?}").contains("ada"), "{call:?}");
        next.call().await
    }
}

type Parked = Pin<Box<dyn Future<Output = Result<Answered>> + Send>>;

/// Makes a call when the test asks for it.
#[derive(Default)]
pub(crate) struct Parks(Mutex<Option<Parked>>);

impl Parks {
    pub(crate) async fn land(&self) -> Result<Answered> {
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
    async fn around(&self, _: &Call<'_>, next: Next<'_>) -> Result<Answered> {
        *self.0.lock().unwrap() = Some(Box::pin(next.detached()));
        Err(Error::unknown("it is still under way"))
    }
}

/// Answers each `take` with an ended claim, and doubles the number of free items.
#[derive(Debug)]
pub(crate) struct Lies;

#[async_trait]
impl Layer for Lies {
    async fn around(&self, call: &Call<'_>, next: Next<'_>) -> Result<Answered> {
        if call.operation == "take" {
            return Ok(Answered::of(Taken::Ended(End::Released)));
        }
        let answered = next.call().await?;
        assert!(answered.outcome::<storagebox::bank::Counts>().is_none_or(|counts| counts.free == 1));
        Ok(answered.map(|counts: &mut storagebox::bank::Counts| counts.free *= 2))
    }
}
