//! How a cursor uses a hint about where more items may be free.

use storagebox_core::{Backend, ClaimId, Hold, Item, ItemBank, Result, Taken};

use crate::scene::{count, with_place};
use crate::support::{Place, run};

/// Returns the SQL of a replacement for `bank_take` that records hints. The function answers `word` to a take with a
/// hint, and `empty` otherwise.
fn answering(place: &Place, word: &str) -> String {
    let sql = "
        CREATE TABLE {schema}.hints (till bigint);
        CREATE OR REPLACE FUNCTION {schema}.bank_take(
            p_bank bigint, p_epoch bigint, p_claim text, p_call bigint, p_is_repeated boolean, p_hold bigint, p_memory bigint,
            p_start bigint, p_till bigint, p_since bigint
        ) RETURNS text[] LANGUAGE plpgsql SECURITY DEFINER AS $$
        BEGIN
            INSERT INTO {schema}.hints VALUES (p_till);
            RETURN ARRAY[CASE WHEN p_till IS NULL THEN 'empty' ELSE '{word}' END];
        END $$";
    sql.replace("{schema}", &place.schema).replace("{word}", word)
}

/// Consecutive takes use one cursor, which must drop a hint that led to no free item.
#[test]
fn hint_without_a_free_item_is_not_used_again() -> Result<()> {
    for word in ["empty", "busy"] {
        with_place(async |place| {
            let builder = place.builder()?.combining(false);
            let bank = builder.connect(&place.url_at(place.database.server()))?.item_bank(&"namespace".parse()?)?;
            let items = (0..5_000).map(|number| Item::new(format!("item-{number}")));
            bank.add(&items.collect::<Result<Vec<_>>>()?).await?;
            for number in 0..4 {
                let taken = bank.take(&ClaimId::new(format!("first-{number}"))?, Hold::Forever).await?;
                assert!(matches!(taken, Taken::New(_)), "{taken:?}");
            }
            run(place.database.owner(), answering(place, word)).await?;
            for number in 0..4 {
                let taken = bank.take(&ClaimId::new(format!("then-{number}"))?, Hold::Forever).await?;
                assert_eq!(taken, Taken::Empty);
            }
            let hints = count(&place.database, &format!("SELECT count(till) FROM {}.hints", place.schema)).await?;
            assert_eq!(hints, 1, "{word}");
            Ok(())
        })?;
    }
    Ok(())
}
