//! A signal that asks for the end ends a command at its next wait, so that it can remove what it had begun to write.

use std::future::poll_fn;
use std::io;
use std::task::Poll;
use std::time::Duration;

use tokio::task::JoinError;
use tokio::time::Instant;

use crate::exit::{Exit, Failure};

/// How long a command may take to reach its next wait.
const GRACE: Duration = Duration::from_secs(5);

pub(crate) async fn or_interrupted(
    command: impl Future<Output = Result<Exit, Failure>> + Send + 'static,
) -> Result<Exit, Failure> {
    // Before the command starts, so that there is no moment at which a signal would just kill.
    let mut signals = Signals::listen(&Caught::ENDS).map_err(Failure::Runtime)?;
    let mut command = tokio::spawn(command);
    tokio::select! {
        ended = &mut command => return result(ended),
        () = signals.request() => {}
    }
    command.abort();
    let ended = tokio::time::timeout(GRACE, command).await;
    // It may have been done before the signal reached it.
    ended.map_or(Err(Failure::Interrupted), result)
}

fn result(ended: Result<Result<Exit, Failure>, JoinError>) -> Result<Exit, Failure> {
    ended.unwrap_or_else(|error| match error.is_cancelled() {
        true => Err(Failure::Interrupted),
        false => Err(Failure::Died(error)),
    })
}

/// Signals in so short a time are one request: programs that end others send one to the process and one to its group, or
/// a hang-up behind another signal.
pub(crate) const ONE_REQUEST: Duration = Duration::from_millis(100);

impl Signals {
    /// Until somebody asks for the end, or asks again.
    #[allow(clippy::disallowed_methods, reason = "people and programs send signals in real time")]
    pub(crate) async fn request(&mut self) {
        loop {
            let asks = self.next().await.asks_for_the_end();
            if asks && self.requested.is_none_or(|last| last.elapsed() >= ONE_REQUEST) {
                self.requested = Some(Instant::now());
                return;
            }
        }
    }
}

/// Which signal came.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(windows, allow(dead_code, reason = "Windows knows only the interrupt"))]
pub(crate) enum Caught {
    HangUp,
    Interrupt,
    Quit,
    Alarm,
    Terminate,
    User1,
    User2,
}

impl Caught {
    /// The signals that ask for the end.
    pub(crate) const ENDS: [Self; 5] = [Self::HangUp, Self::Interrupt, Self::Quit, Self::Alarm, Self::Terminate];

    /// These, and the signals that mean what a program likes.
    pub(crate) const ALL: [Self; 7] =
        [Self::HangUp, Self::Interrupt, Self::Quit, Self::Alarm, Self::Terminate, Self::User1, Self::User2];

    pub(crate) fn asks_for_the_end(self) -> bool {
        Self::ENDS.contains(&self)
    }
}

#[cfg(unix)]
pub(crate) struct Signals {
    heard: Vec<(Caught, tokio::signal::unix::Signal)>,
    /// When somebody last asked for the end.
    requested: Option<Instant>,
}

#[cfg(unix)]
impl Signals {
    /// Without the signals that this program is to ignore, as `nohup` asks, and a shell for what runs behind it.
    pub(crate) fn listen(to: &[Caught]) -> io::Result<Self> {
        let ignored = ignored();
        let heard = to.iter().filter(|caught| ignored >> (caught.kind().as_raw_value() - 1) & 1 == 0);
        let heard = heard
            .map(|caught| Ok((*caught, tokio::signal::unix::signal(caught.kind())?)))
            .collect::<io::Result<_>>()?;
        Ok(Self { heard, requested: None })
    }

    pub(crate) async fn next(&mut self) -> Caught {
        poll_fn(|context| {
            let came = self
                .heard
                .iter_mut()
                .find_map(|(caught, signal)| signal.poll_recv(context).is_ready().then_some(*caught));
            came.map_or(Poll::Pending, Poll::Ready)
        })
        .await
    }
}

#[cfg(unix)]
impl Caught {
    fn kind(self) -> tokio::signal::unix::SignalKind {
        use tokio::signal::unix::SignalKind;
        match self {
            Self::HangUp => SignalKind::hangup(),
            Self::Interrupt => SignalKind::interrupt(),
            Self::Quit => SignalKind::quit(),
            Self::Alarm => SignalKind::alarm(),
            Self::Terminate => SignalKind::terminate(),
            Self::User1 => SignalKind::user_defined1(),
            Self::User2 => SignalKind::user_defined2(),
        }
    }
}

/// The signals that this program was started to ignore, as Linux shows them: a bit for each.
#[cfg(any(target_os = "android", target_os = "linux"))]
fn ignored() -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let mask = status.lines().find_map(|line| line.strip_prefix("SigIgn:"));
    mask.and_then(|mask| u64::from_str_radix(mask.trim(), 16).ok()).unwrap_or_default()
}

/// Elsewhere the system does not say. The hang-up is the one that programs are started to ignore.
#[cfg(all(unix, not(any(target_os = "android", target_os = "linux"))))]
fn ignored() -> u64 {
    1 << (Caught::HangUp.kind().as_raw_value() - 1)
}

/// Tells that a child of this program may have ended.
#[cfg(unix)]
pub(crate) struct ChildEnds(tokio::signal::unix::Signal);

#[cfg(unix)]
impl ChildEnds {
    pub(crate) fn listen() -> io::Result<Self> {
        tokio::signal::unix::signal(tokio::signal::unix::SignalKind::child()).map(Self)
    }

    pub(crate) async fn next(&mut self) {
        self.0.recv().await;
    }
}

/// Where the system does not tell it, each look may find one.
#[cfg(windows)]
pub(crate) struct ChildEnds;

#[cfg(windows)]
impl ChildEnds {
    pub(crate) fn listen() -> io::Result<Self> {
        Ok(Self)
    }

    pub(crate) async fn next(&mut self) {
        tokio::time::sleep(Duration::from_millis(10)).await;
    }
}

#[cfg(windows)]
pub(crate) struct Signals {
    heard: tokio::signal::windows::CtrlC,
    requested: Option<Instant>,
}

#[cfg(windows)]
impl Signals {
    pub(crate) fn listen(_: &[Caught]) -> io::Result<Self> {
        Ok(Self { heard: tokio::signal::windows::ctrl_c()?, requested: None })
    }

    pub(crate) async fn next(&mut self) -> Caught {
        self.heard.recv().await;
        Caught::Interrupt
    }
}
