//! Whether a command that failed or was interrupted may have changed the store, and what to do then.

use std::borrow::Cow;
use std::future::pending;
use std::sync::{Mutex, MutexGuard, PoisonError};

use storagebox::layer::{Call, Kind, Layer, Next, Request, Response};
use storagebox::{Certainty, Error, ErrorKind, Result, async_trait};

/// What happens if the user runs the same command again after a change that may have been applied. The worst is last.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Doubt {
    /// The store recognises what was done.
    Repeatable,
    /// Without this version, it deletes the record that is there by then.
    Forgets { version: u64 },
    /// It may change a counter a second time.
    Twice,
}

impl Doubt {
    pub(crate) fn of(error: &Error) -> Self {
        match error.kind() {
            ErrorKind::OutcomeUnknown if !error.is_retryable() => Self::Twice,
            _ => Self::Repeatable,
        }
    }

    /// Returns the doubt while the call is in flight. Returns `None` if the call changes nothing.
    fn during(call: &Call<'_>) -> Option<Self> {
        match call.request {
            Request::Close => None,
            _ if call.kind() == Kind::Read => None,
            Request::Forget { version, .. } => Some(Self::Forgets { version: version.number() }),
            _ if call.repeatable => Some(Self::Repeatable),
            _ => Some(Self::Twice),
        }
    }

    pub(crate) fn help(self) -> Cow<'static, str> {
        match self {
            Self::Repeatable => "it may have taken effect: run the same command again, which does nothing twice".into(),
            Self::Forgets { version } => format!(
                "it may have taken effect: run this again with --version {version}, which deletes no newer record"
            )
            .into(),
            Self::Twice => {
                "it may have taken effect, and running this again may do it twice, because this strategy does not \
                 remember what was done: read the value first"
                    .into()
            }
        }
    }
}

/// The calls of a command that may have changed the store: those in flight, and all others that were not surely refused.
#[derive(Debug, Default)]
pub(crate) struct Changes(Mutex<State>);

#[derive(Debug, Default)]
struct State {
    calls: usize,
    worst: Option<Doubt>,
    is_over: bool,
}

impl Changes {
    /// Starts anew, after calls that are no part of what the user asked for.
    pub(crate) fn restart(&self) {
        let mut state = self.lock();
        (state.calls, state.worst) = (0, None);
    }

    /// Lets no further call begin, so that the answer stays true. Returns `None` if surely nothing was changed.
    pub(crate) fn end(&self) -> Option<Doubt> {
        let mut state = self.lock();
        state.is_over = true;
        state.worst.filter(|_| state.calls > 0)
    }

    /// Notes a call before it is made. Returns false if the command is over.
    fn begin(&self, doubt: Doubt) -> bool {
        let mut state = self.lock();
        state.calls += 1;
        state.worst = state.worst.max(Some(doubt));
        !state.is_over
    }

    fn refused(&self) {
        self.lock().calls -= 1;
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[async_trait]
impl Layer for Changes {
    async fn call(&self, call: &Call<'_>, next: Next<'_>) -> Result<Response> {
        let Some(doubt) = Doubt::during(call) else { return next.run().await };
        if !self.begin(doubt) {
            // Only a task that outlives its command gets here, and nobody waits for it.
            pending::<()>().await;
        }
        let is_certain = |error: &Error| error.certainty() == Certainty::NotApplied;
        next.run().await.inspect_err(|error| {
            if is_certain(error) {
                self.refused()
            }
        })
    }
}

#[cfg(test)]
mod tests;
