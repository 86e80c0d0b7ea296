//! IB-8: which calls clear the bits of cells, and which may not.

use std::sync::Arc;

use storagebox_core::{Backend, ClaimId, Hold, ItemBank, Released, Result, Taken};

use crate::drained::assert_none_is_hidden;
use crate::scene::{blocked, session, tell, until, with_database, with_place};
use crate::support::{Behind, Place, failed, run};

/// Returns a bank with two cells of sixteen items. All items of the first cell are taken, but the cell is still marked
/// as having free items.
async fn drained_cell(place: &Place) -> Result<Arc<dyn ItemBank>> {
    let bank = place.builder()?.connect(&place.url_at(place.database.server()))?.item_bank(&"namespace".parse()?)?;
    bank.counts().await?;
    let sql = "
        SELECT {schema}.bank_add(b.namespace, array_agg(i.h ORDER BY i.h), array_agg('item-' || i.h ORDER BY i.h))
        FROM {schema}.namespaces b, LATERAL (SELECT h + 32 * n AS h FROM unnest(ARRAY[0, 1::bigint << 54]) h, generate_series(1, 16) n) i
        GROUP BY b.namespace;
        SELECT {schema}.bank_take(b.namespace, b.epoch, 'taken-' || n, 0, false, NULL, NULL, 0, NULL, 0) FROM {schema}.namespaces b, generate_series(1, 16) n";
    run(place.database.owner(), sql.replace("{schema}", &place.schema)).await?;
    Ok(bank)
}

const TAKES: [&str; 2] = [
    "bank_take(namespace, epoch, 'late', 0, false, NULL, NULL, 0, NULL, 0)",
    "bank_take_many(namespace, ARRAY['late'], ARRAY[NULL]::bigint[], NULL, 0, 0)",
];

/// A take with a snapshot from before a release could mark the cell of the released item as empty.
#[test]
fn a_take_at_another_isolation_level_hides_no_item() -> Result<()> {
    with_database(async |database| {
        for level in ["REPEATABLE READ", "SERIALIZABLE"] {
            for take in TAKES {
                refuse(&database.place().await?, level, take).await?;
            }
        }
        Ok(())
    })
}

async fn refuse(place: &Place, level: &str, take: &str) -> Result<()> {
    let (bank, schema) = (drained_cell(place).await?, &place.schema);
    let look = format!("SET TRANSACTION ISOLATION LEVEL {level}; TABLE {schema}.namespaces");
    let mut late = session(place, &look).await?;
    assert_eq!(bank.release(&ClaimId::new("taken-3")?).await?, Released::Released);
    let taken = tell(&mut late, &format!("SELECT {schema}.{take} FROM {schema}.namespaces")).await;
    tell(&mut late, if taken.is_ok() { "COMMIT" } else { "ROLLBACK" }).await?;
    assert_none_is_hidden(place).await?;
    assert!(taken.is_err_and(|error| error.to_string().contains("READ COMMITTED")));
    Ok(())
}

/// A transaction releases an item of the first cell and takes it again, which clears the bit of the second cell. A release
/// to the second cell waits for the transaction, and must see the cleared bit.
#[test]
fn a_release_after_an_exchange_in_a_transaction_hides_no_item() -> Result<()> {
    with_place(async |place| {
        let (bank, schema) = (drained_cell(place).await?, &place.schema);
        let taken = "
            SELECT {schema}.bank_take(b.namespace, b.epoch, 'taken-' || n, 0, false, NULL, NULL, 0, NULL, 0)
            FROM {schema}.namespaces b, generate_series(17, 32) n";
        run(place.database.owner(), taken.replace("{schema}", schema)).await?;
        let exchange = format!(
            "SELECT {schema}.bank_release(namespace, 'taken-1', NULL) FROM {schema}.namespaces;
             SELECT {schema}.bank_take_within(namespace, epoch, 'late', 0, false, NULL, NULL, 1::bigint << 54, NULL, NULL)
             FROM {schema}.namespaces"
        );
        let mut exchanging = session(place, &exchange).await?;
        let release = tokio::spawn({
            let bank = Arc::clone(&bank);
            async move { bank.release(&ClaimId::new("taken-17")?).await }
        });
        until("a release that waits", async || Ok(blocked(&place.database, schema).await? == 1)).await?;
        tell(&mut exchanging, "COMMIT").await?;
        assert_eq!(release.await.map_err(failed)??, Released::Released);
        assert_none_is_hidden(place).await?;
        assert!(matches!(bank.take(&ClaimId::new("next")?, Hold::Forever).await?, Taken::New(_)));
        Ok(())
    })
}

/// The last item of a section is withdrawn in a transaction that stays open. A load to the next section does not wait.
#[test]
fn an_open_withdrawal_blocks_no_load_to_another_section() -> Result<()> {
    with_place(async |place| {
        let (bank, schema) = (drained_cell(place).await?, &place.schema);
        let of = |call: &str| format!("SELECT {schema}.{call} FROM {schema}.namespaces");
        run(place.database.owner(), of("bank_add(namespace, ARRAY[3::bigint << 55], ARRAY['only'])")).await?;
        let mut withdrawing =
            session(place, &of("bank_withdraw(namespace, ARRAY[3::bigint << 55], ARRAY['only'])")).await?;
        run(place.database.owner(), of("bank_add(namespace, ARRAY[4::bigint << 55], ARRAY['other'])")).await?;
        tell(&mut withdrawing, "COMMIT").await?;
        assert_eq!((bank.counts().await?.free, bank.counts().await?.withdrawn), (17, 1));
        assert_none_is_hidden(place).await
    })
}

/// A withdrawal clears the bits of the cells that it empties, so takes skip the dead rows of these cells.
#[test]
fn take_after_withdrawals_reads_few_dead_rows() -> Result<()> {
    with_place(async |place| {
        Behind::withdrawals(place).await?.assert_within(3);
        Ok(())
    })
}

/// A load of known items sets no bit of a cell, so takes skip the dead rows that the load leaves.
#[test]
fn take_after_loads_of_known_items_reads_few_dead_rows() -> Result<()> {
    with_place(async |place| {
        Behind::loads(place).await?.assert_within(3);
        Ok(())
    })
}
