//! Watches the calls of a run: logs each call, and prints a note when another runner has the lease.

use std::sync::Arc;

use storagebox::dedup::Begun;
use storagebox::layer::{Call, Layer, Next, Response};
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
            Begun::InFlight { .. } if self.stage.wait() => self.waiting.begin("waiting for another caller's run"),
            Begun::InFlight { .. } => {}
            Begun::Started(_) if self.stage.waited() => {
                self.waiting.end();
                let why = "it failed, was interrupted, or its lease ran out";
                let what = "the run of another caller left no result";
                eprint_message(Kind::Note, format_args!("{what} ({why}); running the command here"));
            }
            _ => self.waiting.end(),
        }
    }
}

#[async_trait]
impl Layer for Watched {
    async fn call(&self, call: &Call<'_>, next: Next<'_>) -> Result<Response> {
        let (backend, operation) = (call.backend, call.operation());
        let span = debug_span!("call", backend, operation);
        let attempt = async { next.run().await.inspect_err(|error| debug!(%error, "an attempt failed")) };
        let response = attempt.instrument(span).await?;
        if let Response::Begin(begun) = &response {
            self.look_at(begun);
        }
        Ok(response)
    }
}
