//! Calls whose connections are cut, at each request from the first that contains their id.

use std::pin::pin;
use std::sync::Arc;
use std::time::Duration;

use storagebox_core::{Backend, Certainty, Error};
use tokio::time::timeout;

use super::{Attempt, Repeatable, allowed};
use crate::failure::{Failure, Verdict, ensure, ensure_eq};
use crate::proxy::{Cut, Proxy};
use crate::race::answered;
use crate::world::World;

/// A limit above the number of requests of any call.
pub(crate) const MOST_REQUESTS: usize = 50;

/// How long a call may wait for a lock before the request that may have the lock is delivered. Longer than a call that
/// waits for nobody takes.
const LOCK_WAIT: Duration = Duration::from_secs(5);

/// Two clients, one of them behind the proxy.
pub(crate) struct Clients<'a> {
    world: &'a World,
    proxy: Proxy,
    pub(crate) far: Arc<dyn Backend>,
    pub(crate) fresh: Arc<dyn Backend>,
}

impl<'a> Clients<'a> {
    /// Lets `passing` requests of the call pass whose requests contain this text, and cuts the next request of the call,
    /// whether it contains the text or follows it on its connection.
    pub(crate) fn arm(&self, cut: Cut, text: &str, passing: usize) {
        self.proxy.arm_call(cut, self.world.sandbox().on_the_wire(text), passing);
    }

    /// Lets `passing` requests of the call pass, and loses the reply to the next, as [`arm`](Self::arm) does. Then keeps
    /// the client from the server for the time `away`.
    pub(crate) fn lose_reply(&self, text: &str, passing: usize, away: Duration) {
        self.proxy.delay_after_cuts(away);
        self.arm(Cut::ReplyLost, text, passing);
    }

    /// As [`arm`](Self::arm), but keeps the request until [`let_go`](Self::let_go) is called.
    pub(crate) fn keep(&self, text: &str, passing: usize) {
        self.arm(Cut::Kept, text, passing);
    }

    /// Makes a call while a request may be kept. If the call waits for the request, or is refused because of it, the
    /// request is delivered first: see [`has_let_go`](Self::has_let_go).
    pub(crate) async fn beside<T, Fut>(&self, call: impl Fn() -> Fut + Send + Sync) -> Result<T, Failure>
    where
        Fut: Future<Output = storagebox_core::Result<T>> + Send,
    {
        let mut first = pin!(call());
        let answer = match timeout(LOCK_WAIT, &mut first).await {
            Ok(answer) => answer,
            // The kept request may have a lock that the call needs. Its transaction ends only with its connection.
            Err(_) => tokio::join!(first, self.let_go()).0,
        };
        match answer {
            Err(error) if error.is_retryable() => {
                self.let_go().await;
                answered(call).await
            }
            answer => Ok(answer?),
        }
    }

    /// Returns whether the request that was kept was delivered.
    pub(crate) fn has_let_go(&self) -> bool {
        self.proxy.has_let_go()
    }

    /// Delivers the request that was kept, and waits until the server has finished with it.
    pub(crate) async fn let_go(&self) {
        self.proxy.let_go().await;
    }

    /// Waits until a request was cut.
    pub(crate) async fn cut(&self) {
        self.proxy.wait_for_cuts(1).await;
    }

    /// Disarms the proxy, and returns whether a request was cut.
    pub(crate) fn was_cut(&self) -> bool {
        !self.proxy.disarm()
    }

    pub(crate) async fn of(world: &'a World) -> Result<Self, Failure> {
        let upstream = world.sandbox().upstream().ok_or_else(|| {
            Failure::new("the harness neither names an upstream nor declares that there is no network")
        })?;
        let proxy = Proxy::start(upstream).await.map_err(|error| Failure::new(format!("the proxy failed: {error}")))?;
        let far = world.sandbox().open_through(proxy.addr()).await?;
        Ok(Self { world, proxy, far, fresh: world.client().await? })
    }
}

/// Cuts each call in every way at its first request that contains its id, then at the next request, and so on until all
/// its requests pass.
pub(crate) async fn cut_everywhere<C: Repeatable>(world: &World, calls: &[C]) -> Verdict {
    for (number, call) in allowed(world, calls) {
        let clients = Clients::of(world).await?;
        for cut in Cut::ALL {
            let place = format!("{number}-{cut:?}");
            cut_each(call, world, &clients, cut, &place)
                .await
                .map_err(|failure| failure.during(format!("{call:?} whose fate is {cut:?}")))?;
        }
    }
    Ok(())
}

async fn cut_each<C: Repeatable>(call: C, world: &World, clients: &Clients<'_>, cut: Cut, place: &str) -> Verdict {
    for passing in 0..MOST_REQUESTS {
        let mut attempt = Attempt::on(call, world, format!("{place}-{passing}")).await?;
        let was_cut = cut_at(&mut attempt, clients, cut, passing).await?;
        attempt
            .settle(&clients.far, &clients.fresh)
            .await
            .map_err(|failure| failure.during(format!("at request {passing}, cut: {was_cut}")))?;
        if !was_cut {
            ensure!(passing > 0, "nothing was cut: no request of the call held its id in the form of `on_the_wire`");
            return Ok(());
        }
    }
    Err(Failure::new(format!("the call makes more than {MOST_REQUESTS} requests")))
}

/// Makes the call, and returns whether its connection was cut.
async fn cut_at<C: Repeatable>(
    attempt: &mut Attempt<'_, C>,
    clients: &Clients<'_>,
    cut: Cut,
    passing: usize,
) -> Result<bool, Failure> {
    let before = clients.proxy.cuts();
    clients.arm(cut, C::needle(&attempt.scene), passing);
    let answer = tokio::select! {
        biased;
        // A caller does not wait forever: the call is dropped when its answer is lost.
        () = clients.proxy.wait_for_cuts(before + 1), if cut == Cut::NoAnswer => None,
        answer = attempt.call.make(&attempt.scene, &clients.far) => Some(answer),
    };
    let was_cut = clients.was_cut();
    attempt.told = match answer {
        Some(Ok(told)) => Some(told),
        Some(Err(error)) => {
            attempt.is_refused = is_refusal(&error, was_cut, attempt.call.is_known_again())?;
            None
        }
        None => None,
    };
    Ok(was_cut)
}

/// Returns whether the error of a cut call says that nothing was done, which the caller must check. A backend may know
/// that, if it was cut before it sent what changes something. Otherwise the outcome is unknown, and the error must be
/// retryable exactly if `may_ask` is true.
fn is_refusal(error: &Error, was_cut: bool, may_ask: bool) -> Result<bool, Failure> {
    ensure!(was_cut, "a call that was not cut failed: {error}");
    let is_refusal = error.certainty() == Certainty::NotApplied;
    ensure_eq!(error.is_retryable(), is_refusal || may_ask, "whether it may be asked again, after {error}");
    Ok(is_refusal)
}
