//! The void calls of claims and operations (`sql/void_calls`, ER-5).

use storagebox_core::backend::rules::VoidCalls;
use storagebox_core::{Attempt, Result};

use crate::client::Step;

const FORGET: &str = include_str!("../sql/void_calls/forget.sql");
const PUT: &str = include_str!("../sql/void_calls/put.sql");

/// The claim or the operation that has void calls. `key` is the key of the operation's counter, and is empty for a
/// claim.
#[derive(Clone, Copy, Debug)]
pub(crate) struct VoidCallsOf<'a> {
    pub(crate) key: &'a str,
    pub(crate) id: &'a str,
}

impl VoidCallsOf<'_> {
    /// Makes the call void until `ends`, if the refused attempt is a repeated attempt.
    pub(crate) async fn refuse(
        self,
        step: &mut Step<'_>,
        mut known: VoidCalls,
        attempt: Attempt,
        refusal: &str,
        ends: i64,
    ) -> Result<()> {
        if known.refuse(attempt)? {
            let put = step.ask(PUT).bind(self.key).bind(self.id).bind(known.to_string());
            step.change(put.bind(refusal).bind(ends)).await?;
        }
        Ok(())
    }

    pub(crate) async fn forget(self, step: &mut Step<'_>) -> Result<()> {
        step.change(step.ask(FORGET).bind(self.key).bind(self.id)).await.map(drop)
    }
}
