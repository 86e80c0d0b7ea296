//! Calls in one batch: the outcome of one call does not affect the others.

use sqlx::{AssertSqlSafe, Connection, PgConnection, query_scalar};
use storagebox_core::{Backend, ClaimId, ClaimState, Counts, Item, ItemBank, Result};

use crate::scene::{LONG, blocked, count, session, tell, until, with_place};
use crate::support::failed;

/// Another session inserts the claim `bob` while the batch runs. The batch serves all other claims.
#[test]
fn batch_take_skips_only_the_claim_that_another_call_inserts() -> Result<()> {
    with_place(async |place| {
        let url = place.url_at(place.database.server());
        let bank = place.builder()?.call_timeout(LONG).connect(&url)?.item_bank(&"namespace".parse()?)?;
        bank.add(&["first", "second", "third"].map(Item::new).into_iter().collect::<Result<Vec<_>>>()?).await?;
        let schema = &place.schema;
        let number = count(&place.database, &format!("SELECT namespace FROM {schema}.namespaces")).await?;
        let claim = format!(
            "INSERT INTO {schema}.claims (bank, claim, state, h, item) VALUES ({number}, 'bob', 'held', 0, 'other')"
        );
        let mut other = session(place, &claim).await?;
        let batch = format!(
            "SELECT claims FROM {schema}.bank_take_many({number}, '{{ada,bob,carol}}', '{{NULL,NULL,NULL}}', NULL, {start}, {start})",
            start = i64::MIN + 1
        );
        let mut connection = PgConnection::connect(&url).await.map_err(failed)?;
        let together = async { query_scalar(AssertSqlSafe(batch)).fetch_one(&mut connection).await.map_err(failed) };
        let commit = async {
            until("a batch that waits", async || Ok(blocked(&place.database, schema).await? == 1)).await?;
            tell(&mut other, "COMMIT").await
        };
        let (taken, ()): (Vec<String>, ()) = tokio::try_join!(together, commit)?;
        assert_eq!(taken, ["ada", "carol"]);
        for claim in ["ada", "carol"] {
            let state = bank.get(&ClaimId::new(claim)?).await?;
            assert!(matches!(state, ClaimState::Held(_)), "{claim}: {state:?}");
        }
        assert_eq!(bank.counts().await?, Counts { free: 1, held: 3, spent: 0, withdrawn: 0 });
        Ok(())
    })
}
