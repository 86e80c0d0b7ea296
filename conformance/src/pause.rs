//! Holds a call where it reads the clock, before or after the reading, while other calls proceed. The clock of a server
//! cannot be held: there the call races with the others.

use std::sync::mpsc::{self, RecvTimeoutError};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use storagebox_core::Reading;
use tokio::sync::oneshot;

use crate::failure::{Failure, Verdict};
use crate::harness::TestClock;
use crate::progress::on_its_own;

/// Whether a call is paused before or after it reads the clock.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Held {
    BeforeItReads,
    AfterItHasRead,
}

/// The limit on the pause of a call, which may hold a lock that other calls need.
const PATIENCE: Duration = Duration::from_millis(50);

/// Makes a call, and runs `meanwhile` while the call is paused at a reading of the clock. Returns the answer, and
/// whether the pause lasted until `meanwhile` ended.
pub(crate) async fn with_call_held<T: Send + 'static>(
    clock: &dyn TestClock,
    held: Held,
    call: impl Future<Output = Result<T, Failure>> + Send + 'static,
    meanwhile: impl Future<Output = Verdict>,
) -> Result<(T, bool), Failure> {
    let (reached, go_on, reading) = hold_first(held);
    clock.intercept(Some(reading));
    let mut call = tokio::spawn(on_its_own(call));
    let answered = tokio::select! {
        _ = reached => None,
        answer = &mut call => Some(answer),
    };
    let done = meanwhile.await;
    let was_held = answered.is_none() && go_on.send(()).is_ok();
    clock.intercept(None);
    let answer = match answered {
        Some(answer) => answer,
        None => call.await,
    };
    done?;
    let answer = answer.map_err(|_| Failure::unfinished("the call panicked; the message is above"))?;
    Ok((answer?, was_held))
}

/// Creates a reading of the clock that signals its first use, and then blocks until a message arrives or [`PATIENCE`]
/// has passed.
fn hold_first(held: Held) -> (oneshot::Receiver<()>, mpsc::SyncSender<()>, Reading) {
    let ((reach, reached), (go_on, told)) = (oneshot::channel(), mpsc::sync_channel(0));
    let first = Mutex::new(Some((reach, told)));
    let wait = move || {
        let first = first.lock().unwrap_or_else(PoisonError::into_inner).take();
        if let Some((reach, told)) = first {
            let _ = reach.send(());
            let _over: Result<(), RecvTimeoutError> = told.recv_timeout(PATIENCE);
        }
    };
    let reading = move |read: &dyn Fn() -> Duration| match held {
        Held::BeforeItReads => {
            wait();
            read()
        }
        Held::AfterItHasRead => {
            let time = read();
            wait();
            time
        }
    };
    (reached, go_on, Arc::new(reading))
}
