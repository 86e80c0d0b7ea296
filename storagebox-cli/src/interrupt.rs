//! A signal that asks for the end ends a command at its next await point, so that its temporary files are removed.

use std::future::poll_fn;
use std::io;
use std::task::Poll;
use std::time::Duration;

#[cfg(unix)]
use tokio::signal::unix::SignalKind;
use tokio::task::JoinError;
use tokio::time::Instant;

use crate::exit::{Exit, Failure};

/// How long a command may take to reach its next await point after a signal.
const GRACE: Duration = Duration::from_secs(5);

pub(crate) async fn or_interrupted(
    command: impl Future<Output = Result<Exit, Failure>> + Send + 'static,
) -> Result<Exit, Failure> {
    // Listens before the command starts, because an earlier signal kills the program.
    let mut signals = Signals::listen(&ENDS).map_err(Failure::Runtime)?;
    let mut command = tokio::spawn(command);
    tokio::select! {
        ended = &mut command => return result(ended),
        () = signals.request() => {}
    }
    command.abort();
    let ended = tokio::time::timeout(GRACE, command).await;
    // The command may have finished before the signal reached it.
    ended.map_or(Err(Failure::Interrupted(None)), result)
}

fn result(ended: Result<Result<Exit, Failure>, JoinError>) -> Result<Exit, Failure> {
    ended.unwrap_or_else(|error| match error.is_cancelled() {
        true => Err(Failure::Interrupted(None)),
        false => Err(Failure::Died(error)),
    })
}

/// Signals within this time count as one request to end. Some programs send a signal to a process and to its group, or
/// a hang-up after another signal.
pub(crate) const ONE_REQUEST: Duration = Duration::from_millis(100);

impl Signals {
    /// Waits for the next signal that asks this process to end.
    #[allow(clippy::disallowed_methods, reason = "people and programs send signals in real time")]
    pub(crate) async fn request(&mut self) {
        loop {
            let asks = ENDS.contains(&self.next().await);
            if asks && self.requested.is_none_or(|last| last.elapsed() >= ONE_REQUEST) {
                self.requested = Some(Instant::now());
                return;
            }
        }
    }
}

#[cfg(unix)]
pub(crate) use rustix::process::Signal;

/// The only signal that Windows knows.
#[cfg(windows)]
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Signal {
    INT,
}

/// The signals that ask a process to end.
#[cfg(unix)]
pub(crate) const ENDS: [Signal; 5] = [Signal::HUP, Signal::INT, Signal::QUIT, Signal::ALARM, Signal::TERM];
#[cfg(windows)]
pub(crate) const ENDS: [Signal; 1] = [Signal::INT];

/// The signals of `ENDS`, and the user signals, whose meaning each program chooses.
#[cfg(unix)]
pub(crate) const ALL: [Signal; 7] =
    [Signal::HUP, Signal::INT, Signal::QUIT, Signal::ALARM, Signal::TERM, Signal::USR1, Signal::USR2];
#[cfg(windows)]
pub(crate) const ALL: [Signal; 1] = ENDS;

#[cfg(unix)]
pub(crate) struct Signals {
    listeners: Vec<(Signal, tokio::signal::unix::Signal)>,
    /// The time of the last signal that asked for the end.
    requested: Option<Instant>,
}

#[cfg(unix)]
impl Signals {
    /// Listens to these signals, except signals that this program ignores from its start, for example under `nohup`.
    pub(crate) fn listen(to: &[Signal]) -> io::Result<Self> {
        let ignored = ignored();
        let heard = to.iter().filter(|signal| ignored >> (signal.as_raw() - 1) & 1 == 0);
        let listeners = heard.map(|signal| {
            let kind = SignalKind::from_raw(signal.as_raw());
            Ok((*signal, tokio::signal::unix::signal(kind)?))
        });
        Ok(Self { listeners: listeners.collect::<io::Result<_>>()?, requested: None })
    }

    pub(crate) async fn next(&mut self) -> Signal {
        poll_fn(|context| {
            let mut listeners = self.listeners.iter_mut();
            let came =
                listeners.find_map(|(signal, listener)| listener.poll_recv(context).is_ready().then_some(*signal));
            came.map_or(Poll::Pending, Poll::Ready)
        })
        .await
    }
}

/// Returns the signals that this program ignores from its start, one bit per signal.
#[cfg(any(target_os = "android", target_os = "linux"))]
fn ignored() -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let mask = status.lines().find_map(|line| line.strip_prefix("SigIgn:"));
    mask.and_then(|mask| u64::from_str_radix(mask.trim(), 16).ok()).unwrap_or_default()
}

/// Returns SIGHUP as the only ignored signal, because this system does not show which signals are ignored.
#[cfg(all(unix, not(any(target_os = "android", target_os = "linux"))))]
fn ignored() -> u64 {
    1 << (Signal::HUP.as_raw() - 1)
}

/// Notifications that a child of this program may have ended.
#[cfg(unix)]
pub(crate) struct ChildEnds(tokio::signal::unix::Signal);

#[cfg(unix)]
impl ChildEnds {
    pub(crate) fn listen() -> io::Result<Self> {
        tokio::signal::unix::signal(SignalKind::child()).map(Self)
    }

    pub(crate) async fn next(&mut self) {
        self.0.recv().await;
    }
}

/// Windows sends no notifications, so the caller checks for an ended child after each short pause.
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
    listener: tokio::signal::windows::CtrlC,
    requested: Option<Instant>,
}

#[cfg(windows)]
impl Signals {
    pub(crate) fn listen(_: &[Signal]) -> io::Result<Self> {
        Ok(Self { listener: tokio::signal::windows::ctrl_c()?, requested: None })
    }

    pub(crate) async fn next(&mut self) -> Signal {
        self.listener.recv().await;
        Signal::INT
    }
}
