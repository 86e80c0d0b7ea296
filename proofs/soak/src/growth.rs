//! Detects that the stored data still grows after the remembered time has passed.

use std::time::Duration;

use crate::size::Size;

/// The shortest run in which growth can be detected.
const SHORTEST: Duration = Duration::from_secs(10 * 60);

/// The allowed growth of the number of entries.
const ENTRIES: Slack = Slack { times: 1.5, few: 500.0 };

/// The limit of a size: `times` the earlier size, plus `few`.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Slack {
    times: f64,
    few: f64,
}

impl Slack {
    /// The allowed growth of a server, which may keep or release unused space at any time.
    pub(crate) const SERVER: Self = Self { times: 2.0, few: 16.0 * 1024.0 * 1024.0 };
    /// The allowed growth of the memory in use, which is measured exactly.
    pub(crate) const IN_USE: Self = Self { times: 1.2, few: 512.0 * 1024.0 };

    fn is_passed(self, before: u64, after: u64) -> bool {
        after as f64 > before as f64 * self.times + self.few
    }
}

#[derive(Debug)]
pub(crate) struct Growth {
    sizes: Vec<Size>,
    bytes: Slack,
}

impl Growth {
    pub(crate) fn within(bytes: Slack) -> Self {
        Self { sizes: vec![], bytes }
    }

    pub(crate) fn add(&mut self, size: Size) {
        self.sizes.push(size);
    }

    /// Returns the mean sizes in the second and in the last quarter of the run.
    pub(crate) fn levels(&self) -> Option<(Size, Size)> {
        let (sizes, quarter) = (&self.sizes, self.sizes.len() / 4);
        (quarter > 0).then(|| (mean(&sizes[quarter..2 * quarter]), mean(&sizes[sizes.len() - quarter..])))
    }

    pub(crate) fn is_detectable_in(time: Duration) -> bool {
        time >= SHORTEST
    }

    /// Returns a message for each size that grew too much. Returns no messages if the run was too short.
    pub(crate) fn found(&self, time: Duration) -> Vec<String> {
        if !Self::is_detectable_in(time) {
            return vec![];
        }
        let Some((before, after)) = self.levels() else { return vec!["the size was not measured".to_owned()] };
        let mut found = vec![];
        if let (Some(before), Some(after)) = (before.entries, after.entries)
            && ENTRIES.is_passed(before, after)
        {
            found.push(format!("it grew from {before} entries to {after}"));
        }
        if self.bytes.is_passed(before.bytes, after.bytes) {
            found.push(format!("it grew from {} bytes to {}", before.bytes, after.bytes));
        }
        found
    }
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
        let sizes = entries.map(|entries| Size { entries: Some(entries), bytes: entries * 100 }).collect();
        Growth { sizes, bytes: Slack::SERVER }
    }

    #[test]
    fn a_leak_counts_as_growth_and_a_constant_level_does_not() {
        let level = (0..24).map(|sample| if sample < 3 { sample * 1_000 } else { 5_000 + sample % 2 * 500 });
        assert!(of(level).found(SHORTEST).is_empty());
        let leak = of((0..24).map(|sample| sample * 1_000));
        assert_eq!(leak.found(SHORTEST), ["it grew from 8500 entries to 20500"]);
        assert!(leak.found(SHORTEST / 2).is_empty(), "too short to tell");
        assert_eq!(of([].into_iter()).found(SHORTEST), ["the size was not measured"]);
    }

    #[test]
    fn leak_of_a_hundred_bytes_per_call_counts_as_growth() {
        // 100 calls per second for an hour.
        let sizes = (0..24).map(|sample| Size { entries: None, bytes: 2_000_000 + sample * 150 * 100 * 100 }).collect();
        let found = Growth { sizes, bytes: Slack::IN_USE }.found(6 * SHORTEST);
        assert_eq!(found, ["it grew from 14750000 bytes to 32750000"]);
        let level = (0..24).map(|sample| Size { entries: None, bytes: 2_000_000 + sample % 3 * 400_000 }).collect();
        assert!(Growth { sizes: level, bytes: Slack::IN_USE }.found(6 * SHORTEST).is_empty());
    }
}
