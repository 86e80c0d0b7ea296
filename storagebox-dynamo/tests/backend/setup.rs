//! Setup: repeated, concurrent, on tables of other programs, and on a newer library's rows.

use aws_sdk_dynamodb::types::{
    AttributeDefinition, AttributeValue, BillingMode, KeySchemaElement, KeyType, ScalarAttributeType,
};
use storagebox_core::{Backend, ClaimId, Counter, ErrorKind, Hold, Item, ItemBank, Result};
use storagebox_dynamo::DynamoStore;
use storagebox_testkit::checks::calls;
use tokio::task::JoinSet;

use crate::scene::{with_place, with_table};
use crate::support::{Table, failed};

/// Returns the name of another table on the same server, and a store on this other table.
async fn beside(table: &Table, name: &str) -> Result<(String, DynamoStore)> {
    let name = format!("{}-{name}", table.name);
    let store = table.builder().table(name.as_str()).from_client(&table.client(None, None).await)?;
    Ok((name, store))
}

async fn remove(table: &Table, name: &str) -> Result<()> {
    table.raw().delete_table().table_name(name).send().await.map(drop).map_err(failed)
}

#[test]
fn eight_tasks_set_up_one_table_at_once() -> Result<()> {
    with_table(async |table| {
        let mut setups = JoinSet::new();
        for _ in 0..8 {
            let (_, store) = beside(table, "crowd").await?;
            setups.spawn(async move { store.setup().await });
        }
        for outcome in setups.join_all().await {
            outcome?;
        }
        let (name, store) = beside(table, "crowd").await?;
        store.ping().await?;
        has_its_shape(table, &name).await?;
        remove(table, &name).await
    })
}

#[test]
fn a_second_setup_changes_nothing() -> Result<()> {
    with_place(async |place| {
        let store = place.store().await?;
        store.item_bank(&"namespace".parse()?)?.add(&[Item::new("code")?]).await?;
        let before = place.rows().await?;
        store.setup().await?;
        store.setup().await?;
        assert_eq!(place.rows().await?, before);
        has_its_shape(&place.table, &place.name).await
    })
}

/// Checks the table's keys, index and settings in the description that the server returns.
async fn has_its_shape(table: &Table, name: &str) -> Result<()> {
    let described = table.raw().describe_table().table_name(name).send().await.map_err(failed)?;
    let described = described.table.ok_or_else(|| failed("no table"))?;
    let names = |keys: &[KeySchemaElement]| keys.iter().map(|key| key.attribute_name().to_owned()).collect::<Vec<_>>();
    assert_eq!(names(described.key_schema()), ["pk", "sk"]);
    let [index] = described.local_secondary_indexes() else { panic!("{described:?}") };
    assert_eq!((index.index_name(), names(index.key_schema())), (Some("order"), vec!["pk".into(), "o".into()]));
    let projected = index.projection().map(|projection| projection.non_key_attributes().to_vec());
    assert_eq!(projected, Some(vec!["c".to_owned(), "d".to_owned()]));
    let ttl = table.raw().describe_time_to_live().table_name(name).send().await.map_err(failed)?;
    let attribute = ttl.time_to_live_description.and_then(|ttl| ttl.attribute_name);
    assert_eq!(attribute.as_deref(), Some("expires_at"));
    Ok(())
}

#[test]
fn without_a_table_every_call_returns_not_set_up() -> Result<()> {
    with_table(async |table| {
        let (name, store) = beside(table, "later").await?;
        let (ledger, key) = (store.ledger(&"ledger".parse()?)?, "key".parse()?);
        calls::are_refused(&store, ErrorKind::NotSetUp).await?;
        assert_eq!(ledger.value(&key).await.unwrap_err().kind(), ErrorKind::NotSetUp);
        store.setup().await?;
        ledger.value(&key).await?;
        calls::make_all(&store, "namespace").await?;
        store.maintain(10).await?;
        remove(table, &name).await
    })
}

/// One table has another key, and one table lacks the index. `setup` changes neither table.
#[test]
fn setup_refuses_a_table_of_another_shape_and_names_the_readme() -> Result<()> {
    with_table(async |table| {
        for keys in [&["id"][..], &["pk", "sk"]] {
            let (name, store) = beside(table, &format!("of-{}", keys.len())).await?;
            create(table, &name, keys).await?;
            let error = store.setup().await.unwrap_err();
            assert_eq!(error.kind(), ErrorKind::InvalidInput, "{error}");
            for word in ["pk", "sk", "order", "README"] {
                assert!(error.to_string().contains(word), "{error}");
            }
            remove(table, &name).await?;
        }
        Ok(())
    })
}

async fn create(table: &Table, name: &str, keys: &[&str]) -> Result<()> {
    let mut request = table.raw().create_table().table_name(name).billing_mode(BillingMode::PayPerRequest);
    for (key, kind) in keys.iter().zip([KeyType::Hash, KeyType::Range]) {
        let attribute = AttributeDefinition::builder().attribute_name(*key);
        let attribute = attribute.attribute_type(ScalarAttributeType::S).build().map_err(failed)?;
        let key = KeySchemaElement::builder().attribute_name(*key).key_type(kind).build().map_err(failed)?;
        request = request.attribute_definitions(attribute).key_schema(key);
    }
    request.send().await.map(drop).map_err(failed)
}

/// The namespace has a row format that only a newer version knows.
#[test]
fn namespaces_of_a_newer_library_are_refused() -> Result<()> {
    with_place(async |place| {
        let store = place.store().await?;
        let bank = store.item_bank(&"namespace".parse()?)?;
        bank.add(&[Item::new("code")?]).await?;
        let made = AttributeValue::S(format!("{}bank:9:namespace:namespace", place.prefix));
        let update = place.table.raw().update_item().table_name(&place.name);
        let update = update.key("pk", made).key("sk", AttributeValue::S("-".to_owned()));
        // The newer library has the next version.
        let update = update.update_expression("SET #schema = #schema + :one").condition_expression("#schema = :one");
        let update = update.expression_attribute_names("#schema", "schema");
        let update = update.expression_attribute_values(":one", AttributeValue::N("1".to_owned()));
        update.send().await.map_err(failed)?;
        let before = place.rows().await?;
        let refused =
            place.store().await?.item_bank(&"namespace".parse()?)?.take(&ClaimId::new("ada")?, Hold::Forever).await;
        let error = refused.unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Unsupported, "{error}");
        assert!(error.to_string().contains("newer"), "{error}");
        assert_eq!(place.rows().await?, before);
        Ok(())
    })
}

/// Another client with another number of shards opens the namespace later.
#[test]
fn a_namespace_keeps_its_number_of_shards() -> Result<()> {
    with_place(async |place| {
        let driver = place.table.client(None, None).await;
        let items: Vec<_> = (0..20).map(|number| Item::new(format!("code-{number}"))).collect::<Result<_>>()?;
        let first = place.builder().shards(3).from_client(&driver)?;
        first.item_bank(&"namespace".parse()?)?.add(&items).await?;
        let stores = [place.builder().shards(1), place.builder().shards(256)];
        for store in stores {
            let bank = store.from_client(&driver)?.item_bank(&"namespace".parse()?)?;
            assert_eq!(bank.add(&items).await?.already_present, 20);
            assert_eq!(bank.counts().await?.free, 20);
        }
        Ok(())
    })
}
