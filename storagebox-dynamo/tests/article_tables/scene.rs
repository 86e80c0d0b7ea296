//! Calls on the tables, and checks of their rows afterwards.

use std::collections::{BTreeMap, BTreeSet};

use storagebox_core::{ClaimId, Item, Result, Taken};
use storagebox_dynamo::ArticleTables;
use tokio::task::JoinSet;

use crate::support::{Articles, failed};

/// Makes one call per id, all at the same time. Returns the outcomes in the order of the ids.
pub(crate) async fn at_once(
    tables: &ArticleTables,
    ids: impl IntoIterator<Item = String>,
) -> Result<Vec<(String, Result<Taken>)>> {
    let mut calls = JoinSet::new();
    for (number, id) in ids.into_iter().enumerate() {
        let tables = tables.clone();
        calls.spawn(async move {
            let answer = tables.assign(id.as_str()).await;
            (number, id, answer)
        });
    }
    let mut answers = calls.join_all().await;
    answers.sort_by_key(|(number, ..)| *number);
    Ok(answers.into_iter().map(|(_, id, answer)| (id, answer)).collect())
}

pub(crate) async fn assign(tables: &ArticleTables, id: &str) -> Result<Item> {
    let taken = tables.assign(id).await?;
    taken.item().cloned().ok_or_else(|| failed(format_args!("{id} was told {taken:?}")))
}

/// How many outcomes are `New`, how many are `Again`, and how many are `Empty`.
pub(crate) type Tally = (usize, usize, usize);

pub(crate) fn tally(answers: &[(String, Result<Taken>)]) -> Tally {
    let count = |is: fn(&Taken) -> bool| answers.iter().filter(|(_, answer)| answer.as_ref().is_ok_and(is)).count();
    (
        count(|taken| matches!(taken, Taken::New(_))),
        count(|taken| matches!(taken, Taken::Again(_))),
        count(|taken| matches!(taken, Taken::Empty)),
    )
}

/// Returns the free and the given items. Reads both again if a late request moved an item between the two reads.
async fn at_one_moment(articles: &Articles) -> Result<(BTreeSet<String>, BTreeMap<String, String>)> {
    loop {
        let given = articles.given().await?;
        let free = articles.free().await?;
        if articles.given().await? == given {
            return Ok((free, given));
        }
    }
}

/// Checks that each item is either free or given to one id, that none is missing, and that all outcomes are true.
pub(crate) async fn ensure_conserved(
    articles: &Articles,
    items: usize,
    answers: &[(String, Result<Taken>)],
) -> Result<()> {
    let (free, given) = at_one_moment(articles).await?;
    let out: BTreeSet<_> = given.values().cloned().collect();
    assert_eq!(out.len(), given.len(), "items that were given to two");
    assert!(free.is_disjoint(&out), "items that were given and are free");
    assert_eq!(free.len() + out.len(), items, "items that are free or given");
    for (id, answer) in answers {
        if let Some(item) = answer.as_ref().ok().and_then(Taken::item) {
            assert_eq!(given.get(id).map(String::as_str), Some(item.as_str()), "what {id} was told");
        }
    }
    Ok(())
}

pub(crate) async fn given(tables: &ArticleTables, id: &str) -> Result<Option<Item>> {
    tables.get(&ClaimId::new(id)?).await
}
