//! A bare addition (article 5, approach 1): one conditional update. The counter does not remember the operation.

use aws_sdk_dynamodb::types::ReturnValue;
use storagebox_core::{Attempt, Change, Counted, Error, Key, Result};

use super::room::Room;
use super::values::{Values, refused, value_in};
use crate::client::{Write, Wrote};

/// Applies a change. After a lost reply, sends the change again only if `retry_atomic` is on, because the change may
/// then count twice.
pub(super) async fn apply(values: &Values, first: Attempt, key: &Key, change: &Change) -> Result<Counted> {
    let sends_again = values.client().settings().retry_atomic;
    let attempt = |attempt: Attempt| async move {
        let answer = once(values, key, change).await.and_then(|counted| refused(attempt, counted));
        answer.map_err(|error| if sends_again { error } else { error.unrepeatable() })
    };
    values.client().settle_attempts("apply", first, attempt).await
}

async fn once(values: &Values, key: &Key, change: &Change) -> Result<Counted> {
    values.ready().await?;
    let room = Room::of(change);
    let update = room.added(Write::update(&values.row(key))).answering(ReturnValue::UpdatedNew);
    match values.client().write(&update).await? {
        Wrote::Done(row) => {
            let value = row.as_ref().map(value_in).transpose().map_err(Error::after_unresolved)?;
            Ok(Counted::Applied { value })
        }
        Wrote::Refused(old) => room.rejected(old.as_ref()),
    }
}
