//! `storagebox conform`: the conformance suite on the server at a URL.

#![cfg_attr(
    not(any(feature = "dynamo", feature = "postgres", feature = "redis")),
    allow(dead_code, reason = "a store without a server has no address and needs no timeout")
)]

mod address;
mod cases;
#[cfg(feature = "dynamo")]
mod dynamo;
mod memory;
#[cfg(feature = "postgres")]
mod postgres;
#[cfg(feature = "redis")]
mod redis;
mod reports;
#[cfg(feature = "sqlite")]
mod sqlite;
mod watch;

use std::sync::Arc;
use std::time::Duration;

use storagebox::parts::backend::url::plain_url;
use storagebox::{Error, async_trait};
use storagebox_conformance::{Certificate, Declared, End, Options, Sandbox, certify};
use tokio::runtime::Handle;
use tokio::task::spawn_blocking;
use tokio::time::{sleep, timeout};

use crate::cli::{Conform, Global};
use crate::exit::{Exit, Failure};
use crate::interrupt::{ENDS, Signals};
use crate::message::{Kind, eprint_lines, eprint_message};
use crate::progress::Progress;
use crate::step::{CERTIFY, OPEN, REMOVE};
use crate::store;

use cases::{Case, Cases};
use watch::{PAUSE, Watch, silence, unanswered};

/// The timeout of a call, which is longer than the time that a case may go without progress, so that no call times out
/// on a busy machine.
const CALL_TIMEOUT: Duration = Duration::from_secs(300);

/// How long a step before the first case may take, such as the creation of a DynamoDB table.
const START: Duration = Duration::from_secs(120);

/// Part of the name of everything that a run creates on a server.
const MARK: &str = "conform";

/// The server, the folder or the process in which the cases have their stores.
#[async_trait]
trait TestTarget: Send + Sync {
    /// Returns the name of the target for reports, with the version of the server if it is known.
    fn name(&self) -> String;

    /// Returns which features of this target the suite can test.
    fn declared(&self) -> Declared;

    /// Creates what all cases share, such as a table.
    async fn prepare(&self) -> Result<(), Error> {
        Ok(())
    }

    /// Returns the sandbox of a case, without setting it up.
    async fn bare(&self, number: u64) -> Result<Case, Error>;

    /// Returns the sandbox of a case, and sets it up.
    async fn fresh(&self, number: u64) -> Result<Case, Error> {
        let case = self.bare(number).await?;
        case.open().await?.setup().await?;
        Ok(case)
    }

    /// Checks with a new connection that the server answers.
    async fn reach(&self) -> Result<(), Error> {
        Ok(())
    }

    /// Removes everything that the cases created.
    async fn remove(&self) -> Result<(), Error> {
        Ok(())
    }

    /// Describes the objects that may remain after a failed removal, so that a person can remove them by hand.
    fn left(&self) -> String;
}

pub(crate) async fn run(args: Conform, global: &Global) -> Result<Exit, Failure> {
    let url = match &args.at {
        Some(url) => url.as_str(),
        None => store::url(global)?,
    };
    plain_url(url).map_err(|error| error.during(OPEN))?;
    let mut signals = Signals::listen(&ENDS).map_err(Failure::Runtime)?;
    let target = begun(OPEN, target(url), &mut signals).await?;
    let mut requests = 0;
    let ended = match begun("setup", target.prepare(), &mut signals).await {
        Ok(()) => certified(&args, &target, &mut signals, &mut requests).await,
        Err(failure) => Err(failure),
    };
    // Gives the reports before the removal, which may take long.
    let told = ended.and_then(|certificate| {
        reports::give(&certificate, &args.reports, global.json)?;
        if requests > 0 { Err(Failure::NoVerdict) } else { reports::exit(&certificate) }
    });
    let removed = match requests {
        0 | 1 => removed(&*target, &mut signals).await,
        _ => Err(Failure::NoVerdict),
    };
    let removed =
        removed.inspect_err(|_| eprint_message(Kind::Note, format_args!("what may be left: {}", target.left())));
    told.and_then(|exit| removed.map(|()| exit))
}

/// Runs a step before the first case. Fails after the time `START`, or when a signal requests the end.
async fn begun<T>(
    step: &'static str,
    work: impl Future<Output = Result<T, Error>>,
    signals: &mut Signals,
) -> Result<T, Failure> {
    let failed = |error: Error| error.during(step).into();
    tokio::select! {
        done = timeout(START, work) => done.unwrap_or_else(|_| Err(unanswered(START))).map_err(failed),
        () = signals.request() => Err(Failure::NoVerdict),
    }
}

/// Runs the suite until it ends or signals stop it.
async fn certified(
    args: &Conform,
    target: &Arc<dyn TestTarget>,
    signals: &mut Signals,
    requests: &mut u32,
) -> Result<Certificate, Failure> {
    let watch = Watch::of(target);
    let mut run = spawn_blocking(suite(args, Cases::of(target), &watch));
    let ended = loop {
        tokio::select! {
            ended = &mut run => break ended,
            () = watch.keep() => {}
            () = signals.request() => *requests += 1,
        }
        // The second signal ends the command without removing what the cases created.
        if *requests > 1 {
            return Err(Failure::NoVerdict);
        }
        if *requests == 1 && !watch.stop().is_asked() {
            eprint_message(Kind::Note, format_args!("dropping the running cases, and removing what they created"));
            watch.stop().now();
        }
    };
    let certificate = ended.map_err(Failure::Died)?.map_err(Failure::Certify)?;
    let Some(error) = watch.gone() else { return Ok(certificate) };
    let held = certificate.entries().iter().filter(|entry| entry.end == End::Held).count();
    eprint_message(Kind::Note, format_args!("{held} cases held before; without the server there is no verdict"));
    Err(error.during(CERTIFY).into())
}

/// Returns a closure that runs the suite. The closure must be called outside an asynchronous runtime.
fn suite(args: &Conform, harness: Cases, watch: &Arc<Watch>) -> impl FnOnce() -> Result<Certificate, String> + use<> {
    let (options, watch, runtime) = (options(args).stop(watch.stop()), Arc::clone(watch), Handle::current());
    move || {
        let progress = Progress::of_cases("certifying", options.asked(&harness) as u64);
        certify(harness, options, |case, end| {
            progress.item();
            match end {
                End::Failed(why) if runtime.block_on(watch.is_there()) => {
                    eprint_lines(Kind::Error, &format!("{}: {why}", case.name()));
                }
                End::Undecided(why) => eprint_lines(Kind::Warning, &format!("{}: {why}", case.name())),
                _ => {}
            }
        })
    }
}

/// Removes what the cases created. Fails if the server is gone or a signal requests the end.
async fn removed(target: &dyn TestTarget, signals: &mut Signals) -> Result<(), Failure> {
    tokio::select! {
        removed = remove(target) => removed.map_err(|error| error.during(REMOVE).into()),
        error = silence(target, 1) => Err(error.during(REMOVE).into()),
        () = signals.request() => Err(Failure::NoVerdict),
    }
}

/// Removes what the cases created.
#[allow(clippy::disallowed_methods, reason = "a server comes back in real time")]
async fn remove(target: &dyn TestTarget) -> Result<(), Error> {
    let removed = target.remove().await;
    if removed.is_ok() {
        return removed;
    }
    // The server may have just restarted, or may not have noticed yet that the connections of the cases are closed.
    sleep(PAUSE).await;
    target.remove().await
}

fn options(args: &Conform) -> Options {
    let mut options = Options::new(args.profile).parts(args.parts.iter().copied());
    if let Some(minutes) = args.minutes {
        options = options.within(Duration::from_secs(60 * minutes));
    }
    if let Some(threads) = args.threads {
        options = options.threads(threads.into());
    }
    match args.seed {
        Some(seed) => options.seed(seed),
        None => options,
    }
}

async fn target(url: &str) -> Result<Arc<dyn TestTarget>, Error> {
    match address::scheme(url) {
        "memory" => Ok(Arc::new(memory::Process)),
        #[cfg(feature = "sqlite")]
        "sqlite" => Ok(Arc::new(sqlite::Folder::at(url)?)),
        #[cfg(feature = "redis")]
        "redis" | "rediss" => Ok(Arc::new(redis::Keys::at(url).await?)),
        #[cfg(feature = "postgres")]
        "postgres" | "postgresql" => Ok(Arc::new(postgres::Schemas::at(url).await?)),
        #[cfg(feature = "dynamo")]
        "dynamodb" => Ok(Arc::new(dynamo::Table::at(url).await?)),
        // Returns the usual error if the URL is not that of a store.
        _ => storagebox::parts::open(url).await.and_then(|_| Err(not_one_server())),
    }
}

fn not_one_server() -> Error {
    Error::unsupported("a certificate of several servers, or of foreign tables", "the URL of one server")
}

#[cfg(test)]
mod tests;
