//! The calls that are void because they were refused after a lost attempt (ER-5), of claims and of operations.

use redb::{ReadableTable, TableDefinition};
use storagebox_core::backend::rules::VoidCalls;
use storagebox_core::{Attempt, Result};

use crate::client::Step;
use crate::error::Stepped;

/// A bank or a counter's namespace, with its kind; the key of the counter, or nothing; and the claim or the operation.
pub(crate) type Subject<'s> = (&'static str, &'s str, &'s str, &'s str);

/// A row: the numbers of the calls, the refusal of the last one, and until when both are kept.
type Row<'a> = (&'a str, u8, i64);

pub(crate) const VOID_CALLS: TableDefinition<Subject<'static>, Row<'static>> = TableDefinition::new("void calls");

/// Returns the refusal of an attempt whose call is void.
pub(crate) fn refusal(step: &Step, subject: Subject<'_>, attempt: Attempt) -> Stepped<Option<u8>> {
    Ok(read(step, subject)?.filter(|(calls, _)| calls.contain(attempt)).map(|(_, refusal)| refusal))
}

/// Makes the call of a refused attempt void, if the attempt is repeated.
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

/// Forgets void calls past their time.
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
