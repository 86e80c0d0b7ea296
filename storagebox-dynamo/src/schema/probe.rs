//! Refuses a server that speaks DynamoDB's protocol but does not behave like DynamoDB.

use storagebox_core::{Error, ErrorKind, Result};

use crate::client::{Client, Refusal, Tag, Transacted, Write, Wrote};
use crate::error;
use crate::row::RowKey;

/// What the server must be able to do, for the text of an error.
const TRANSACTIONS: &str = "run a transaction of condition checks (TransactWriteItems)";
const REFUSALS: &str = "refuse a transaction with a condition that does not hold";
const REASONS: &str = "say which condition of a transaction does not hold";
const WRITES: &str = "make a write with a condition (DeleteItem)";
const CONDITIONS: &str = "refuse a write whose condition does not hold";

const EXISTS: &str = "attribute_exists(pk)";
const IS_MISSING: &str = "attribute_not_exists(pk)";

/// Probes the server with a transaction that only checks, and with the deletion of a row that does not exist. Neither
/// request changes anything, even if the server ignores its conditions.
pub(super) async fn check(client: &Client) -> Result<()> {
    // A random key, so that no row has it, and no earlier transaction has the same request token.
    let partition = format!("{}probe:{}", client.settings().prefix, Tag::fresh().as_str());
    let keys = [RowKey::new(partition.as_str(), "1"), RowKey::new(partition.as_str(), "2")];
    unless_denied(client.settle("setup", || transaction(client, &keys)).await)?;
    unless_denied(client.settle("setup", || write(client, &keys[0])).await)
}

/// Accepts the server if the credentials lack the rights for the probe, because `setup` needs no rights to rows.
fn unless_denied(probed: Result<()>) -> Result<()> {
    match probed {
        Err(error) if error.kind() == ErrorKind::Denied => Ok(()),
        probed => probed,
    }
}

async fn transaction(client: &Client, [first, second]: &[RowKey; 2]) -> Result<()> {
    let checks = [Write::check(first).only_if(IS_MISSING), Write::check(second).only_if(EXISTS)];
    match client.transact(&checks).await.map_err(|error| refused(error, TRANSACTIONS))? {
        Transacted::Done => Err(lacking(REFUSALS)),
        Transacted::Refused(refusals) => match refusals[..] {
            [Refusal::Not, Refusal::Condition(None)] => Ok(()),
            _ => Err(lacking(REASONS)),
        },
    }
}

async fn write(client: &Client, key: &RowKey) -> Result<()> {
    let delete = Write::delete(key).only_if(EXISTS);
    match client.write(&delete).await.map_err(|error| refused(error, WRITES))? {
        Wrote::Done(_) => Err(lacking(CONDITIONS)),
        Wrote::Refused(_) => Ok(()),
    }
}

/// Converts the error of a probe. `InvalidInput` means that the server does not know the request.
fn refused(error: Error, what: &str) -> Error {
    match error.kind() {
        ErrorKind::Unsupported | ErrorKind::InvalidInput => lacking(what).caused_by(error),
        _ => error::probing(error),
    }
}

fn lacking(what: &str) -> Error {
    Error::unsupported(format_args!("a server that cannot {what}"), "DynamoDB itself").on("dynamo")
}
