//! Whether what is stored grows once memory has ended.

use std::time::Duration;

use crate::size::Size;

/// In less, what is kept does not come to its level.
const SHORTEST: Duration = Duration::from_secs(10 * 60);

/// More than a level moves by itself.
const ENTRIES: f64 = 1.5;
/// Servers hold space that they do not use, and give it back when they like.
const BYTES: f64 = 2.0;
/// What need not be looked at: a page here and there.
const FEW_ENTRIES: f64 = 500.0;
const FEW_BYTES: f64 = 16.0 * 1024.0 * 1024.0;

/// The sizes of a store, as time goes on.
#[derive(Debug, Default)]
pub(crate) struct Growth(Vec<Size>);

impl Growth {
    pub(crate) fn add(&mut self, size: Size) {
        self.0.push(size);
    }

    /// The mean of the second quarter, when what is kept has come to its level, and of the last.
    pub(crate) fn levels(&self) -> Option<(Size, Size)> {
        let quarter = self.0.len() / 4;
        (quarter > 0).then(|| (mean(&self.0[quarter..2 * quarter]), mean(&self.0[self.0.len() - quarter..])))
    }

    /// Whether growth can be told after so much time.
    pub(crate) fn is_told_by(time: Duration) -> bool {
        time >= SHORTEST
    }

    /// What has grown in so much time.
    pub(crate) fn found(&self, time: Duration) -> Vec<String> {
        if !Self::is_told_by(time) {
            return vec![];
        }
        let Some((before, after)) = self.levels() else { return vec!["it was not measured".to_owned()] };
        let mut found = vec![];
        if let (Some(before), Some(after)) = (before.entries, after.entries)
            && has_grown(before, after, ENTRIES, FEW_ENTRIES)
        {
            found.push(format!("it grew from {before} entries to {after}"));
        }
        if has_grown(before.bytes, after.bytes, BYTES, FEW_BYTES) {
            found.push(format!("it grew from {} bytes to {}", before.bytes, after.bytes));
        }
        found
    }
}

fn has_grown(before: u64, after: u64, times: f64, few: f64) -> bool {
    after as f64 > before as f64 * times + few
}

fn mean(sizes: &[Size]) -> Size {
    let of = |figures: Vec<u64>| figures.iter().sum::<u64>() / figures.len().max(1) as u64;
    let entries: Option<Vec<_>> = sizes.iter().map(|size| size.entries).collect();
    Size { entries: entries.map(of), bytes: of(sizes.iter().map(|size| size.bytes).collect()) }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(entries: impl Iterator<Item = u64>) -> Growth {
        Growth(entries.map(|entries| Size { entries: Some(entries), bytes: entries * 100 }).collect())
    }

    #[test]
    fn a_level_does_not_grow_and_a_leak_does() {
        let level = (0..24).map(|sample| if sample < 3 { sample * 1_000 } else { 5_000 + sample % 2 * 500 });
        assert!(of(level).found(SHORTEST).is_empty());
        let leak = of((0..24).map(|sample| sample * 1_000));
        assert_eq!(leak.found(SHORTEST), ["it grew from 8500 entries to 20500"]);
        assert!(leak.found(SHORTEST / 2).is_empty(), "too short to tell");
        assert_eq!(of([].into_iter()).found(SHORTEST), ["it was not measured"]);
    }
}
