//! A row of the table, which compares two sides.

use std::any::Any;
use std::fmt;

use futures_util::future::BoxFuture;

use crate::effort::Meter;
use crate::error::Result;

pub(crate) struct Row {
    /// The number of the target in the list of targets.
    pub(crate) id: &'static str,
    pub(crate) op: &'static str,
    pub(crate) backend: &'static str,
    /// The number of tasks that make calls concurrently.
    pub(crate) concurrency: usize,
    /// The number of calls of a trial, from which the driver estimates the rate of the compared program.
    pub(crate) guess: usize,
    pub(crate) meter: Option<Box<dyn Meter>>,
    pub(crate) target: Target,
    pub(crate) ours: Side,
    pub(crate) floor: Side,
}

/// The number of a target in the list of targets, and the measured operation.
#[cfg(any(feature = "postgres", feature = "redis"))]
pub(crate) type Name = (&'static str, &'static str);

impl Row {
    #[cfg(any(feature = "postgres", feature = "redis"))]
    pub(crate) fn on_server<S: Meter + Clone + 'static>(
        (backend, server): (&'static str, &S),
        (id, op): Name,
        concurrency: usize,
        target: Target,
        [ours, floor]: [Side; 2],
    ) -> Self {
        let (guess, meter) = (200.max(concurrency * 10), Some(Box::new(server.clone()) as _));
        Self { id, op, backend, concurrency, guess, meter, target, ours, floor }
    }

    pub(crate) fn name(&self) -> String {
        format!("{} {}, {}, {}", self.id, self.op, self.backend, self.concurrency)
    }
}

#[derive(Clone, Copy, Debug)]
pub(crate) struct Target {
    /// The minimum ratio of the library's rate to the rate of the compared program. Rows that only compare requests
    /// have the ratio 0.
    pub(crate) ratio: f64,
    /// The minimum rate of the library, in calls per second.
    pub(crate) rate: Option<f64>,
    /// The processor time per call by which the library may exceed the compared program, in microseconds.
    pub(crate) extra_cpu: Option<f64>,
    /// The maximum number of bytes that the server may write to its write-ahead log for each call of the library.
    pub(crate) log: Option<f64>,
    /// The minimum ratio of the compared program's requests to the library's requests.
    pub(crate) fewer_requests: Option<f64>,
}

impl Target {
    pub(crate) fn ratio(ratio: f64) -> Self {
        Self { ratio, rate: None, extra_cpu: None, log: None, fewer_requests: None }
    }
}

impl fmt::Display for Target {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let parts = [
            (self.ratio > 0.0).then(|| format!(">= {:.2}", self.ratio)),
            self.rate.map(|rate| format!(">= {rate:e}/s")),
            self.extra_cpu.map(|extra_cpu| format!("<= {extra_cpu} us CPU")),
            self.log.map(|log| format!("<= {log} B WAL")),
            self.fewer_requests.map(|fewer| format!("{fewer}x fewer requests")),
        ];
        f.write_str(&parts.into_iter().flatten().collect::<Vec<_>>().join(", "))
    }
}

/// One of the two programs that a row compares. The function prepares a measurement, outside the measured time.
pub(crate) struct Side(Box<dyn Fn(Load) -> BoxFuture<'static, Result<Prepared>>>);

impl Side {
    pub(crate) fn new<F>(prepare: impl Fn(Load) -> F + 'static) -> Self
    where
        F: Future<Output = Result<Prepared>> + Send + 'static,
    {
        Self(Box::new(move |load| Box::pin(prepare(load))))
    }

    pub(crate) fn prepare(&self, load: Load) -> BoxFuture<'static, Result<Prepared>> {
        (self.0)(load)
    }
}

pub(crate) type Work = BoxFuture<'static, Result<()>>;

pub(crate) struct Prepared {
    pub(crate) tasks: Vec<Work>,
    /// The data that the tasks work on. The driver drops the data after the measured time.
    pub(crate) world: Box<dyn Any + Send>,
}

/// The number of a measurement, with its numbers of calls and tasks. The ids of a measurement contain its number, so
/// that no other measurement uses them.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Load {
    pub(crate) slice: u32,
    pub(crate) calls: usize,
    pub(crate) tasks: usize,
}

impl Load {
    /// Returns one id per call. Ids have 36 bytes, as UUIDs have.
    pub(crate) fn ids(self) -> impl Iterator<Item = String> {
        (0..self.calls).map(move |call| format!("customer-{:08}-{call:018}", self.slice))
    }

    /// Returns one item of 17 bytes per call.
    pub(crate) fn items(self) -> impl Iterator<Item = String> {
        (0..self.calls).map(|call| format!("CODE-{call:012}"))
    }

    /// Returns the largest number of calls per task.
    pub(crate) fn share(self) -> usize {
        self.calls.div_ceil(self.tasks)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const LOAD: Load = Load { slice: 3, calls: 10, tasks: 4 };

    #[test]
    fn lengths_are_fixed_and_ids_differ_between_measurements() {
        assert!(LOAD.ids().all(|id| id.len() == 36));
        assert!(LOAD.items().all(|item| item.len() == 17));
        assert_eq!(LOAD.ids().count(), 10);
        assert_ne!(LOAD.ids().next(), Load { slice: 4, ..LOAD }.ids().next());
    }

    #[test]
    fn calls_per_task_are_rounded_up() {
        assert_eq!(LOAD.share(), 3);
    }

    #[test]
    fn target_is_printed_with_all_its_parts() {
        let target =
            Target { ratio: 0.9, rate: Some(1e6), extra_cpu: Some(3.0), log: Some(2000.0), fewer_requests: Some(2.9) };
        assert_eq!(target.to_string(), ">= 0.90, >= 1e6/s, <= 3 us CPU, <= 2000 B WAL, 2.9x fewer requests");
    }
}
