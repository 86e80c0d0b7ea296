//! Reads listings page by page to the end.

use std::collections::BTreeMap;

use storagebox_core::{Cursor, DedupRepo, Error, ItemBank, Key, OrderedStore, Page, Result};

use crate::failure::{Failure, Verdict, ensure, ensure_eq};
use crate::race::answered;

/// Page lengths above the number of entries that a store may read in one step.
pub(crate) const MANY_PAGES: [usize; 2] = [550, 1_000];

#[derive(Clone, Copy)]
pub(crate) enum Listing<'a> {
    Items(&'a dyn ItemBank),
    Records(&'a dyn DedupRepo),
    /// The values whose keys begin with the prefix, or all values.
    Values(&'a dyn OrderedStore, Option<&'a Key>),
}

impl Listing<'_> {
    /// Returns a page of the names of the entries.
    pub(crate) async fn page(&self, cursor: Option<&Cursor>, limit: usize) -> Result<Page<String>> {
        Ok(match self {
            Self::Items(bank) => named(bank.list(cursor, limit).await?, |entry| entry.item.as_str().to_owned()),
            Self::Records(records) => named(records.list(cursor, limit).await?, |entry| entry.id.into()),
            Self::Values(values, prefix) => {
                named(values.list(*prefix, cursor, limit).await?, |entry| entry.key.as_str().to_owned())
            }
        })
    }

    /// Returns how often each name is shown on pages of at most `limit` entries.
    pub(crate) async fn shown(&self, limit: usize) -> Result<BTreeMap<String, usize>, Failure> {
        let (mut shown, mut cursor) = (BTreeMap::new(), None);
        loop {
            let page = answered(|| self.page(cursor.as_ref(), limit)).await?;
            ensure!(page.entries.len() <= limit, "a page of {limit} has {} entries", page.entries.len());
            for name in page.entries {
                *shown.entry(name).or_insert(0) += 1;
            }
            cursor = after(cursor.as_ref(), page.next)?;
            if cursor.is_none() {
                return Ok(shown);
            }
        }
    }

    /// Checks that the pages show each of these names exactly once and no other name, for each of these page lengths.
    pub(crate) async fn ensure_shows(&self, names: impl IntoIterator<Item = String>, limits: &[usize]) -> Verdict {
        let expected: BTreeMap<_, _> = names.into_iter().map(|name| (name, 1)).collect();
        for limit in limits {
            ensure_eq!(self.shown(*limit).await?, expected, "what is listed in pages of {limit}, and how often");
        }
        Ok(())
    }
}

/// Returns the cursor after a page. Fails if the page ends where it began, because such a listing never ends.
pub(crate) fn after(cursor: Option<&Cursor>, next: Option<Cursor>) -> Result<Option<Cursor>> {
    match next.is_some() && next.as_ref() == cursor {
        true => Err(Error::corrupt("a listing", "a page ends with the cursor with which it began")),
        false => Ok(next),
    }
}

fn named<T>(page: Page<T>, name: impl Fn(T) -> String) -> Page<String> {
    Page { entries: page.entries.into_iter().map(name).collect(), next: page.next }
}
