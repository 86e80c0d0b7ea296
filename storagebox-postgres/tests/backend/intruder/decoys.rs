//! A decoy for each of our names that could be resolved elsewhere.

use sqlx::query_scalar;
use storagebox_core::{Backend, Result};
use storagebox_postgres::{PostgresStore, Statements};

use super::{Intruder, elsewhere};
use crate::scene::{owner_url, with_place};
use crate::support::{Place, failed, run};
use crate::upgrade::namespaces;
use crate::{interface, round_trips};

const DECOYS: &str = include_str!("decoys.sql");

/// The part of a URL with which a session finds the decoys in `public` before the server's own objects.
const DECOYS_FIRST: &str = "&options=-c%20search_path%3Dpublic%2Cpg_catalog";

/// Creates decoys in `public`. If `exact` is true, some decoys have exactly the argument types of the server's own
/// objects.
async fn decoys(place: &Place, exact: bool) -> Result<Intruder<'_>> {
    let made = query_scalar(DECOYS).bind(&place.schema).bind(exact).fetch_all(place.database.owner());
    let made: Vec<String> = made.await.map_err(failed)?;
    assert!(made.len() > 1_000, "only {} decoys", made.len());
    Intruder::leaves(&place.database, &made.join(";")).await
}

async fn every_call(place: &Place, settings: &str) -> Result<()> {
    let url = format!("{}{settings}", place.url_at(place.database.server()));
    let store = place.builder()?.connect(&url)?;
    namespaces::fill(&store).await?;
    namespaces::check(&store).await?;
    for (statements, name) in [(Statements::Prepared, "prepared"), (Statements::Simple, "simple")] {
        let mut metered = round_trips::metered(place, statements, settings).await?;
        round_trips::every_call(&mut metered, name).await?;
    }
    interface::call_each(place, &url).await?;
    store.maintain(1_000).await.map(drop)
}

#[test]
fn each_call_ignores_decoys_that_are_first_in_the_search_path() -> Result<()> {
    with_place(async |place| {
        let intruder = decoys(place, true).await?;
        let outcome = every_call(place, DECOYS_FIRST).await;
        intruder.goes().await?;
        outcome
    })
}

#[test]
fn setup_ignores_decoys_that_are_first_in_the_search_path() -> Result<()> {
    with_place(async |place| {
        let intruder = decoys(place, true).await?;
        let url = format!("{}{DECOYS_FIRST}", owner_url(&place.database, "setup"));
        let outcome = PostgresStore::builder().schema("among_decoys")?.connect(&url)?.setup().await;
        let found = elsewhere(&place.database, "among_decoys").await;
        intruder.goes().await?;
        outcome?;
        assert_eq!(found?, Vec::<String>::new());
        Ok(())
    })
}

/// The functions call the server's objects with exactly matching argument types, so decoys with other types are not
/// chosen.
#[test]
fn functions_without_a_search_path_ignore_decoys() -> Result<()> {
    with_place(async |place| {
        let intruder = decoys(place, false).await?;
        let strip = "SELECT string_agg(format('ALTER FUNCTION %s RESET search_path', oid::regprocedure), ';')
            FROM pg_proc WHERE pronamespace = $1::regnamespace";
        let strip: String =
            query_scalar(strip).bind(&place.schema).fetch_one(place.database.owner()).await.map_err(failed)?;
        run(place.database.owner(), strip).await?;
        let outcome = every_call(place, "").await;
        intruder.goes().await?;
        outcome
    })
}
