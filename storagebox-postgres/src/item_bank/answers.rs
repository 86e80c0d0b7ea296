//! Maps the functions' answers to outcomes.

use std::collections::HashMap;
use std::time::Duration;

use sqlx::Row;
use sqlx::postgres::PgRow;
use storagebox_core::backend::PageRequest;
use storagebox_core::{
    Attempt, ClaimId, ClaimState, Confirmed, Counts, End, Extended, Held, HoldState, Item, ItemState, ListedItem, Page,
    Released, Restored, Result, Retired, Taken, Withdrawn,
};

use crate::client::hash;
use crate::error::{read, unreadable};

/// The state of a claim as a function of the schema returns it: a word for the state, and the texts that belong to it.
pub(super) struct ClaimView {
    function: &'static str,
    words: Vec<String>,
}

impl ClaimView {
    pub(super) fn of(row: &PgRow, function: &'static str) -> Result<Self> {
        Ok(Self { function, words: texts(read(function, row.try_get(0))?) })
    }

    pub(super) fn word(&self) -> Result<&str> {
        self.text(0)
    }

    fn text(&self, index: usize) -> Result<&str> {
        self.words.get(index).map(String::as_str).ok_or_else(|| unreadable(self.function))
    }

    /// Whether the claim has a row but is neither held nor ended: the claim is forgotten, or has void calls.
    fn is_unknown(&self) -> bool {
        matches!(self.text(0), Ok("forgotten" | "unknown"))
    }

    pub(super) fn item(&self, index: usize) -> Result<Item> {
        Item::new(self.text(index)?).map_err(|_| unreadable(self.function))
    }

    pub(super) fn number(&self, index: usize) -> Result<i64> {
        self.text(index)?.parse().map_err(|_| unreadable(self.function))
    }

    fn held(&self) -> Result<Held> {
        let hold = match self.text(2)? {
            "forever" => HoldState::Forever,
            "confirmed" => HoldState::Confirmed,
            _ => HoldState::Remaining(Duration::from_micros(self.number(2)?.unsigned_abs())),
        };
        Ok(Held { item: self.item(1)?, hold })
    }

    fn end(&self) -> Result<End> {
        match self.text(1)? {
            "released" => Ok(End::Released),
            "expired" => Ok(End::Expired),
            _ => Err(unreadable(self.function)),
        }
    }

    pub(super) fn taken(&self) -> Result<Taken> {
        match self.word()? {
            "again" => Ok(Taken::Again(self.held()?)),
            "ended" => Ok(Taken::Ended(self.end()?)),
            _ => Err(unreadable(self.function)),
        }
    }

    pub(super) fn extended(&self, attempt: Attempt) -> Result<Extended> {
        match self.word()? {
            "extended" => Ok(Extended::Extended(self.held()?)),
            "again" => Ok(Extended::Confirmed(self.held()?)),
            "ended" => Ok(Extended::Ended(self.end()?)),
            "unknown" => Ok(Extended::Unknown),
            "open" => attempt.refused(Extended::Unknown),
            _ => Err(unreadable(self.function)),
        }
    }

    pub(super) fn confirmed(&self, attempt: Attempt) -> Result<Confirmed> {
        match self.word()? {
            "again" => Ok(Confirmed::Confirmed(self.item(1)?)),
            "ended" => Ok(Confirmed::Ended(self.end()?)),
            "unknown" => Ok(Confirmed::Unknown),
            "open" => attempt.refused(Confirmed::Unknown),
            _ => Err(unreadable(self.function)),
        }
    }

    pub(super) fn claim_state(&self) -> Result<ClaimState> {
        match self.word()? {
            "again" => Ok(ClaimState::Held(self.held()?)),
            "ended" => Ok(ClaimState::Ended(self.end()?)),
            "unknown" => Ok(ClaimState::Unknown),
            _ => Err(unreadable(self.function)),
        }
    }
}

/// Returns the texts of an array that has no nulls. In an answer to a simple statement, the driver reads the text
/// `NULL` as a null.
pub(crate) fn texts(array: Vec<Option<String>>) -> Vec<String> {
    array.into_iter().map(|text| text.unwrap_or_else(|| "NULL".to_owned())).collect()
}

pub(super) fn number(row: &PgRow, function: &'static str, column: usize) -> Result<u64> {
    Ok(read::<i64>(function, row.try_get(column))?.unsigned_abs())
}

fn word(row: &PgRow, function: &'static str) -> Result<String> {
    read(function, row.try_get(0))
}

pub(super) enum Observed {
    /// This call took the item for the claim.
    New(Item),
    AlreadyKnown(ClaimView),
}

/// Returns the hash of the last item that a batch took, and the answers by claim. A claim that is to be served alone
/// has no answer.
pub(super) fn taken_many(row: &PgRow) -> Result<(Option<i64>, HashMap<String, Observed>)> {
    const FUNCTION: &str = "bank_take_many";
    let new = column(row, "claims")?.into_iter().zip(column(row, "items")?);
    let new = new.map(|(claim, item)| {
        let item = Item::new(text(item)?).map_err(|_| unreadable(FUNCTION))?;
        Ok((text(claim)?, Observed::New(item)))
    });
    let words = column(row, "words")?.into_iter().zip(column(row, "firsts")?).zip(column(row, "seconds")?);
    let known = column(row, "known")?.into_iter().zip(words).map(|(claim, ((word, first), second))| {
        Ok((
            text(claim)?,
            Observed::AlreadyKnown(ClaimView {
                function: FUNCTION,
                words: [word, first, second].into_iter().flatten().collect(),
            }),
        ))
    });
    let known =
        known.filter(|observed| !matches!(observed, Ok((_, Observed::AlreadyKnown(view))) if view.is_unknown()));
    let observed = new.chain(known).collect::<Result<_>>()?;
    Ok((read(FUNCTION, row.try_get("h"))?, observed))
}

fn column(row: &PgRow, name: &str) -> Result<Vec<Option<String>>> {
    let column: Option<_> = read("bank_take_many", row.try_get(name))?;
    Ok(column.unwrap_or_default())
}

fn text(value: Option<String>) -> Result<String> {
    value.ok_or_else(|| unreadable("bank_take_many"))
}

pub(super) fn released(row: &PgRow) -> Result<Released> {
    match word(row, "bank_release")?.as_str() {
        "released" => Ok(Released::Released),
        "expired" => Ok(Released::Expired),
        "confirmed" => Ok(Released::Confirmed),
        _ => Err(unreadable("bank_release")),
    }
}

pub(super) fn retired(row: &PgRow, attempt: Attempt) -> Result<Retired> {
    match word(row, "bank_retire")?.as_str() {
        "retired" => Ok(Retired::Retired),
        "holding" => Ok(Retired::Holding),
        "open" => attempt.refused(Retired::Holding),
        "unknown" => Ok(Retired::Unknown),
        _ => Err(unreadable("bank_retire")),
    }
}

pub(super) fn counts(row: &PgRow) -> Result<Counts> {
    let count = |column| number(row, "bank_counts", column);
    Ok(Counts { free: count(0)?, held: count(1)?, spent: count(2)?, withdrawn: count(3)? })
}

pub(super) fn add_withdrawn(report: &mut Withdrawn, row: &PgRow) -> Result<()> {
    let count = |column| number(row, "bank_withdraw", column);
    report.withdrawn += count(0)?;
    report.already_withdrawn += count(1)?;
    report.in_use += count(2)?;
    report.unknown += count(3)?;
    Ok(())
}

pub(super) fn add_restored(report: &mut Restored, row: &PgRow) -> Result<()> {
    let count = |column| number(row, "bank_restore", column);
    report.restored += count(0)?;
    report.not_withdrawn += count(1)?;
    report.unknown += count(2)?;
    Ok(())
}

pub(super) fn item_state(row: &PgRow) -> Result<ItemState> {
    state(row, "bank_holder")
}

fn state(row: &PgRow, function: &'static str) -> Result<ItemState> {
    let claim: Option<String> = read(function, row.try_get("claim"))?;
    let claim = claim.map(ClaimId::new).transpose().map_err(|_| unreadable(function))?;
    match (read::<String>(function, row.try_get("state"))?.as_str(), claim) {
        ("free", _) => Ok(ItemState::Free),
        ("withdrawn", _) => Ok(ItemState::Withdrawn),
        ("spent", claim) => Ok(ItemState::Spent(claim)),
        ("held", Some(claim)) => Ok(ItemState::Held(claim)),
        _ => Err(unreadable(function)),
    }
}

pub(super) fn page(rows: &[PgRow], listing: &PageRequest) -> Result<Page<ListedItem>> {
    let entries = rows.iter().map(listed).collect::<Result<_>>()?;
    Ok(listing.page(entries, |last: &ListedItem| last.item.as_str()))
}

fn listed(row: &PgRow) -> Result<ListedItem> {
    let item: String = read("bank_list", row.try_get("item"))?;
    let item = Item::new(item).map_err(|_| unreadable("bank_list"))?;
    Ok(ListedItem { item, state: state(row, "bank_list")? })
}

/// Returns the position after which a listing continues: the hash of the last listed item.
pub(super) fn place_after(listing: &PageRequest) -> i64 {
    if listing.after().is_empty() { i64::MIN } else { hash(listing.after()) }
}
