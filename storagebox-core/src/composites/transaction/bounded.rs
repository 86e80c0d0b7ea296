//! The limit of batches within a transaction: locks are held until the caller commits.

use async_trait::async_trait;

use crate::composites::layer::{Call, Layer, Next, Request, Response};
use crate::values::error::{Error, Result};

/// The maximum number of entries of a batch within a transaction.
const MOST: usize = 1_000;

/// A layer that refuses batches of more than [`MOST`] entries, and `Compact` and `Purge`, which lock rows for an
/// unlimited time.
#[derive(Debug)]
pub(super) struct Bounded;

#[async_trait]
impl Layer for Bounded {
    async fn call(&self, call: &Call<'_>, next: Next<'_>) -> Result<Response> {
        let entries = match call.request {
            Request::AddItems { items } | Request::Withdraw { items } | Request::Restore { items } => items.len(),
            Request::CreateTokens { tokens } | Request::Discard { tokens } => tokens.len(),
            Request::Compact { .. } | Request::Purge { .. } => return Err(outside(call)),
            _ => 0,
        };
        if entries > MOST {
            let why = format_args!("has {entries} entries; within a transaction it may have at most {MOST}");
            return Err(Error::invalid("the batch", why).during(call.operation()).on(call.backend));
        }
        next.run().await
    }
}

fn outside(call: &Call<'_>) -> Error {
    let what = format_args!("`{}`, which locks rows for an unlimited time, within a transaction", call.operation());
    Error::unsupported(what, "the same call outside the transaction").during(call.operation()).on(call.backend)
}
