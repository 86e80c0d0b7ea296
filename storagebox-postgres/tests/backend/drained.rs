//! IB-8: a take reads no more after others have drained the bank, and it misses no free item.

use std::sync::Arc;
use std::time::Duration;

use sqlx::{AssertSqlSafe, PgConnection, query_scalar};
use storagebox_core::{Backend, ClaimId, Hold, Item, ItemBank, Released, Result, Taken};
use storagebox_postgres::PostgresStore;
use tokio::task::JoinSet;

use crate::scene::{count, in_place, session, tell, with_place};
use crate::support::{Behind, Buffers, Place, end_holds, failed, moved_clock, run};

/// An old snapshot keeps the dead rows of all items that were ever free.
#[test]
fn take_from_a_drained_bank_with_an_old_snapshot_reads_few_rows() -> Result<()> {
    with_place(async |place| Buffers::of_takes(place, 10_000, true).await.map(|read| read.assert_flat()))
}

#[test]
fn take_from_a_nearly_drained_big_bank_reads_few_dead_rows() -> Result<()> {
    with_place(async |place| Buffers::of_a_section(place, "start").await.map(|read| read.assert_flat()))
}

#[test]
fn take_after_joined_takes_reads_few_dead_rows() -> Result<()> {
    with_place(async |place| Buffers::of_a_section(place, "NULL").await.map(|read| read.assert_flat()))
}

/// A second cursor begins where a stopped cursor began. The second cursor reads the dead rows of at most two cells,
/// once.
#[test]
fn take_after_a_stopped_cursor_reads_few_dead_rows() -> Result<()> {
    with_place(async |place| Behind::walks(place, 0).await.map(|read| read.assert_within(4)))
}

/// Single takes and batches of takes alternate after a cursor has stopped.
#[test]
fn take_after_a_stopped_cursor_and_batches_reads_few_dead_rows() -> Result<()> {
    with_place(async |place| Behind::walks(place, 3).await.map(|read| read.assert_within(4)))
}

#[test]
fn take_from_an_empty_bank_after_ended_holds_reads_few_rows() -> Result<()> {
    with_place(async |place| Buffers::of_ended_holds(place).await.map(|read| read.assert_flat()))
}

/// Makes a take in a transaction, with `since` as the argument `p_since`. Returns whether the transaction locks a row
/// of this table.
async fn holds(place: &Place, since: &str, table: &str) -> Result<bool> {
    let schema = &place.schema;
    let take = format!("{schema}.bank_take(namespace, epoch, 'open', 0, false, NULL, NULL, 0, NULL, {since})");
    let mut open = session(place, &format!("SELECT {take} FROM {schema}.namespaces")).await?;
    let look = format!("SELECT FROM {schema}.{table} FOR KEY SHARE NOWAIT");
    let looked = run(place.database.owner(), look).await;
    tell(&mut open, "ROLLBACK").await?;
    match looked {
        Err(error) if error.to_string().contains("could not obtain lock") => Ok(true),
        looked => looked.map(|()| false),
    }
}

/// Releases update the rows of `bank_sections`, and takes with a hold that ends update the row of `bank_lapses`.
#[test]
fn joined_take_locks_no_row_that_other_calls_need() -> Result<()> {
    with_place(async |place| {
        let (bank, _old) = bank_of_ended_holds(place).await?;
        place.advance(24 * HOUR).await?;
        assert!(!holds(place, "NULL", "bank_lapses").await? && holds(place, "0", "bank_lapses").await?);
        bank.add(&[Item::new("last")?]).await?;
        let _ = bank.take(&ClaimId::new("last")?, Hold::Forever).await?;
        assert!(!holds(place, "NULL", "bank_sections").await? && holds(place, "0", "bank_sections").await?);
        Ok(())
    })
}

const HOUR: Duration = Duration::from_secs(3_600);

async fn look_past(place: &Place, claim: &str) -> Result<String> {
    let take = format!(
        "SELECT ({}.bank_take(namespace, epoch, '{claim}', 0, false, NULL, NULL, 0, NULL, 0))[1]",
        place.schema
    );
    let told = query_scalar(AssertSqlSafe(format!("{take} FROM {}.namespaces", place.schema)));
    told.fetch_one(place.database.owner()).await.map_err(failed)
}

/// Returns a bank in which each item was taken again after its hold ended, and a session whose old snapshot keeps dead
/// rows.
async fn bank_of_ended_holds(place: &Place) -> Result<(Arc<dyn ItemBank>, PgConnection)> {
    let bank = place.builder()?.connect(&place.url_at(place.database.server()))?.item_bank(&"namespace".parse()?)?;
    bank.counts().await?;
    let snapshot = format!("SET TRANSACTION ISOLATION LEVEL REPEATABLE READ; TABLE {}.namespaces", place.schema);
    let old = session(place, &snapshot).await?;
    end_holds(place, 300).await?;
    take_all(&bank).await?;
    Ok((bank, old))
}

/// A hold ends before its take commits. Another take then looks for ended holds and does not see the uncommitted hold.
#[test]
fn later_take_finds_a_hold_that_lapsed_before_its_commit() -> Result<()> {
    with_place(async |place| {
        let (bank, _old) = bank_of_ended_holds(place).await?;
        bank.add(&[Item::new("item")?]).await?;
        let schema = &place.schema;
        let take = format!(
            "SELECT {schema}.bank_take(namespace, epoch, 'slow', 0, false, 3600000000, NULL, 0, NULL, 0) FROM {schema}.namespaces"
        );
        let mut slow = session(place, &take).await?;
        place.advance(24 * HOUR).await?;
        assert_eq!(look_past(place, "past").await?, "busy");
        tell(&mut slow, "COMMIT").await?;
        let taken = bank.take(&ClaimId::new("next")?, Hold::Forever).await?;
        assert!(matches!(taken, Taken::New(_)), "{taken:?}");
        Ok(())
    })
}

/// After the clock is set back, a hold ends before the time from which takes look for lapsed holds.
#[test]
fn take_finds_a_hold_that_lapses_before_the_lapse_bound() -> Result<()> {
    with_place(async |place| {
        let (bank, _old) = bank_of_ended_holds(place).await?;
        place.advance(24 * HOUR).await?;
        assert_eq!(look_past(place, "past").await?, "empty");
        let schema = &place.schema;
        let passed = format!("SELECT count(*) FROM {schema}.bank_lapses WHERE since > now() + interval '23 hours'");
        assert_eq!(count(&place.database, &passed).await?, 1, "nothing was passed over");
        run(place.database.owner(), moved_clock(schema, Duration::ZERO)).await?;
        bank.add(&[Item::new("item")?]).await?;
        let _ = bank.take(&ClaimId::new("short")?, Hold::For(HOUR)).await?;
        place.advance(Duration::ZERO).await?;
        let taken = bank.take(&ClaimId::new("next")?, Hold::Forever).await?;
        assert!(matches!(taken, Taken::New(_)), "{taken:?}");
        Ok(())
    })
}

const TASKS: usize = 8;
const ROUNDS: usize = 40;
const ITEMS: usize = 600;
pub(crate) const SECTIONS: [i64; 2] = [-1 << 55, 255 << 55];

pub(crate) fn items(place: &Place, section: i64, name: &str, items: usize) -> String {
    let sql = include_str!("../support/fill_section.sql").replace("'item-'", &format!("'{name}-'"));
    sql.replace("n::text", &format!("'{name}' || n"))
        .replace("{schema}", &place.schema)
        .replace("{section}", &format!("({section})"))
        .replace("{items}", &items.to_string())
}

/// Counts the free items that no take finds, because the bit of their cell or section is wrong.
const HIDDEN: &str = "
    SELECT count(*) FROM {schema}.free_items f
    LEFT JOIN {schema}.bank_cells c ON c.bank = f.bank AND c.section = {schema}.bank_section_of(f.h)
    LEFT JOIN {schema}.bank_sections s ON s.bank = f.bank AND s.part = c.section / 64
    WHERE (get_bit(c.cells, {schema}.bank_cell_of(f.h, length(c.cells))) = 1
        AND get_bit(s.bits::bit(64), 63 - c.section % 64) = 1) IS NOT TRUE";

pub(crate) async fn assert_none_is_hidden(place: &Place) -> Result<()> {
    let hidden = count(&place.database, &HIDDEN.replace("{schema}", &place.schema)).await?;
    assert_eq!(hidden, 0, "free items that no taker finds");
    Ok(())
}

/// Takes items and releases three of every four items. Returns the number of items that were kept.
async fn take_and_release(bank: Arc<dyn ItemBank>, task: usize) -> Result<usize> {
    let mut kept = 0;
    for round in 0..ROUNDS {
        let claim = ClaimId::new(format!("{task}-{round}"))?;
        let taken = bank.take(&claim, Hold::Forever).await?;
        assert!(matches!(taken, Taken::New(_)), "{taken:?}");
        if round % 4 == 0 {
            kept += 1;
        } else {
            assert_eq!(bank.release(&claim).await?, Released::Released);
        }
    }
    Ok(kept)
}

async fn take_all(bank: &Arc<dyn ItemBank>) -> Result<usize> {
    for taken in 0.. {
        if bank.take(&ClaimId::new(format!("last-{taken}"))?, Hold::Forever).await? == Taken::Empty {
            return Ok(taken);
        }
    }
    unreachable!("a bank without end")
}

/// The released item is the only free item in its cell and section.
#[test]
fn take_finds_an_item_released_into_a_drained_bank() -> Result<()> {
    with_place(async |place| {
        let store = place.builder()?.connect(&place.url_at(place.database.server()))?;
        let bank = store.item_bank(&"namespace".parse()?)?;
        bank.add(&[Item::new("item")?]).await?;
        for round in 0..3 {
            let claim = ClaimId::new(format!("claim-{round}"))?;
            let taken = bank.take(&claim, Hold::Forever).await?;
            assert!(matches!(taken, Taken::New(_)), "{taken:?} in round {round}");
            assert_eq!(bank.take(&ClaimId::new("other")?, Hold::Forever).await?, Taken::Empty);
            let left = format!("SELECT count(*) FROM {}.bank_sections WHERE bits <> 0", place.schema);
            assert_eq!(count(&place.database, &left).await?, 0, "its section has a bit still");
            assert_eq!(bank.release(&claim).await?, Released::Released);
            assert_none_is_hidden(place).await?;
        }
        Ok(())
    })
}

/// Some callers drain cells, while other callers release and add items.
#[tokio::test(flavor = "multi_thread")]
async fn takers_find_items_released_or_added_to_drained_cells() -> Result<()> {
    in_place(async |place| {
        let store: PostgresStore = place.builder()?.connect(&place.url_at(place.database.server()))?;
        let bank = store.item_bank(&"namespace".parse()?)?;
        bank.counts().await?;
        run(place.database.owner(), items(place, SECTIONS[0], "first", ITEMS)).await?;
        let mut takers = JoinSet::new();
        for task in 0..TASKS {
            takers.spawn(take_and_release(Arc::clone(&bank), task));
        }
        for batch in 0..20 {
            let section = SECTIONS[batch % 2];
            run(place.database.owner(), items(place, section, &format!("more{batch}"), 60)).await?;
        }
        let kept: Vec<usize> = takers.join_all().await.into_iter().collect::<Result<_>>()?;
        assert_none_is_hidden(place).await?;
        let cells = format!("SELECT min(length(cells))::bigint FROM {}.bank_cells", place.schema);
        assert!(count(&place.database, &cells).await? > 4, "the sections were never split");
        assert_eq!(take_all(&bank).await? + kept.iter().sum::<usize>(), ITEMS + 20 * 60);
        run(place.database.owner(), items(place, SECTIONS[1], "late", 50)).await?;
        assert_none_is_hidden(place).await?;
        assert!(matches!(bank.take(&ClaimId::new("late")?, Hold::Forever).await?, Taken::New(_)));
        Ok(())
    })
    .await
}
