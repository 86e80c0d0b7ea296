//! Calls that raise an error, and leave nothing behind.

use storagebox_core::Result;

use super::{Caller, call_each};
use crate::scene::{count, with_place};
use crate::structure::contents;
use crate::support::{Place, run};

/// A call of each function, with `{}` in place of each text argument.
pub(super) const CALLS: &[&str] = &[
    "assign({}, {})",
    "confirm({}, {})",
    "release({}, {})",
    "get_claim({}, {})",
    r"record({}, {}, '\x00', {})",
    "get_record({}, {})",
    "begin_lease({}, {}, {}, '1 hour')",
    "begin_lease('fine', 'fine', 'fine', '1 hour', {})",
    "extend_lease({}, {}, {}, 7, '1 hour')",
    "complete_lease({}, {}, {}, 7, '')",
    "abort_lease({}, {}, {}, 7)",
    "create_token({}, {})",
    "consume({}, {}, {})",
    "discard_token({}, {})",
    "token_exists({}, {})",
    "add_to_counter({}, {}, {}, 1)",
    "counter_value({}, {})",
    "put({}, {}, '', 7, {})",
    "delete({}, {}, 7, {})",
    "get_value({}, {})",
];

const OTHERS: &[&str] = &[
    "assign('b', 'c', '0.9 milliseconds')",
    "assign('b', 'c', '-1 hour')",
    "assign('b', 'c', '101 years')",
    "record('r', 'i', NULL, 'o')",
    r"record('r', 'i', decode(repeat('00', 262145), 'hex'), 'o')",
    r"record('r', 'i', '', 'o', '0 seconds')",
    "begin_lease('r', 'i', 'o', NULL)",
    "begin_lease('r', 'i', 'o', '200 years')",
    "extend_lease('r', 'i', 'o', 7, NULL)",
    "extend_lease('r', 'i', 'o', NULL, '1 hour')",
    "complete_lease('r', 'i', 'o', NULL, '')",
    "complete_lease('r', 'i', 'o', 7, NULL)",
    "abort_lease('r', 'i', 'o', NULL)",
    "complete_lease('r', 'i', 'o', 7, decode(repeat('00', 262145), 'hex'))",
    "add_to_counter('c', 'k', 'o', NULL)",
    "add_to_counter('c', 'k', 'o', 1, 7, 6)",
    "put('o', 'k', NULL, 7, 'w')",
    "put('o', 'k', decode(repeat('00', 262145), 'hex'), 7, 'w')",
    "put('o', 'k', '', NULL, 'w')",
    "delete('o', 'k', NULL, 'w')",
];

/// Returns one call per text argument, with `text` as this argument and valid texts as the others.
fn each_with(call: &str, text: &str) -> Vec<String> {
    let parts: Vec<_> = call.split("{}").collect();
    let with = |bad: usize| {
        let texts = (1..parts.len()).map(|index| if index == bad { text } else { "'fine'" }).chain([""]);
        parts.iter().zip(texts).map(|(part, text)| format!("{part}{text}")).collect()
    };
    (1..parts.len()).map(with).collect()
}

#[test]
fn argument_beyond_its_limit_is_refused_and_leaves_nothing() -> Result<()> {
    with_place(async |place| {
        let mut caller = Caller::connect(place).await?;
        let bad = ["''", "NULL", "repeat('x', 513)", "repeat('ä', 257)"];
        let texts = CALLS.iter().flat_map(|call| bad.iter().flat_map(|text| each_with(call, text)));
        let calls = texts.chain(OTHERS.iter().map(|call| call.to_string()));
        let calls: Vec<_> = calls.filter(|call| !call.contains("'1 hour', NULL")).collect();
        assert!(calls.len() > 150, "{}", calls.len());
        for call in calls {
            assert_eq!(caller.refusal(&call).await, "SB005", "{call}");
        }
        let namespaces = format!("SELECT count(*) FROM {}.namespaces", place.schema);
        assert_eq!(count(&place.database, &namespaces).await?, 0);
        Ok(())
    })
}

#[test]
fn the_longest_arguments_are_accepted() -> Result<()> {
    with_place(async |place| {
        let mut caller = Caller::connect(place).await?;
        let text = "repeat('x', 512)";
        assert_eq!(caller.outcome(&format!("release({text}, {text})")).await?, "released");
        let bytes = "decode(repeat('00', 262144), 'hex')";
        let record = format!("record({text}, {text}, {bytes}, {text}, '100 years')");
        assert_eq!(caller.outcome(&record).await?, "new");
        let lease = format!("begin_lease({text}, 'lease', {text}, '1 millisecond', {text})");
        assert_eq!(caller.outcome(&lease).await?, "started");
        Ok(())
    })
}

/// Statements that begin a transaction in which every call is refused, each with the code of the refusal.
const TRANSACTIONS: [(&str, &str); 3] = [
    ("BEGIN ISOLATION LEVEL REPEATABLE READ", "SB002"),
    ("BEGIN ISOLATION LEVEL SERIALIZABLE", "SB002"),
    ("BEGIN READ ONLY", "25006"),
];

async fn are_refused(place: &Place) -> Result<()> {
    let mut caller = Caller::connect(place).await?;
    let before = contents(&place.database, &place.schema).await?;
    for call in CALLS.iter().map(|call| call.replace("{}", "'fine'")) {
        for (begin, code) in TRANSACTIONS {
            caller.run(begin).await?;
            assert_eq!(caller.refusal(&call).await, code, "{call}, {begin}");
            caller.run("ROLLBACK").await?;
        }
    }
    assert_eq!(contents(&place.database, &place.schema).await?, before);
    Ok(())
}

#[test]
fn other_isolation_levels_and_read_only_sessions_are_refused() -> Result<()> {
    with_place(async |place| {
        are_refused(place).await?;
        call_each(place, &place.url_at(place.database.server())).await?;
        are_refused(place).await
    })
}

/// The stored namespace has a strategy that only a later version knows, or has another name or kind with the same hash.
#[test]
fn namespace_with_another_kind_name_or_strategy_is_refused() -> Result<()> {
    with_place(async |place| {
        let mut caller = Caller::connect(place).await?;
        assert_eq!(caller.outcome("add_to_counter('stock', 'shoes', 'op', 1)").await?, "applied");
        assert_eq!(caller.outcome("release('bank', 'ada')").await?, "released");
        for (change, call) in [
            ("options = 'Marker for 7 moons' WHERE name = 'stock'", "add_to_counter('stock', 'shoes', 'op', 1)"),
            ("name = 'other' WHERE name = 'bank'", "release('bank', 'ada')"),
            ("kind = 'tokens' WHERE name = 'other'", "release('bank', 'ada')"),
        ] {
            run(place.database.owner(), format!("UPDATE {}.namespaces SET {change}", place.schema)).await?;
            let before = contents(&place.database, &place.schema).await?;
            assert_eq!(caller.refusal(call).await, "SB006", "{change}");
            assert_eq!(contents(&place.database, &place.schema).await?, before);
        }
        Ok(())
    })
}

/// Without the index, two callers could both be the first to take for a claim (IB-3).
#[test]
fn a_store_that_lost_an_index_or_its_epoch_is_refused() -> Result<()> {
    with_place(async |place| {
        let mut caller = Caller::connect(place).await?;
        assert_eq!(caller.outcome("assign('vouchers', 'ada')").await?, "empty");
        run(place.database.owner(), format!("ALTER INDEX {}.claims_by_claim RENAME TO gone", place.schema)).await?;
        assert_eq!(caller.refusal("assign('vouchers', 'ada')").await, "42P01");
        run(place.database.owner(), format!("DELETE FROM {}.store", place.schema)).await?;
        run(place.database.owner(), format!("ALTER INDEX {}.gone RENAME TO claims_by_claim", place.schema)).await?;
        for name in ["vouchers", "new"] {
            assert_eq!(caller.refusal(&format!("assign('{name}', 'ada')")).await, "SB001", "{name}");
        }
        Ok(())
    })
}
