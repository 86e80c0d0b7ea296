//! Texts that would be something else if anybody read them as expressions or as keys: in every field of every part.

use std::time::Duration;

use storagebox_core::{
    Backend, Change, ClaimId, Counted, Counter, DedupId, DedupRepo, Error, ErrorKind, Hold, Item, ItemBank, ItemState,
    Key, LeaseRepo, Ledger, Namespace, OpId, Payload, Recorded, Result, Retention, Strategy, TokenId,
};
use storagebox_dynamo::DynamoStore;
use storagebox_testkit::checks::hostile::{self, Texts};

use crate::scene::{recorded, with_place};

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

/// The strategies that spell an operation otherwise.
async fn counters(store: &DynamoStore, text: &str) -> Result<()> {
    let key = Key::new(text)?;
    let change = Change::new(OpId::new(text)?, 7);
    for strategy in [Strategy::TokenSet { max: 9 }, Strategy::Optimistic] {
        let counters = store.counter(&format!("{}{}", text.len(), strategy_name(strategy)).parse()?, strategy)?;
        let first = counters.apply(&key, &change).await?;
        assert!(matches!(first, Counted::Applied { value: None | Some(7) }), "{text}: {first:?}");
        let again = counters.apply(&key, &change).await?;
        assert!(matches!(again, Counted::AlreadyApplied { value: None | Some(7) }), "{text}: {again:?}");
        assert_eq!(counters.value(&key).await?, 7, "{text}");
    }
    Ok(())
}

fn strategy_name(strategy: Strategy) -> &'static str {
    match strategy {
        Strategy::TokenSet { .. } => "set",
        _ => "optimistic",
    }
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

/// And the longest item.
#[test]
fn payloads_are_bytes_and_items_are_as_long_as_promised() -> Result<()> {
    with_place(async |place| {
        let store = place.store().await?;
        hostile::payloads_are_bytes(&*store.dedup_repo(&"records".parse()?)?).await?;
        let (bank, item) = (store.item_bank(&"b".repeat(512).parse()?)?, Item::new("\u{1f600}".repeat(256))?);
        bank.add(std::slice::from_ref(&item)).await?;
        let claim = ClaimId::new("i".repeat(512))?;
        let _ = bank.take(&claim, Hold::For(HOUR)).await?;
        assert_eq!(bank.holder(&item).await?, ItemState::Held(claim));
        Ok(())
    })
}

/// Names that would be another's keys, if they simply stood side by side.
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
            store.item_bank(&name.as_str().parse()?)?.add(&[Item::new(name.as_str())?]).await?;
            let (id, op) = (DedupId::new("id")?, OpId::new("op")?);
            let (records, value) = (store.dedup_repo(&name.as_str().parse()?)?, Payload::try_from(name.as_str())?);
            let recorded = records.record(&id, &value, &op, Retention::Forever).await?;
            assert!(matches!(recorded, Recorded::New(_)), "{name}");
        }
        for name in &names {
            let listed = store.item_bank(&name.as_str().parse()?)?.list(None, 10).await?.entries;
            assert_eq!(listed.iter().map(|one| one.item.as_str()).collect::<Vec<_>>(), [name.as_str()]);
            let found = store.dedup_repo(&name.as_str().parse()?)?.get(&DedupId::new("id")?).await?;
            assert_eq!(found.map(|entry| entry.value), Some(Payload::try_from(name.as_str())?));
        }
        Ok(())
    })
}

/// A key and an operation stand in one partition key, and so do a key and a shard.
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

/// What DynamoDB could not keep, and what makes no sense, never gets as far as a request.
#[test]
fn what_cannot_be_kept_is_refused_before_any_request() -> Result<()> {
    with_place(async |place| {
        let (store, faults) = recorded(&place.table, place.builder()).await?;
        for text in ["a\0b".to_owned(), "\0".to_owned(), "x".repeat(1_025), String::new()] {
            assert!(is_refused(Item::new(text.as_str())) && is_refused(ClaimId::new(text.as_str())));
            assert!(is_refused(DedupId::new(text.as_str())) && is_refused(OpId::new(text.as_str())));
            assert!(is_refused(Key::new(text.as_str())) && is_refused(TokenId::new(text.as_str())));
            assert!(is_refused(Namespace::new(text.as_str())));
        }
        assert!(is_refused(Payload::try_from(&vec![0_u8; 256 * 1024 + 1][..])));
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
