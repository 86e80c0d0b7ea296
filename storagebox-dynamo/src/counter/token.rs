//! A transaction whose token is derived from the operation. DynamoDB remembers the token for ten minutes (article 5,
//! approach 4).

use sha2::{Digest, Sha256};
use storagebox_core::{Attempt, Change, Counted, Key, OpId, Result};

use super::room::Room;
use super::values::{Values, refused};
use crate::client::{Transacted, Write, Wrote, hex};
use crate::error::contention;

/// Applies a change. The transaction has no tag and no time, because all attempts must send the same transaction.
pub(super) async fn apply(values: &Values, first: Attempt, key: &Key, change: &Change) -> Result<Counted> {
    let room = Room::of(change);
    let writes = [room.added(Write::update(&values.row(key)))];
    let (writes, token) = (&writes, &token(values, key, &change.op));
    let attempt = |attempt: Attempt| async move {
        values.ready().await?;
        match values.client().transact_as(writes, token).await?.map(Transacted::of_first) {
            None => Ok(Counted::Mismatch),
            Some(Some(Wrote::Done(_))) => Ok(Counted::Applied { value: None }),
            Some(Some(Wrote::Refused(old))) => refused(attempt, room.rejected(old.as_ref())?),
            Some(None) => Err(contention()),
        }
    };
    values.changed(first, attempt).await
}

/// Returns the request token of the operation.
fn token(values: &Values, key: &Key, op: &OpId) -> String {
    let partition = values.partition("token", key, op.as_str());
    // The service compares tokens per account, so the token depends on the name of the table.
    let digest = Sha256::new().chain_update(values.client().table()).chain_update([0]).chain_update(partition);
    hex(&digest.finalize()[..16])
}
