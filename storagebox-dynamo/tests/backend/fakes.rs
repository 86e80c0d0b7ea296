//! Servers that speak DynamoDB's protocol and are not DynamoDB: `setup` refuses each. Also a role that may not probe.

use std::sync::Arc;

use aws_smithy_runtime_api::client::http::SharedHttpClient;
use storagebox_core::{Backend as _, Certainty, ErrorKind, Result};
use storagebox_dynamo::DynamoStore;
use storagebox_testkit::dynamodb::faults::Fault;

use crate::refusals::{Way, named};
use crate::scene::{recorded, with_table};
use crate::support::{Place, Table};

const TRANSACTION: &[&str] = &["TransactWriteItems"];
const WRITE: &[&str] = &["DeleteItem"];

/// Returns a store without a table, its place, and the control of the server. The server gives this answer to these
/// operations.
async fn fake(
    table: &Arc<Table>,
    operations: &'static [&'static str],
    (status, body): (u16, String),
) -> Result<(DynamoStore, Place, Way)> {
    let place = table.bare();
    let way = Way::to(&place).only(operations);
    way.answers(status, body);
    let driver = table.client(None, Some(SharedHttpClient::new(way.clone()))).await;
    Ok((place.builder().from_client(&driver)?, place, way))
}

fn cancelled(reasons: [&str; 2]) -> String {
    let reasons = reasons.map(|code| format!("{{\"Code\":\"{code}\"}}")).join(",");
    named("TransactionCanceledException").replace('}', &format!(",\"CancellationReasons\":[{reasons}]}}"))
}

fn lacking(name: &str) -> (u16, String) {
    (400, named(name))
}

#[test]
fn a_refusal_names_the_behaviour_that_a_server_lacks() -> Result<()> {
    let applied = || (200, "{}".to_owned());
    let turned = (400, cancelled(["ConditionalCheckFailed", "None"]));
    with_table(async |table| {
        for (operations, answer, words) in [
            (TRANSACTION, lacking("UnknownOperationException"), "run a transaction"),
            (TRANSACTION, lacking("ValidationException"), "run a transaction"),
            (TRANSACTION, (501, String::new()), "run a transaction"),
            (TRANSACTION, applied(), "refuse a transaction with a condition that does not hold"),
            (TRANSACTION, turned, "say which condition"),
            (WRITE, lacking("UnknownOperationException"), "make a write with a condition"),
            (WRITE, lacking("ValidationException"), "make a write with a condition"),
            (WRITE, applied(), "refuse a write whose condition does not hold"),
        ] {
            let (store, place, way) = fake(table, operations, answer).await?;
            let error = store.setup().await.expect_err(words);
            assert_eq!((error.kind(), error.certainty()), (ErrorKind::Unsupported, Certainty::NotApplied), "{error:?}");
            for words in ["a server that cannot", words, "use DynamoDB itself"] {
                assert!(error.message().contains(words), "{words}: {error}");
            }
            assert_eq!(way.answered(), 1, "{words}");
            assert_eq!(place.rows().await?, [], "{words}");
        }
        Ok(())
    })
}

/// An earlier `setup` has created the table.
#[test]
fn a_second_setup_on_a_server_without_transactions_is_refused() -> Result<()> {
    with_table(async |table| {
        let (store, ..) = fake(table, TRANSACTION, lacking("UnknownOperationException")).await?;
        for _ in 0..2 {
            assert_eq!(store.setup().await.unwrap_err().kind(), ErrorKind::Unsupported);
        }
        Ok(())
    })
}

/// The role may create tables, but may not read or write rows.
#[test]
fn a_role_that_may_not_probe_sets_up_the_table() -> Result<()> {
    with_table(async |table| {
        let (store, place, way) =
            fake(table, &["TransactWriteItems", "DeleteItem"], lacking("AccessDeniedException")).await?;
        store.setup().await?;
        assert_eq!(way.answered(), 2);
        place.store().await?.ping().await
    })
}

/// A conflict, a throttle or a lost answer says nothing about the server.
#[test]
fn a_probe_that_is_not_answered_is_sent_again() -> Result<()> {
    const FAULTS: [Fault; 5] =
        [Fault::Conflict, Fault::Throttle, Fault::ErrorAfter, Fault::DropBefore, Fault::DropAfter];
    with_table(async |table| {
        let place = table.bare();
        let (store, faults) = recorded(table, place.builder()).await?;
        for operation in ["TransactWriteItems", "DeleteItem"] {
            faults.script_for(operation, FAULTS);
        }
        store.setup().await?;
        assert_eq!(faults.total(), 10);
        assert_eq!(place.rows().await?, []);
        Ok(())
    })
}
