//! `storagebox conform`: the conformance suite on the server at a URL.

#[cfg_attr(
    not(any(feature = "dynamo", feature = "postgres", feature = "redis")),
    allow(dead_code, reason = "only a server has an address")
)]
mod address;
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

use std::ops::ControlFlow;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use storagebox::{Error, async_trait};
use storagebox_conformance::{Case, Certificate, End, Harness, Options, certify};
use tokio::task::spawn_blocking;

use crate::cli::{Conform, Global};
use crate::exit::{Exit, Failure};
use crate::interrupt::Signals;
use crate::progress::Progress;
use crate::say::{Kind, say};
use crate::step::Step;
use crate::store;

/// Longer than a case may stand still, so that no call ends because the machine is busy.
#[cfg_attr(
    not(any(feature = "dynamo", feature = "postgres", feature = "redis", feature = "sqlite")),
    allow(dead_code, reason = "a store in memory needs no place and no patience")
)]
const PATIENCE: Duration = Duration::from_secs(300);

/// Part of the name of everything that a run makes on a server.
#[cfg_attr(
    not(any(feature = "dynamo", feature = "postgres", feature = "redis", feature = "sqlite")),
    allow(dead_code, reason = "a store in memory needs no place and no patience")
)]
const MARK: &str = "conform";

/// Where the cases have their places, and how all of it goes in the end.
#[async_trait]
trait Ground: Send + Sync {
    /// The harness, for one run.
    fn harness(&self) -> Box<dyn Harness>;

    /// Removes whatever the places left.
    async fn remove(&self) -> Result<(), Error>;
}

pub(crate) async fn run(args: Conform, global: &Global) -> Result<Exit, Failure> {
    let url = match &args.at {
        Some(url) => url.as_str(),
        None => store::url(global)?,
    };
    let mut signals = Signals::listen().map_err(Failure::Runtime)?;
    let ground = ground(url).await.map_err(|error| Step::Open.failed(error))?;
    let stopped = Arc::new(AtomicBool::new(false));
    let mut run = spawn_blocking(certified(&args, ground.harness(), Arc::clone(&stopped)));
    let certificate = tokio::select! {
        ended = &mut run => ended,
        _ = signals.next() => {
            say(Kind::Note, format_args!("ending the cases under way, and removing what they made"));
            stopped.store(true, Ordering::Relaxed);
            run.await
        }
    };
    let removed = ground.remove().await.map_err(|error| Step::Remove.failed(error));
    let certificate = certificate.map_err(Failure::Died)?.map_err(Failure::Certify)?;
    removed?;
    reports::give(&certificate, &args.reports, global.json)?;
    match stopped.load(Ordering::Relaxed) {
        true => Err(Failure::Interrupted),
        false => reports::exit(&certificate),
    }
}

/// The run, which must not be inside a runtime.
fn certified(
    args: &Conform,
    harness: Box<dyn Harness>,
    stopped: Arc<AtomicBool>,
) -> impl FnOnce() -> Result<Certificate, String> + use<> {
    let options = options(args);
    move || {
        let progress = Progress::of_cases("certifying", options.asked(&*harness) as u64);
        let observe = move |case: &Case, end: &End| {
            progress.item();
            if let End::Failed(why) = end {
                say(Kind::Error, format_args!("{}: {why}", case.name()));
            }
            match stopped.load(Ordering::Relaxed) {
                true => ControlFlow::Break(()),
                false => ControlFlow::Continue(()),
            }
        };
        certify(harness, options, observe)
    }
}

fn options(args: &Conform) -> Options {
    let mut options = Options::new(args.profile.into()).parts(args.parts.iter().map(|part| (*part).into()));
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

async fn ground(url: &str) -> Result<Box<dyn Ground>, Error> {
    match address::scheme(url) {
        "memory" => Ok(Box::new(memory::Process)),
        #[cfg(feature = "sqlite")]
        "sqlite" => Ok(Box::new(sqlite::Folder::at(url)?)),
        #[cfg(feature = "redis")]
        "redis" | "rediss" => Ok(Box::new(redis::Keys::at(url).await?)),
        #[cfg(feature = "postgres")]
        "postgres" | "postgresql" => Ok(Box::new(postgres::Schemas::at(url).await?)),
        #[cfg(feature = "dynamo")]
        "dynamodb" => Ok(Box::new(dynamo::Table::at(url).await?)),
        // What is no URL of a store is told as everywhere else.
        _ => storagebox::parts::open(url).await.and_then(|_| Err(not_one_server())),
    }
}

fn not_one_server() -> Error {
    Error::unsupported("a certificate of several servers, or of foreign tables", "the URL of one server")
}

#[cfg(test)]
mod tests;
