//! The shards of a sharded counter. Each has a part of the value and of the bounds, so that a shard alone decides
//! whether it has room for a change.

use storagebox_core::{Bounds, Result};

use crate::client::{Tag, Write};
use crate::row::{Row, RowKey};

/// The row of a counter's shard. The numbers are wider than `i64`, so they do not overflow.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Part {
    pub(super) value: i128,
    /// How far the value may still go up in this shard.
    pub(super) up: i128,
    /// How far the value may still go down in this shard.
    pub(super) down: i128,
    /// How often the row was written; 0 if the row does not exist yet.
    pub(super) writes: i64,
}

impl Part {
    /// Creates the row of a shard that has no changes. A missing bound counts as the least or the greatest `i64`,
    /// so that the total stays in the range of `i64`.
    pub(super) fn new(bounds: Bounds, shards: u16, shard: u16) -> Self {
        let (floor, ceiling) = ends(bounds);
        let of = |room: i128| {
            let (all, index) = (i128::from(shards), i128::from(shard));
            room / all + i128::from(index < room % all)
        };
        Self { value: 0, up: of(ceiling), down: of(-floor), writes: 0 }
    }

    pub(super) fn read(row: &Row) -> Result<Self> {
        // No number of a part exceeds the range of the total.
        let is_possible = |number: &i128| number.unsigned_abs() <= u64::MAX.into();
        let number = |name| row.needed(name, row.number(name).filter(is_possible));
        Ok(Self {
            value: number("v")?,
            up: number("up")?,
            down: number("down")?,
            writes: row.needed("n", row.times("n"))?,
        })
    }

    /// Returns how far the value may still go in the direction of the delta.
    pub(super) fn room(&self, delta: i128) -> i128 {
        if delta < 0 { self.down } else { self.up }
    }

    /// Returns the row with `by` more room in the direction of the delta.
    #[must_use]
    pub(super) fn widened(mut self, delta: i128, by: i128) -> Self {
        *(if delta < 0 { &mut self.down } else { &mut self.up }) += by;
        self
    }

    #[must_use]
    pub(super) fn changed(self, delta: i128) -> Self {
        Self { value: self.value + delta, up: self.up - delta, down: self.down + delta, ..self }
    }

    /// Returns the write that stores these numbers if the row has not changed since the read.
    pub(super) fn write(&self, key: &RowKey, tag: &Tag) -> Write {
        let row =
            Row::new(key).with("v", self.value).with("up", self.up).with("down", self.down).with("n", self.writes + 1);
        let write = Write::put(row).tagged(tag);
        match self.writes {
            0 => write.only_if("attribute_not_exists(pk)"),
            writes => write.only_if("n = :seen").value(":seen", writes),
        }
    }

    /// Returns the write that applies the delta if the shard has room. A shard without a row starts from the numbers of
    /// `self`.
    pub(super) fn change(&self, key: &RowKey, delta: i128) -> Write {
        let write = Write::update(key)
            .set_to("v", "if_not_exists(v, :zero) + :delta")
            .set_to("up", "if_not_exists(up, :up) - :delta")
            .set_to("down", "if_not_exists(down, :down) + :delta")
            .set_to("n", "if_not_exists(n, :zero) + :one")
            .value(":zero", 0_i64)
            .value(":one", 1_i64)
            .value(":delta", delta)
            .value(":up", self.up)
            .value(":down", self.down);
        match delta {
            0 => write,
            _ => write.only_if(self.has_room(delta)).value(":needed", delta.abs()),
        }
    }

    fn has_room(&self, delta: i128) -> String {
        let side = if delta < 0 { "down" } else { "up" };
        match self.room(delta) >= delta.abs() {
            true => format!("(attribute_not_exists({side}) OR {side} >= :needed)"),
            false => format!("{side} >= :needed"),
        }
    }
}

/// Returns the share of a change for a shard. The shares of all shards add up to the delta.
pub(super) fn share(delta: i64, shards: u16, shard: u16) -> i128 {
    let (delta, all) = (i128::from(delta), i128::from(shards));
    delta / all + delta.signum() * i128::from(i128::from(shard) < (delta % all).abs())
}

fn ends(bounds: Bounds) -> (i128, i128) {
    (bounds.floor().unwrap_or(i64::MIN).into(), bounds.ceiling().unwrap_or(i64::MAX).into())
}

/// Returns whether the rows of all shards are consistent: their values and rooms must add up to the bounds.
pub(super) fn add_up(parts: &[Part], bounds: Bounds) -> bool {
    let (floor, ceiling) = ends(bounds);
    let lowest: i128 = parts.iter().map(|part| part.value - part.down).sum();
    let highest: i128 = parts.iter().map(|part| part.value + part.up).sum();
    (lowest, highest) == (floor, ceiling)
}

/// Returns the shards that lend room to shard `own`, each with its loan. Returns `None` if all shards together have too
/// little room.
pub(super) fn lenders(parts: &[Part], own: usize, delta: i128) -> Option<Vec<(usize, i128)>> {
    let mut missing = delta.abs() - parts[own].room(delta);
    let mut others: Vec<_> = (0..parts.len()).filter(|other| *other != own).collect();
    others.sort_by_key(|other| std::cmp::Reverse(parts[*other].room(delta)));
    let mut lenders = Vec::new();
    for other in others {
        if missing <= 0 {
            break;
        }
        let room = parts[other].room(delta);
        // A shard lends half of its room even if less is missing, so that the next change finds room too.
        let lent = (room / 2).max(missing).min(room);
        lenders.push((other, lent));
        missing -= lent;
    }
    (missing <= 0).then_some(lenders)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::row::fuzz;

    #[test]
    fn fuzz_shard_row_is_read_or_corrupt() {
        let row =
            Row::new(&RowKey::alone("part")).with("v", 7_i64).with("up", 3_i64).with("down", 7_i64).with("n", 1_i64);
        let read = |row: &Row| {
            let part = Part::read(row)?;
            let part = part.changed(i64::MIN.into()).widened(1, i64::MAX.into());
            let _ = (lenders(&[part, part], 0, i64::MAX.into()), add_up(&[part; 1_024], Bounds::NONE), part.writes + 1);
            Ok(())
        };
        fuzz(&[row], &[read]);
    }

    fn parts(bounds: Bounds, shards: u16) -> Vec<Part> {
        (0..shards).map(|shard| Part::new(bounds, shards, shard)).collect()
    }

    #[test]
    fn the_shards_of_a_new_counter_add_up_to_its_bounds() {
        let all = [Bounds::NONE, Bounds::at_least(0), Bounds::between(-7, 11).unwrap(), Bounds::between(0, 0).unwrap()];
        for bounds in all {
            for shards in [1, 2, 5, 1_024] {
                assert!(add_up(&parts(bounds, shards), bounds), "{bounds:?} over {shards}");
            }
        }
    }

    #[test]
    fn the_shares_of_a_change_add_up_and_differ_by_at_most_one() {
        for delta in [i64::MIN, -101, -100, -1, 0, 1, 7, 100, 101, i64::MAX] {
            for shards in [1, 2, 3, 7, 99] {
                let shares: Vec<_> = (0..shards).map(|shard| share(delta, shards, shard)).collect();
                assert_eq!(shares.iter().sum::<i128>(), delta.into(), "{delta} over {shards}");
                let (least, most) = (shares.iter().min().unwrap(), shares.iter().max().unwrap());
                assert!(most - least <= 1, "{delta} over {shards}");
            }
        }
    }

    /// A change succeeds if and only if all shards together have room, and no shard ever has negative room.
    #[test]
    fn loans_are_sufficient_and_never_exceed_the_room_of_a_lender() {
        let bounds = Bounds::between(-7, 11).unwrap();
        let (mut parts, mut total) = (parts(bounds, 5), 0);
        for step in 0..1_000_i128 {
            let (delta, own) = ((step * 7_919 % 13) - 6, (step % 5) as usize);
            let Some(lenders) = lenders(&parts, own, delta) else {
                assert!(!(-7..=11).contains(&(total + delta)), "{delta} on {total}");
                continue;
            };
            for (lender, lent) in lenders {
                parts[lender] = parts[lender].widened(delta, -lent);
                parts[own] = parts[own].widened(delta, lent);
            }
            parts[own] = parts[own].changed(delta);
            total += delta;
            assert!(parts.iter().all(|part| part.up >= 0 && part.down >= 0), "{parts:?}");
            assert!(add_up(&parts, bounds) && (-7..=11).contains(&total));
        }
    }

    #[test]
    fn rows_that_show_a_loan_in_only_one_shard_do_not_add_up() {
        let bounds = Bounds::at_least(-10);
        let mut parts = parts(bounds, 3);
        parts[0] = parts[0].widened(-1, 2);
        assert!(!add_up(&parts, bounds));
        parts[2] = parts[2].widened(-1, -2);
        assert!(add_up(&parts, bounds));
    }
}
