//! Ctrl-C and SIGTERM end a command at its next wait, so that it can remove what it had begun to write.

use std::io;
use std::time::Duration;

use tokio::task::JoinError;

use crate::exit::{Exit, Failure};

/// How long a command may take to reach its next wait.
const GRACE: Duration = Duration::from_secs(5);

pub(crate) async fn or_interrupted(
    command: impl Future<Output = Result<Exit, Failure>> + Send + 'static,
) -> Result<Exit, Failure> {
    // Before the command starts, so that there is no moment at which a signal would just kill.
    let mut signals = Signals::listen().map_err(Failure::Runtime)?;
    let mut command = tokio::spawn(command);
    tokio::select! {
        ended = &mut command => return result(ended),
        _ = signals.next() => {}
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

/// Which signal came.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Caught {
    Interrupt,
    #[cfg_attr(windows, allow(dead_code, reason = "Windows knows only the one"))]
    Terminate,
}

#[cfg(unix)]
pub(crate) struct Signals {
    interrupt: tokio::signal::unix::Signal,
    terminate: tokio::signal::unix::Signal,
}

#[cfg(unix)]
impl Signals {
    pub(crate) fn listen() -> io::Result<Self> {
        use tokio::signal::unix::{SignalKind, signal};
        Ok(Self { interrupt: signal(SignalKind::interrupt())?, terminate: signal(SignalKind::terminate())? })
    }

    pub(crate) async fn next(&mut self) -> Caught {
        tokio::select! {
            _ = self.interrupt.recv() => Caught::Interrupt,
            _ = self.terminate.recv() => Caught::Terminate,
        }
    }
}

#[cfg(windows)]
pub(crate) struct Signals(tokio::signal::windows::CtrlC);

#[cfg(windows)]
impl Signals {
    pub(crate) fn listen() -> io::Result<Self> {
        tokio::signal::windows::ctrl_c().map(Self)
    }

    pub(crate) async fn next(&mut self) -> Caught {
        self.0.recv().await;
        Caught::Interrupt
    }
}
