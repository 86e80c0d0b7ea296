//! Texts that have another meaning in expressions or in keys, in every field of every part.

use std::time::Duration;

use storagebox_conformance::keeps_text;
use storagebox_core::{
    Backend, Change, ClaimId, Counted, Counter, DedupId, DedupRepo, Error, ErrorKind, Hold, Item, ItemBank, ItemState,
    Key, LeaseRepo, Ledger, OpId, Payload, Result, Retention, Strategy,
};
use storagebox_dynamo::DynamoStore;
use storagebox_testkit::checks::hostile::Texts;

use crate::scene::{recorded, with_place};
use crate::support::failed;

const HOUR: Duration = Duration::from_secs(3_600);

const TEXTS: Texts = Texts {
    short: &[
        ":pk",
        "#n",
        "pk",
        "attribute_not_exists(pk)",
        "= :was OR pk <> :was",
        "{\"S\":\"x\"}",
        "\", \"sk\": {\"S\": \"",
        "\\",
        "\\\\\"",
        "\\u0000",
        "'; drop table x; --",
        "0",
        "-",
        "namespace",
        "op:",
        "sum",
        "bank:3:abc:items:0",
        "1:a:",
        "%00",
        "\u{1}\t\r\n\u{7f}\u{feff}\u{2028}",
    ],
    long: &[("\"", 512), ("\\", 512), (":", 512)],
};

#[test]
fn every_text_comes_back_byte_for_byte() -> Result<()> {
    with_place(async |place| {
        let store = place.store().await?;
        TEXTS.are_kept(&store).await?;
        for text in TEXTS.all() {
            counters(&store, &text).await?;
            ledgers(&store, &text).await?;
        }
        Ok(())
    })
}

/// Makes a change with each of the strategies that store operations in different ways.
async fn counters(store: &DynamoStore, text: &str) -> Result<()> {
    let key = Key::new(text)?;
    let change = Change::new(OpId::new(text)?, 7);
    for strategy in [Strategy::TokenSet { max: 9 }, Strategy::Optimistic] {
        let counters = store.counter(&format!("{} {strategy:?}", text.len()).parse()?, strategy)?;
        let first = counters.apply(&key, &change).await?;
        assert!(matches!(first, Counted::Applied { value: None | Some(7) }), "{text}: {first:?}");
        let again = counters.apply(&key, &change).await?;
        assert!(matches!(again, Counted::AlreadyApplied { value: None | Some(7) }), "{text}: {again:?}");
        assert_eq!(counters.value(&key).await?, 7, "{text}");
    }
    Ok(())
}

async fn ledgers(store: &DynamoStore, text: &str) -> Result<()> {
    let (ledger, key) = (store.ledger(&"ledger".parse()?)?, Key::new(text)?);
    let change = Change::new(OpId::new(text)?, 7);
    assert_eq!(ledger.apply(&key, &change).await?, Counted::Applied { value: None }, "{text}");
    assert_eq!(ledger.apply(&key, &change).await?, Counted::AlreadyApplied { value: None }, "{text}");
    assert_eq!(ledger.value(&key).await?, 7, "{text}");
    assert_eq!(ledger.log(&key, None, 10).await?.entries.len(), 1, "{text}");
    Ok(())
}

#[test]
fn the_longest_item_and_ids_are_stored() -> Result<()> {
    with_place(async |place| {
        let store = place.store().await?;
        let (bank, item) = (store.item_bank(&"b".repeat(512).parse()?)?, Item::new("\u{1f600}".repeat(256))?);
        bank.add(std::slice::from_ref(&item)).await?;
        let claim = ClaimId::new("i".repeat(512))?;
        let _ = bank.take(&claim, Hold::For(HOUR)).await?;
        assert_eq!(bank.holder(&item).await?, ItemState::Held(claim));
        Ok(())
    })
}

/// If keys were joined from their components without lengths, each of these names would form the key of another
/// namespace.
#[test]
fn no_name_reaches_the_rows_of_another_namespace() -> Result<()> {
    with_place(async |place| {
        let store = place.store().await?;
        let mut names = ["abc", "abc:items", "abc:items:0", "3:abc", "bank:3:abc", ":", "", "abc:"]
            .map(|name| format!("{}{name}", place.prefix))
            .to_vec();
        names.extend(["abc", "bank:3:abc:items:0", "bank:3:abc:", "abc:claims:0"].map(str::to_owned));
        names.push(format!("bank:3:abc:{}", "x".repeat(501)));
        for name in &names {
            keeps_text(&store, name).await.map_err(failed)?;
        }
        Ok(())
    })
}

/// A partition key contains a counter's key, and then an operation or a shard.
#[test]
fn no_key_reaches_the_rows_of_another_key() -> Result<()> {
    with_place(async |place| {
        let store = place.store().await?;
        let counters = store.counter(&"counters".parse()?, Strategy::default())?;
        let pairs = [("a", "1:b"), ("a:1", "b"), ("a:1:", "b"), ("a", ":1:b"), ("1:a", "b"), ("a:", "1:b")];
        for (key, op) in pairs {
            let change = Change::new(OpId::new(op)?, 1);
            let counted = counters.apply(&Key::new(key)?, &change).await?;
            assert!(matches!(counted, Counted::Applied { .. }), "{key} {op}: {counted:?}");
        }
        let ledger = store.ledger(&"ledger".parse()?)?;
        for key in ["a", "a:", "1:a:", "1:a"] {
            let key = Key::new(key)?;
            let _ = ledger.apply(&key, &Change::new(OpId::new("op")?, 1)).await?;
            assert_eq!(ledger.value(&key).await?, 1, "{key:?}");
        }
        Ok(())
    })
}

fn is_refused<T>(answer: std::result::Result<T, Error>) -> bool {
    answer.err().is_some_and(|error| [ErrorKind::InvalidInput, ErrorKind::TooLarge].contains(&error.kind()))
}

/// The calls have values that DynamoDB cannot store, such as the longest duration, or values without a meaning, such as
/// a limit of 0.
#[test]
fn values_that_cannot_be_stored_are_refused_before_any_request() -> Result<()> {
    with_place(async |place| {
        let (store, faults) = recorded(&place.table, place.builder()).await?;
        let (bank, claim) = (store.item_bank(&"namespace".parse()?)?, ClaimId::new("ada")?);
        assert!(is_refused(bank.take(&claim, Hold::For(Duration::ZERO)).await));
        assert!(is_refused(bank.extend(&claim, Hold::For(Duration::MAX)).await));
        assert!(is_refused(bank.list(None, 0).await));
        let (id, op) = (DedupId::new("id")?, OpId::new("op")?);
        let leases = store.lease_repo(&"namespace".parse()?)?;
        assert!(is_refused(leases.begin(&id, &op, Duration::ZERO, None).await));
        let for_nothing = Retention::For(Duration::ZERO);
        let value = Payload::try_from("value")?;
        assert!(is_refused(store.dedup_repo(&"namespace".parse()?)?.record(&id, &value, &op, for_nothing).await));
        assert!(is_refused(store.counter(&"namespace".parse()?, Strategy::TokenSet { max: u32::MAX })));
        assert_eq!(faults.taken(), [], "requests were sent");
        Ok(())
    })
}
