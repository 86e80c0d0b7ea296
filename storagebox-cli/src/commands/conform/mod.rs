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
mod watch;

use std::sync::Arc;
use std::time::Duration;

use storagebox::parts::backend::url::plain_url;
use storagebox::{Error, async_trait};
use storagebox_conformance::{Certificate, End, Harness, Options, certify};
use tokio::runtime::Handle;
use tokio::task::spawn_blocking;
use tokio::time::{sleep, timeout};

use crate::cli::{Conform, Global};
use crate::exit::{Exit, Failure};
use crate::interrupt::{Caught, Signals};
use crate::message::{Kind, eprint_lines, eprint_message};
use crate::progress::Progress;
use crate::step::{CERTIFY, OPEN, REMOVE};
use crate::store;

use watch::{PAUSE, Watch, silence, unanswered};

/// Longer than a case may stand still, so that no call ends because the machine is busy.
#[cfg_attr(
    not(any(feature = "dynamo", feature = "postgres", feature = "redis", feature = "sqlite")),
    allow(dead_code, reason = "a store in memory needs no place and no patience")
)]
const CALL_TIMEOUT: Duration = Duration::from_secs(300);

/// How long a server may take until the suite can begin; DynamoDB makes a table meanwhile.
const START: Duration = Duration::from_secs(120);

/// Part of the name of everything that a run makes on a server.
#[cfg_attr(
    not(any(feature = "dynamo", feature = "postgres", feature = "redis", feature = "sqlite")),
    allow(dead_code, reason = "a store in memory needs no place and no patience")
)]
const MARK: &str = "conform";

/// Where the cases have their places, and how all of it goes in the end.
#[async_trait]
trait TestTarget: Send + Sync {
    /// The harness, for one run.
    fn harness(&self) -> Box<dyn Harness>;

    /// Makes what all places are in, if there is anything.
    async fn prepare(&self) -> Result<(), Error> {
        Ok(())
    }

    /// Asks the server whether it is there, as somebody would who has just come.
    async fn reach(&self) -> Result<(), Error>;

    /// Removes whatever the places left.
    async fn remove(&self) -> Result<(), Error>;

    /// What the places may have left, in words, for somebody who has to remove it by hand.
    fn left(&self) -> String;
}

pub(crate) async fn run(args: Conform, global: &Global) -> Result<Exit, Failure> {
    let url = match &args.at {
        Some(url) => url.as_str(),
        None => store::url(global)?,
    };
    plain_url(url).map_err(|error| error.during(OPEN))?;
    let mut signals = Signals::listen(&Caught::ENDS).map_err(Failure::Runtime)?;
    let ground: Arc<dyn TestTarget> = begun(OPEN, ground(url), &mut signals).await?.into();
    let mut asked = 0;
    let ended = match begun("setup", ground.prepare(), &mut signals).await {
        Ok(()) => certified(&args, &ground, &mut signals, &mut asked).await,
        Err(failure) => Err(failure),
    };
    // Before the removal, which may take its time.
    let told = ended.and_then(|certificate| {
        reports::give(&certificate, &args.reports, global.json)?;
        if asked > 0 { Err(Failure::Interrupted) } else { reports::exit(&certificate) }
    });
    let removed = match asked {
        0 | 1 => removed(&*ground, &mut signals).await,
        _ => Err(Failure::Interrupted),
    };
    let removed =
        removed.inspect_err(|_| eprint_message(Kind::Note, format_args!("what may be left: {}", ground.left())));
    told.and_then(|exit| removed.map(|()| exit))
}

/// What a run begins with, unless the server or the person has no patience.
async fn begun<T>(
    step: &'static str,
    work: impl Future<Output = Result<T, Error>>,
    signals: &mut Signals,
) -> Result<T, Failure> {
    let failed = |error: Error| error.during(step).into();
    tokio::select! {
        done = timeout(START, work) => done.unwrap_or_else(|_| Err(unanswered(START))).map_err(failed),
        () = signals.request() => Err(Failure::Interrupted),
    }
}

/// What the suite found, until the person has asked for its end so often: at the second time it is left as it is.
async fn certified(
    args: &Conform,
    ground: &Arc<dyn TestTarget>,
    signals: &mut Signals,
    asked: &mut u32,
) -> Result<Certificate, Failure> {
    let watch = Watch::of(ground);
    let mut run = spawn_blocking(suite(args, ground.harness(), &watch));
    let ended = loop {
        tokio::select! {
            ended = &mut run => break ended,
            () = watch.keep() => {}
            () = signals.request() => *asked += 1,
        }
        if *asked > 1 {
            return Err(Failure::Interrupted);
        }
        if *asked == 1 && !watch.stop().is_asked() {
            eprint_message(Kind::Note, format_args!("dropping the cases under way, and removing what they made"));
            watch.stop().now();
        }
    };
    let certificate = ended.map_err(Failure::Died)?.map_err(Failure::Certify)?;
    let Some(error) = watch.gone() else { return Ok(certificate) };
    let held = certificate.entries().iter().filter(|entry| entry.end == End::Held).count();
    eprint_message(Kind::Note, format_args!("{held} cases held before; without the server there is no verdict"));
    Err(error.during(CERTIFY).into())
}

/// The run, which must not be inside a runtime.
fn suite(
    args: &Conform,
    harness: Box<dyn Harness>,
    watch: &Arc<Watch>,
) -> impl FnOnce() -> Result<Certificate, String> + use<> {
    let (options, watch, runtime) = (options(args).stop(watch.stop()), Arc::clone(watch), Handle::current());
    move || {
        let progress = Progress::of_cases("certifying", options.asked(&*harness) as u64);
        certify(harness, options, |case, end| {
            progress.item();
            match end {
                End::Failed(why) if runtime.block_on(watch.is_there()) => {
                    eprint_lines(Kind::Error, &format!("{}: {why}", case.name()));
                }
                _ => {}
            }
        })
    }
}

/// Removes what the places left, unless the server is gone or the person does not wait for it.
async fn removed(ground: &dyn TestTarget, signals: &mut Signals) -> Result<(), Failure> {
    tokio::select! {
        removed = remove(ground) => removed.map_err(|error| error.during(REMOVE).into()),
        error = silence(ground, 1) => Err(error.during(REMOVE).into()),
        () = signals.request() => Err(Failure::Interrupted),
    }
}

/// Tries it twice: the server may have just restarted, or have no connection left until it notices that the cases have
/// ended.
#[allow(clippy::disallowed_methods, reason = "a server comes back in real time")]
async fn remove(ground: &dyn TestTarget) -> Result<(), Error> {
    let removed = ground.remove().await;
    if removed.is_ok() {
        return removed;
    }
    sleep(PAUSE).await;
    ground.remove().await
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

async fn ground(url: &str) -> Result<Box<dyn TestTarget>, Error> {
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
