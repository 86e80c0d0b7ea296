//! Watches the calls of a run: logs each, and tells the user when another runner has the lease.

use std::sync::Arc;

use storagebox::dedup::Begun;
use storagebox::layer::{Answered, Call, Layer, Next};
use storagebox::{Result, async_trait};
use tracing::{Instrument, debug, debug_span};

use super::stage::Stage;
use crate::message::{Kind, eprint_message};
use crate::progress::Waiting;

#[derive(Debug)]
pub(super) struct Watched {
    stage: Arc<Stage>,
    waiting: Waiting,
}

impl Watched {
    pub(super) fn by(stage: &Arc<Stage>) -> Self {
        Self { stage: Arc::clone(stage), waiting: Waiting::default() }
    }

    fn look_at(&self, begun: &Begun) {
        match begun {
            Begun::InFlight { .. } if self.stage.wait() => self.waiting.begin("waiting for another's run"),
            Begun::InFlight { .. } => {}
            Begun::Started(_) if self.stage.waited() => {
                self.waiting.end();
                let why = "it failed, was interrupted, or its lease ran out";
                let what = "the run that was under way left no result";
                eprint_message(Kind::Note, format_args!("{what} ({why}); running the command here"));
            }
            _ => self.waiting.end(),
        }
    }
}

#[async_trait]
impl Layer for Watched {
    async fn around(&self, call: &Call<'_>, next: Next<'_>) -> Result<Answered> {
        let Call { backend, operation, .. } = *call;
        let span = debug_span!("call", backend, operation);
        let attempt = async { next.call().await.inspect_err(|error| debug!(%error, "an attempt failed")) };
        let answered = attempt.instrument(span).await?;
        if let Some(begun) = answered.outcome() {
            self.look_at(begun);
        }
        Ok(answered)
    }
}
