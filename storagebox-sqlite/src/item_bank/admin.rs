//! The administration of a bank: listing, withdrawing and restoring items.

use std::sync::Arc;

use sqlx::Row;
use sqlx::sqlite::SqliteRow;
use storagebox_core::backend::PageRequest;
use storagebox_core::{ClaimId, Cursor, Item, ItemState, ListedItem, Page, Restored, Result, Withdrawn};

use crate::client::{OpenNamespace, Step, Texts};
use crate::error::{read, unreadable};

const HOLDER: &str = include_str!("../../sql/item_bank/holder.sql");
const LIST: &str = include_str!("../../sql/item_bank/list.sql");
const RESTORE: &str = include_str!("../../sql/item_bank/restore.sql");
const WITHDRAW: &str = include_str!("../../sql/item_bank/withdraw.sql");

pub(super) async fn holder(bank: &Arc<OpenNamespace>, item: &Item) -> Result<ItemState> {
    let item = item.as_str().to_owned();
    let rows = bank.look("holder", HOLDER, move |ask| ask.bind(item.clone())).await?;
    rows.first().map_or(Ok(ItemState::Unknown), state)
}

pub(super) async fn list(bank: &Arc<OpenNamespace>, cursor: Option<&Cursor>, limit: usize) -> Result<Page<ListedItem>> {
    let listing = PageRequest::of::<Item>("sqlite", cursor, limit)?;
    let (after, most) = (listing.after().to_owned(), listing.limit());
    let rows = bank.look("list", LIST, move |ask| ask.bind(after.clone()).bind(most)).await?;
    let entries = rows.iter().map(listed).collect::<Result<_>>()?;
    Ok(listing.page(entries, |last: &ListedItem| last.item.as_str()))
}

fn listed(row: &SqliteRow) -> Result<ListedItem> {
    let item: String = read("an item", row.try_get("item"))?;
    Ok(ListedItem { item: Item::new(item).map_err(|_| unreadable("an item"))?, state: state(row)? })
}

fn state(row: &SqliteRow) -> Result<ItemState> {
    let claim: Option<String> = read("an item", row.try_get("claim"))?;
    let claim = claim.map(ClaimId::new).transpose().map_err(|_| unreadable("an item"))?;
    match (read::<String>("an item", row.try_get("state"))?.as_str(), claim) {
        ("free", _) => Ok(ItemState::Free),
        ("withdrawn", _) => Ok(ItemState::Withdrawn),
        ("spent", claim) => Ok(ItemState::Spent(claim)),
        ("held", Some(claim)) => Ok(ItemState::Held(claim)),
        _ => Err(unreadable("an item")),
    }
}

pub(super) async fn withdraw(step: &mut Step<'_>, items: &Texts) -> Result<Withdrawn> {
    let row = step.row(step.ask(WITHDRAW).bind(items.json()).bind(step.now.0)).await?;
    let count = |column| count(row.as_ref(), column);
    let (withdrawn, already_withdrawn, in_use) = (count("free")?, count("withdrawn")?, count("in_use")?);
    let unknown = items.count().saturating_sub(withdrawn + already_withdrawn + in_use);
    Ok(Withdrawn { withdrawn, already_withdrawn, in_use, unknown })
}

pub(super) async fn restore(step: &mut Step<'_>, items: &Texts) -> Result<Restored> {
    let row = step.row(step.ask(RESTORE).bind(items.json())).await?;
    let (restored, not_withdrawn) = (count(row.as_ref(), "withdrawn")?, count(row.as_ref(), "others")?);
    let unknown = items.count().saturating_sub(restored + not_withdrawn);
    Ok(Restored { restored, not_withdrawn, unknown })
}

fn count(row: Option<&SqliteRow>, column: &str) -> Result<u64> {
    let row = row.ok_or_else(|| unreadable("a count of items"))?;
    Ok(read::<i64>("a count of items", row.try_get(column))?.unsigned_abs())
}
