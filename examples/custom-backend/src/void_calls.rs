//! The calls of claims and operations that are void because an attempt was lost and a later attempt was refused (ER-5).

use redb::{ReadableTable, TableDefinition};
use storagebox_core::backend::rules::VoidCalls;
use storagebox_core::{Attempt, Result};

use crate::client::Step;
use crate::error::Stepped;

/// The subject of a call: `claim` or `operation`, the namespace, the counter's key (empty for a bank), and the id of
/// the claim or operation.
pub(crate) type Subject<'s> = (&'static str, &'s str, &'s str, &'s str);

/// A row: the list of the void calls, the refusal that the last of them returned, and the time until which the row is
/// kept.
type Row<'a> = (&'a str, u8, i64);

pub(crate) const VOID_CALLS: TableDefinition<Subject<'static>, Row<'static>> = TableDefinition::new("void calls");

/// Returns the earlier refusal of a call if this attempt is void.
pub(crate) fn refusal(step: &Step, subject: Subject<'_>, attempt: Attempt) -> Stepped<Option<u8>> {
    Ok(read(step, subject)?.filter(|(calls, _)| calls.contain(attempt)).map(|(_, refusal)| refusal))
}

/// Makes all earlier attempts of a refused call void, if there are any.
pub(crate) fn refuse(step: &Step, subject: Subject<'_>, attempt: Attempt, refusal: u8, until: i64) -> Stepped<()> {
    let (mut calls, _) = read(step, subject)?.unwrap_or_default();
    if calls.refuse(attempt)? {
        step.edit(VOID_CALLS)?.insert(subject, (calls.to_string().as_str(), refusal, until))?;
    }
    Ok(())
}

pub(crate) fn forget(step: &Step, subject: Subject<'_>) -> Stepped<()> {
    step.edit(VOID_CALLS)?.remove(subject)?;
    Ok(())
}

pub(crate) fn maintain(step: &Step, most: usize) -> Stepped<usize> {
    let now = step.now;
    step.delete(VOID_CALLS, most, |_, (_, _, until)| until <= now)
}

fn read(step: &Step, subject: Subject<'_>) -> Stepped<Option<(VoidCalls, u8)>> {
    let table = step.table(VOID_CALLS)?;
    let Some(row) = table.get(subject)? else { return Ok(None) };
    let (calls, refusal, until) = row.value();
    let calls: Result<VoidCalls> = calls.parse();
    Ok((step.now < until).then_some((calls?, refusal)))
}
