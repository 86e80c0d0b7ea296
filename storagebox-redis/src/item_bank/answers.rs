//! Reads the answers of the scripts.

use storagebox_core::{
    ClaimState, Confirmed, Counts, Cursor, End, Extended, Held, Hold, HoldState, Item, ItemState, ListedItem, Released,
    Result, Retired, Taken,
};

use crate::client::Answer;
use crate::page::not_ours;

fn held(answer: &Answer) -> Result<Held> {
    let hold = match answer.text(2)? {
        "forever" => HoldState::Forever,
        "confirmed" => HoldState::Confirmed,
        _ => HoldState::Remaining(answer.micros(2)?),
    };
    Ok(Held { item: answer.value(1)?, hold })
}

fn end(answer: &Answer) -> Result<End> {
    match answer.text(1)? {
        "released" => Ok(End::Released),
        "expired" => Ok(End::Expired),
        _ => Err(answer.unreadable()),
    }
}

pub(super) fn taken(answer: &Answer, hold: Hold) -> Result<Taken> {
    match answer.word()? {
        "new" => Ok(Taken::New(Held { item: answer.value(1)?, hold: whole(hold) })),
        "again" => Ok(Taken::Again(held(answer)?)),
        "ended" => Ok(Taken::Ended(end(answer)?)),
        "empty" => Ok(Taken::Empty),
        _ => Err(answer.unreadable()),
    }
}

fn whole(hold: Hold) -> HoldState {
    match hold {
        Hold::Forever => HoldState::Forever,
        Hold::For(duration) => HoldState::Remaining(duration),
    }
}

pub(super) fn extended(answer: &Answer) -> Result<Extended> {
    match answer.word()? {
        "extended" => Ok(Extended::Extended(held(answer)?)),
        "again" => Ok(Extended::Confirmed(held(answer)?)),
        "ended" => Ok(Extended::Ended(end(answer)?)),
        "unknown" => Ok(Extended::Unknown),
        _ => Err(answer.unreadable()),
    }
}

pub(super) fn confirmed(answer: &Answer) -> Result<Confirmed> {
    match answer.word()? {
        "again" => Ok(Confirmed::Confirmed(answer.value(1)?)),
        "ended" => Ok(Confirmed::Ended(end(answer)?)),
        "unknown" => Ok(Confirmed::Unknown),
        _ => Err(answer.unreadable()),
    }
}

pub(super) fn claim_state(answer: &Answer) -> Result<ClaimState> {
    match answer.word()? {
        "again" => Ok(ClaimState::Held(held(answer)?)),
        "ended" => Ok(ClaimState::Ended(end(answer)?)),
        "unknown" => Ok(ClaimState::Unknown),
        _ => Err(answer.unreadable()),
    }
}

pub(super) fn released(answer: &Answer) -> Result<Released> {
    match answer.word()? {
        "released" => Ok(Released::Released),
        "expired" => Ok(Released::Expired),
        "confirmed" => Ok(Released::Confirmed),
        _ => Err(answer.unreadable()),
    }
}

pub(super) fn retired(answer: &Answer) -> Result<Retired> {
    match answer.word()? {
        "retired" => Ok(Retired::Retired),
        "holding" => Ok(Retired::Holding),
        "unknown" => Ok(Retired::Unknown),
        _ => Err(answer.unreadable()),
    }
}

pub(super) fn counts(answer: &Answer) -> Result<Counts> {
    let count = |index| answer.count(index);
    Ok(Counts { free: count(0)?, held: count(1)?, spent: count(2)?, withdrawn: count(3)? })
}

/// Reads the state of an item from field `at`, and its claim from the next field.
pub(super) fn item_state(answer: &Answer, at: usize) -> Result<ItemState> {
    match (answer.text(at)?, answer.text(at + 1)?) {
        ("unknown", "") => Ok(ItemState::Unknown),
        ("free", "") => Ok(ItemState::Free),
        ("withdrawn", "") => Ok(ItemState::Withdrawn),
        ("spent", "") => Ok(ItemState::Spent(None)),
        ("spent", _) => Ok(ItemState::Spent(Some(answer.value(at + 1)?))),
        ("held", _) => Ok(ItemState::Held(answer.value(at + 1)?)),
        _ => Err(answer.unreadable()),
    }
}

/// The bucket and the item after which a listing continues. Without an item, the listing continues at the beginning of
/// the bucket.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Position {
    pub(super) bucket: u32,
    after: Option<Item>,
}

impl Position {
    pub(super) fn of(cursor: Option<&Cursor>) -> Result<Self> {
        let Some(cursor) = cursor else {
            return Ok(Self::default());
        };
        let (bucket, item) = cursor.as_str().split_once(':').ok_or_else(not_ours)?;
        let bucket = bucket.parse().map_err(|_| not_ours())?;
        let after = (!item.is_empty()).then(|| Item::new(item)).transpose().map_err(|_| not_ours())?;
        Ok(Self { bucket, after })
    }

    pub(super) fn cursor(&self) -> Cursor {
        Cursor::new(format!("{}:{}", self.bucket, self.after.as_ref().map_or("", Item::as_str)))
    }

    fn is_before(&self, bucket: u32, item: &Item) -> bool {
        bucket != self.bucket || self.after.as_ref().is_none_or(|after| after < item)
    }
}

/// Returns the entries after `from`, ordered by bucket and item, and the position of the next page.
pub(super) fn listed(answer: &Answer, from: &Position, limit: usize) -> Result<(Vec<ListedItem>, Option<Position>)> {
    let mut found = Vec::new();
    for at in answer.entries(4) {
        let (bucket, item) = (bucket(answer, at)?, answer.value(at + 1)?);
        if from.is_before(bucket, &item) {
            found.push((bucket, ListedItem { item, state: item_state(answer, at + 2)? }));
        }
    }
    found
        .sort_unstable_by(|(bucket, one), (other_bucket, other)| (bucket, &one.item).cmp(&(other_bucket, &other.item)));
    let cut = found.len() > limit;
    found.truncate(limit);
    let last = found.last().filter(|_| cut);
    let next = match last {
        Some((bucket, listed)) => Some(Position { bucket: *bucket, after: Some(listed.item.clone()) }),
        None if answer.text(0)?.is_empty() => None,
        None => Some(Position { bucket: bucket(answer, 0)?, after: None }),
    };
    Ok((found.into_iter().map(|(_, listed)| listed).collect(), next))
}

fn bucket(answer: &Answer, at: usize) -> Result<u32> {
    u32::try_from(answer.number(at)?).map_err(|_| answer.unreadable())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::client::fuzz;
    use crate::item_bank::{LIST, TAKE};

    #[test]
    fn fuzz_claim_answer_is_read_or_refused() {
        let known: &[&[&str]] = &[
            &["new", "code"],
            &["again", "code", "forever"],
            &["again", "code", "60000000"],
            &["extended", "code", "confirmed"],
            &["ended", "released"],
            &["empty"],
            &["released"],
            &["holding"],
        ];
        fuzz(
            &TAKE,
            known,
            &[
                |answer| taken(answer, Hold::Forever).map(drop),
                |answer| extended(answer).map(drop),
                |answer| confirmed(answer).map(drop),
                |answer| claim_state(answer).map(drop),
                |answer| released(answer).map(drop),
                |answer| retired(answer).map(drop),
            ],
        );
    }

    #[test]
    fn fuzz_bank_list_is_read_or_refused() {
        let known: &[&[&str]] = &[
            &["", "3", "code-1", "free", "", "3", "code-2", "held", "ada"],
            &["7", "4294967295", "code", "spent", "ada"],
            &["10", "20", "30", "40"],
        ];
        fuzz(
            &LIST,
            known,
            &[
                |answer| counts(answer).map(drop),
                |answer| item_state(answer, 0).map(drop),
                |answer| listed(answer, &Position { bucket: 3, after: Item::new("code-1").ok() }, 1).map(drop),
            ],
        );
    }

    #[test]
    fn fuzz_cursor_is_read_or_refused() {
        storagebox_fuzz::texts(&["0:", "7:code", "4294967295:a:b"], |text| {
            if let Ok(position) = Position::of(Some(&Cursor::new(text))) {
                assert_eq!(Position::of(Some(&position.cursor())).ok(), Some(position));
            }
        });
    }
}
