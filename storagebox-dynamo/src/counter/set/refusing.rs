//! Refusals of a set. The refusal of a repeated attempt makes its call void (ER-5): the map `x` of the counter's row
//! stores it.
//!
//! The map is written as a whole, under the condition that it has not changed since it was read. So its size stays
//! within the limit, and void calls that are no longer remembered are left out.

use aws_sdk_dynamodb::types::AttributeValue;
use storagebox_core::{Attempt, Counted, Result};

use super::{Entered, Entrant, Next, Replaced, Set, Step};
use crate::client::{Client, Write};
use crate::clock::Millis;
use crate::counter::entries::{Entries, most_void_bytes, none, void_bytes, void_op, void_value};
use crate::counter::void_ops::VoidOp;
use crate::row::{Attributes, Row};

impl Set {
    /// Refuses an attempt. `seen` is the content of the counter's row, if the row exists.
    pub(super) fn refused(
        &self,
        client: &Client,
        entrant: &Entrant<'_>,
        attempt: Attempt,
        seen: Option<(&Entries<'_>, &Replaced)>,
        refusal: Counted,
    ) -> Result<Next> {
        let past = client.surely_past();
        let known = seen.and_then(|(_, replaced)| replaced.void.as_ref()).filter(|known| !self.is_past(known.at, past));
        let Some(void) = VoidOp::with(known, attempt, refusal, client.now())? else {
            return Ok(Next::End(Entered::Refused(refusal)));
        };
        let mut all = seen.map_or_else(Attributes::new, |(entries, _)| self.remembered(entries, past));
        all.insert(entrant.name.clone(), void_value(&void));
        if void_bytes(&all) > most_void_bytes(self.capacity) {
            return attempt.refused(Next::End(Entered::Refused(refusal)));
        }
        let all = AttributeValue::M(all);
        let write = match seen {
            Some((entries, replaced)) => voiding(entrant, entries, replaced, all),
            None => first_void(entrant, all),
        };
        Ok(Next::Make(Box::new(Step { write, refusal: Some(refusal) })))
    }

    /// Returns the void calls that are still remembered.
    fn remembered(&self, entries: &Entries<'_>, past: Millis) -> Attributes {
        let is_over = |value: &AttributeValue| void_op(value).is_some_and(|void| self.is_past(void.at, past));
        let all = entries.void().into_iter().flatten().filter(|(_, value)| !is_over(value));
        all.map(|(name, value)| (name.clone(), value.clone())).collect()
    }
}

/// Returns the write that stores these void calls if the operation was not added meanwhile.
fn voiding(entrant: &Entrant<'_>, entries: &Entries<'_>, replaced: &Replaced, all: AttributeValue) -> Write {
    let write = Write::update(&entrant.row).name("#op", &entrant.name).set("x", all);
    let (write, own) = replaced.own(write);
    match entries.void() {
        Some(seen) => {
            let write = write.value(":seen", AttributeValue::M(seen.clone()));
            write.only_if(format!("{own} AND x = :seen"))
        }
        None => write.only_if(format!("{own} AND attribute_not_exists(x)")),
    }
}

/// Returns the write of a counter's row that has only void calls.
fn first_void(entrant: &Entrant<'_>, all: AttributeValue) -> Write {
    let row = none(Row::new(&entrant.row).with("v", 0_i64)).with("x", all);
    Write::put(row).only_if("attribute_not_exists(pk)")
}
