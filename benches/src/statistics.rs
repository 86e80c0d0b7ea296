//! The statistics of the measurements of a row.

use std::time::Duration;

use crate::effort::Effort;

#[derive(Clone, Copy, Debug)]
pub(crate) struct Slice {
    pub(crate) calls: usize,
    pub(crate) elapsed: Duration,
    pub(crate) cpu: Option<Duration>,
    /// The resources that the server used during the measurement, if there is a server.
    pub(crate) effort: Option<Effort>,
}

impl Slice {
    pub(crate) fn rate(&self) -> f64 {
        self.calls as f64 / self.elapsed.as_secs_f64()
    }

    /// Returns the processor time per call, in microseconds.
    fn cpu_per_call(&self) -> Option<f64> {
        Some(self.cpu?.as_secs_f64() * 1e6 / self.calls as f64)
    }

    /// Returns the server's processor time per call, in microseconds.
    fn server_cpu_per_call(&self) -> Option<f64> {
        Some(self.effort?.cpu?.as_secs_f64() * 1e6 / self.calls as f64)
    }

    /// Returns the bytes of the server's write-ahead log per call.
    fn log_per_call(&self) -> Option<f64> {
        Some(self.effort?.log? as f64 / self.calls as f64)
    }

    fn requests_per_call(&self) -> Option<f64> {
        Some(self.effort?.requests? as f64 / self.calls as f64)
    }
}

#[derive(Clone, Copy, Debug)]
pub(crate) struct Round {
    pub(crate) ours: Slice,
    pub(crate) floor: Slice,
}

impl Round {
    fn ratio(&self) -> f64 {
        self.ours.rate() / self.floor.rate()
    }

    fn extra_cpu(&self) -> Option<f64> {
        Some(self.ours.cpu_per_call()? - self.floor.cpu_per_call()?)
    }
}

#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Costs {
    pub(crate) ours: f64,
    pub(crate) floor: f64,
}

/// The results of a row, most of them medians over the rounds.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Measured {
    pub(crate) ours: f64,
    pub(crate) floor: f64,
    pub(crate) ratio: f64,
    pub(crate) lowest: f64,
    pub(crate) highest: f64,
    /// The compared program's processor time per call, in microseconds.
    pub(crate) floor_cpu: Option<f64>,
    /// The processor time per call by which the library exceeds the compared program, in microseconds.
    pub(crate) extra_cpu: Option<f64>,
    /// The server's processor time per call, in microseconds.
    pub(crate) server_cpu: Option<Costs>,
    /// The bytes of the server's write-ahead log per call.
    pub(crate) log: Option<Costs>,
    /// The requests to the server per call.
    pub(crate) requests: Option<Costs>,
    pub(crate) rounds: usize,
    /// The number of rounds that were left out, because the compared program had less than half of its usual rate.
    pub(crate) skipped: usize,
}

impl Measured {
    pub(crate) fn of(rounds: &[Round]) -> Self {
        let usual = median(rounds.iter().map(|round| round.floor.rate()));
        // Another job slowed the machine in the rounds that are left out.
        let kept: Vec<_> = rounds.iter().filter(|round| round.floor.rate() >= usual / 2.0).collect();
        let ratios = || kept.iter().map(|round| round.ratio());
        Self {
            ours: median(kept.iter().map(|round| round.ours.rate())),
            floor: median(kept.iter().map(|round| round.floor.rate())),
            ratio: median(ratios()),
            lowest: ratios().fold(f64::INFINITY, f64::min),
            highest: ratios().fold(0.0, f64::max),
            floor_cpu: known_median(&kept, |round| round.floor.cpu_per_call()),
            extra_cpu: known_median(&kept, |round| round.extra_cpu()),
            server_cpu: costs(&kept, Slice::server_cpu_per_call),
            log: costs(&kept, Slice::log_per_call),
            requests: costs(&kept, Slice::requests_per_call),
            rounds: kept.len(),
            skipped: rounds.len() - kept.len(),
        }
    }
}

fn costs(rounds: &[&Round], of: fn(&Slice) -> Option<f64>) -> Option<Costs> {
    let ours = known_median(rounds, |round| of(&round.ours))?;
    Some(Costs { ours, floor: known_median(rounds, |round| of(&round.floor))? })
}

/// Returns the median over the rounds, or `None` if the value of a round is unknown.
fn known_median(rounds: &[&Round], of: impl Fn(&Round) -> Option<f64>) -> Option<f64> {
    let known: Option<Vec<_>> = rounds.iter().map(|round| of(round)).collect();
    known.map(|known| median(known.into_iter()))
}

/// Returns the median, or NaN if there are no values.
fn median(values: impl Iterator<Item = f64>) -> f64 {
    let mut values: Vec<f64> = values.collect();
    values.sort_by(f64::total_cmp);
    match (values.len() / 2, values.len() % 2) {
        (_, _) if values.is_empty() => f64::NAN,
        (middle, 0) => f64::midpoint(values[middle - 1], values[middle]),
        (middle, _) => values[middle],
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn slice(rate: usize, cpu_micros: u64) -> Slice {
        let cpu = Some(Duration::from_micros(cpu_micros));
        let effort = Effort { cpu, log: Some(100 * rate as u64), requests: Some(2 * rate as u64) };
        Slice { calls: rate, elapsed: Duration::from_secs(1), cpu, effort: Some(effort) }
    }

    fn round(ours: usize, floor: usize) -> Round {
        Round { ours: slice(ours, 3 * ours as u64), floor: slice(floor, floor as u64) }
    }

    #[test]
    fn median_is_the_middle_value() {
        assert_eq!(median([3.0, 1.0, 2.0].into_iter()), 2.0);
        assert_eq!(median([4.0, 1.0, 2.0, 3.0].into_iter()), 2.5);
        assert!(median([].into_iter()).is_nan());
    }

    #[test]
    fn ratio_is_the_median_of_the_ratios_of_the_rounds() {
        let measured = Measured::of(&[round(90, 100), round(50, 200), round(270, 300)]);
        assert_eq!(measured.ratio, 0.9);
        assert_eq!((measured.lowest, measured.highest), (0.25, 0.9));
        assert_eq!(measured.floor, 200.0);
        assert_eq!(measured.floor_cpu, Some(1.0));
        assert_eq!(measured.extra_cpu, Some(2.0));
        assert_eq!(measured.server_cpu, Some(Costs { ours: 3.0, floor: 1.0 }));
        assert_eq!(measured.log, Some(Costs { ours: 100.0, floor: 100.0 }));
        assert_eq!(measured.requests, Some(Costs { ours: 2.0, floor: 2.0 }));
    }

    #[test]
    fn round_is_left_out_if_the_compared_program_was_slow() {
        let measured = Measured::of(&[round(90, 100), round(90, 49), round(90, 100)]);
        assert_eq!((measured.rounds, measured.skipped), (2, 1));
        assert_eq!(measured.highest, 0.9);
    }

    #[test]
    fn cost_that_is_unknown_in_one_round_has_no_median() {
        let mut untold = round(90, 100);
        untold.floor.cpu = None;
        untold.ours.effort = None;
        let measured = Measured::of(&[round(90, 100), untold]);
        assert_eq!((measured.extra_cpu, measured.server_cpu, measured.log), (None, None, None));
    }
}
