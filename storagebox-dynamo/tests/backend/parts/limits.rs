//! The limits of a transaction, and calls that cannot be a part of one.

use aws_sdk_dynamodb::types::AttributeValue;
use storagebox_core::{
    Attempt, Backend, Bounds, Change, ErrorKind, Hold, Item, ItemBank, MAX_PAYLOAD_BYTES, OrderedOptions, Payload,
    Recorded, Result, Retention, Stamp, Strategy, Taken,
};
use storagebox_dynamo::{DynamoStore, Parts};
use storagebox_testkit::checks::id;

use super::shop::Shop;
use crate::scene::with_place;
use crate::workload::STRATEGIES;

/// The length of the longest id, in bytes.
const LONG: usize = 512;

#[track_caller]
fn assert_refused<T: std::fmt::Debug>(called: Result<T>, kind: ErrorKind, words: &str) {
    let error = called.unwrap_err();
    assert!(error.kind() == kind && error.to_string().contains(words), "{error}");
}

#[test]
fn a_second_call_on_a_row_of_the_transaction_is_refused() -> Result<()> {
    with_place(async |place| {
        let store = place.store().await?;
        store.item_bank(&id("bank"))?.add(&[Item::new("1")?, Item::new("2")?]).await?;
        let mut parts = store.parts();
        let counters = Strategy::default();
        let (value, stamp) = (Payload::try_from("value")?, Stamp::new(1, id("ada")));
        let options = OrderedOptions::sequence();
        let _ = parts.assign(&id("bank"), &id("ada")).await?;
        let _ = parts.apply(&id("stock"), counters, &id("key"), &Change::new(id("a"), 1)).await?;
        let _ = parts.record(&id("ids"), &id("id"), &value, &id("op"), Retention::Forever).await?;
        let _ = parts.create_token(&id("mails"), &id("mail")).await?;
        let _ = parts.put(&id("values"), options, &id("key"), &value, &stamp).await?;
        let before = (parts.actions(), parts.bytes());

        let words = "each row once";
        assert_refused(parts.assign(&id("bank"), &id("ada")).await, ErrorKind::InvalidInput, words);
        let same_key = parts.apply(&id("stock"), counters, &id("key"), &Change::new(id("b"), 1)).await;
        assert_refused(same_key, ErrorKind::InvalidInput, words);
        let same_id = parts.record(&id("ids"), &id("id"), &value, &id("other"), Retention::Forever).await;
        assert_refused(same_id, ErrorKind::InvalidInput, words);
        assert_refused(parts.create_token(&id("mails"), &id("mail")).await, ErrorKind::InvalidInput, words);
        let same_key = parts.delete(&id("values"), options, &id("key"), &Stamp::new(2, id("ada"))).await;
        assert_refused(same_key, ErrorKind::InvalidInput, words);
        assert_eq!((parts.actions(), parts.bytes()), before);
        let other_key = parts.apply(&id("stock"), counters, &id("another"), &Change::new(id("a"), 1)).await?;
        assert_eq!(Shop::open(place).await?.send(&parts, vec![]).await?, None, "{other_key:?}");
        Ok(())
    })
}

#[test]
fn a_transaction_has_at_most_100_actions_and_4_mb() -> Result<()> {
    with_place(async |place| {
        let shop = Shop::open(place).await?;
        let mut parts = shop.store.parts();
        for number in 0..100 {
            let _ = parts.create_token(&id("mails"), &id(&format!("{number}"))).await?;
        }
        assert_refused(parts.create_token(&id("mails"), &id("100")).await, ErrorKind::TooLarge, "at most 100 actions");
        assert_refused(parts.after(vec![shop.order("1", "")]), ErrorKind::TooLarge, "at most 100 actions");
        assert_eq!(parts.actions(), 100);
        assert_eq!(shop.send(&parts, vec![]).await?, None);

        let (mut parts, large) = (shop.store.parts(), Payload::try_from(vec![0; MAX_PAYLOAD_BYTES])?);
        for number in 0..15 {
            let _ = recorded(&mut parts, &format!("{number}"), &large).await?;
        }
        let mut more = shop.store.parts();
        for number in 0..16 {
            let made = recorded(&mut more, &format!("more-{number}"), &large).await;
            match number {
                15 => assert_refused(made, ErrorKind::TooLarge, "at most 4194304 bytes"),
                _ => drop(made?),
            }
        }
        let order = |bytes| shop.order("1", &"x".repeat(bytes));
        assert_refused(parts.after(vec![order(300_000)]), ErrorKind::TooLarge, "at most 4194304 bytes");
        assert_eq!(shop.send(&parts, vec![order(200_000)]).await?, None);
        Ok(())
    })
}

async fn recorded(parts: &mut Parts, name: &str, value: &Payload) -> Result<Recorded> {
    parts.record(&id("ids"), &id(name), value, &id("op"), Retention::Forever).await
}

/// The transaction has the longest ids, a claim with the maximum of void calls, and an item whose claim has the longest
/// name.
#[test]
fn the_counted_bytes_are_at_least_those_of_the_rows() -> Result<()> {
    with_place(async |place| {
        let shop = Shop::open(place).await?;
        let long = |name: &str| format!("{name:-<LONG$}");
        let (bank, tokens, stock, ids) = (id(&long("bank")), id(&long("mails")), id(&long("stock")), id(&long("ids")));
        let own = shop.store.item_bank(&bank)?;
        for call in 0..Attempt::MAX_VOID as i64 {
            let attempt = Attempt::of_call(i64::MIN + call).again();
            assert_eq!(own.attempt_take(attempt, &id(&long("ada")), Hold::Forever).await?, Taken::Empty);
        }
        own.add(&[Item::new("1".repeat(1_024))?]).await?;
        let mut parts = shop.store.parts();
        let taken = parts.assign(&bank, &id(&long("ada"))).await?;
        assert!(matches!(taken, Taken::New(_)), "{taken:?}");
        let _ = parts.create_token(&tokens, &id(&long("mail"))).await?;
        let _ =
            parts.apply(&stock, Strategy::default(), &id("key"), &Change::new(id(&long("op")), i64::MIN + 1)).await?;
        let value = Payload::try_from("value")?;
        let _ = parts.record(&ids, &id(&long("id")), &value, &id(&long("op")), Retention::DEFAULT).await?;
        assert_eq!(shop.send(&parts, vec![]).await?, None);
        let rows: Vec<_> = place.rows().await?.into_iter().filter(|row| !row.contains_key("schema")).collect();
        assert_eq!(rows.len(), parts.actions());
        let bytes: usize = rows.iter().flatten().map(|(name, value)| name.len() + size(value)).sum();
        assert!((bytes..bytes + 4 * 3_072).contains(&parts.bytes()), "{bytes}, counted as {}", parts.bytes());
        Ok(())
    })
}

/// Returns the size of a value as DynamoDB's documentation defines it.
fn size(value: &AttributeValue) -> usize {
    let number =
        |number: &String| number.trim_start_matches('-').len().div_ceil(2) + 1 + usize::from(number.starts_with('-'));
    match value {
        AttributeValue::S(text) => text.len(),
        AttributeValue::N(text) => number(text),
        AttributeValue::B(bytes) => bytes.as_ref().len(),
        AttributeValue::Ns(numbers) => numbers.iter().map(number).sum(),
        other => panic!("{other:?}"),
    }
}

#[test]
fn only_marker_counters_work_in_a_transaction_of_the_caller() -> Result<()> {
    with_place(async |place| {
        let store = place.store().await?;
        let change = Change::new(id("op"), 1);
        for (name, strategy) in STRATEGIES.into_iter().chain([("Ledger", Strategy::Ledger)]) {
            let mut parts = store.parts();
            let applied = parts.apply(&id(name), strategy, &id("key"), &change).await;
            match strategy {
                Strategy::Marker { .. } => assert_eq!(applied.map(|_| parts.actions())?, 2),
                _ => assert_refused(applied, ErrorKind::Unsupported, "use Marker"),
            }
        }
        let reason = Change::new(id("op"), 1).within(Bounds::NONE).because("a reason".parse()?);
        let applied = store.parts().apply(&id("stock"), Strategy::default(), &id("key"), &reason).await;
        assert_refused(applied, ErrorKind::Unsupported, "use the strategy Ledger");
        Ok(())
    })
}

#[test]
fn the_refusal_of_a_callers_connection_names_an_alternative() {
    let store = DynamoStore::connect("dynamodb://eu-west-1/namespace").unwrap();
    assert_refused(store.within(&mut ()), ErrorKind::Unsupported, "use `DynamoStore::parts`");
}

/// The debug text contains no item, and the future of a call is `Send`.
#[test]
fn the_debug_text_of_parts_shows_only_their_size() -> Result<()> {
    with_place(async |place| {
        let store = place.store().await?;
        store.item_bank(&id("bank"))?.add(&[Item::new("secret")?]).await?;
        let call = tokio::spawn(async move {
            let mut parts = store.parts();
            let taken = parts.assign(&id("bank"), &id("ada")).await;
            (taken, parts)
        });
        let (taken, parts) = call.await.unwrap();
        assert!(matches!(taken?, Taken::New(_)));
        assert_eq!(format!("{parts:?}"), format!("Parts {{ actions: 2, bytes: {}, .. }}", parts.bytes()));
        assert_eq!(parts.items().len(), 2);
        assert_ne!(parts.request_token(), place.store().await?.parts().request_token());
        Ok(())
    })
}
