//! A transaction with a token of the operation's own, which DynamoDB knows again for ten minutes (article 5,
//! approach 4).

use sha2::{Digest, Sha256};
use storagebox_core::{Change, Counted, Key, OpId, Result};

use super::contention;
use super::room::Room;
use super::values::Values;
use crate::client::{Refusal, Transacted, Write, hex};

/// Nothing in the transaction may differ from one attempt to the next: it has no tag and no time.
pub(super) async fn apply(values: &Values, key: &Key, change: &Change) -> Result<Counted> {
    let room = Room::of(change);
    let writes = [room.added(Write::update(&values.row(key)))];
    let (writes, token) = (&writes, &token(values, key, &change.op));
    let attempt = || async move {
        values.ready().await?;
        match values.client().transact_as(writes, token).await? {
            None => Ok(Counted::Mismatch),
            Some(Transacted::Done) => Ok(Counted::Applied { value: None }),
            Some(Transacted::Refused(parts)) => match parts.as_slice() {
                [Refusal::Condition(old)] => room.rejected(old.as_ref()),
                _ => Err(contention()),
            },
        }
    };
    values.changed(attempt).await
}

/// Tokens are known by account: the table is in it too.
fn token(values: &Values, key: &Key, op: &OpId) -> String {
    let partition = values.partition("token", key, op.as_str());
    let digest = Sha256::new().chain_update(values.client().table()).chain_update([0]).chain_update(partition);
    hex(&digest.finalize()[..16])
}
