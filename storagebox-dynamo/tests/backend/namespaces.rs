//! Open namespaces: shared while a handle exists, and forgotten after that.

use std::sync::{Arc, Weak};

use aws_sdk_dynamodb::types::AttributeValue;
use storagebox_core::{Backend, Namespace, OrderedOptions, Result, Strategy};
use storagebox_dynamo::DynamoStore;
use storagebox_testkit::checks::skews;

use crate::scene::with_place;
use crate::support::failed;

/// Returns whether an opened namespace still exists in memory.
type Lives = Box<dyn Fn() -> bool>;

fn watched<T: ?Sized + 'static>(opened: &Arc<T>) -> Lives {
    let opened: Weak<T> = Arc::downgrade(opened);
    Box::new(move || opened.strong_count() > 0)
}

fn opened(store: &DynamoStore, name: &str) -> Result<[Lives; 4]> {
    let name = Namespace::new(name)?;
    Ok([
        watched(&store.item_bank(&name)?),
        watched(&store.counter(&name, Strategy::default())?),
        watched(&store.ledger(&name)?),
        watched(&store.ordered_store(&name, OrderedOptions::time())?),
    ])
}

#[test]
fn a_namespace_without_a_handle_is_dropped_from_memory() -> Result<()> {
    let store = DynamoStore::connect("dynamodb://eu-west-1/storagebox")?;
    let name = Namespace::new("kept")?;
    let kept = store.counter(&name, Strategy::default())?;
    let first = opened(&store, "first")?;
    for number in 0..1_000 {
        drop(opened(&store, &format!("tenant-{number}"))?);
    }
    assert_eq!(first.map(|lives| lives()), [false; 4], "what lives of the first tenant's namespaces");
    assert!(Arc::ptr_eq(&kept, &store.counter(&name, Strategy::default())?), "a handle has two places");
    Ok(())
}

#[test]
fn a_ledger_opened_as_a_counter_is_the_same_namespace() -> Result<()> {
    let store = DynamoStore::connect("dynamodb://eu-west-1/storagebox")?;
    let name = Namespace::new("balances")?;
    let (ledger, counter) = (store.ledger(&name)?, store.counter(&name, Strategy::Ledger)?);
    assert!(std::ptr::addr_eq(Arc::as_ptr(&ledger), Arc::as_ptr(&counter)));
    Ok(())
}

/// Earlier versions stored the skew with the namespace.
#[test]
fn a_namespace_with_a_stored_skew_opens_with_any_skew() -> Result<()> {
    with_place(async |place| {
        let age = async || {
            let before = "OrderedOptions { stamping: Time { max_skew: Some(3600s) }, tombstone_age: 604800s }";
            let rows = place.rows().await?;
            let made =
                rows.into_iter().find(|row| row.contains_key("made_with")).ok_or_else(|| failed("no namespace"))?;
            let update = place.table.raw().update_item().table_name(&place.name).key("pk", made["pk"].clone());
            let update = update.key("sk", made["sk"].clone()).update_expression("SET made_with = :before");
            let update = update.expression_attribute_values(":before", AttributeValue::S(before.to_owned()));
            update.send().await.map(drop).map_err(failed)
        };
        skews::stored_before(async || Ok(Arc::new(place.store().await?) as _), age).await
    })
}
