//! Progress bars on standard error, only on a terminal.

use std::fmt::Write;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, OnceLock};
use std::time::Duration;

use indicatif::{HumanCount, ProgressBar, ProgressDrawTarget, ProgressFinish, ProgressState, ProgressStyle};

/// The bar for work of a known size.
const SIZED: &str = "{prefix:<12} [{bar:30}] {percent:>3}%  {done} {msg}  {rate}  {eta} left";
const WAITING: &str = "{spinner} {msg}  {elapsed}";
const TICK: Duration = Duration::from_millis(100);
const FAULTY: &str = "{prefix:<12} [{bar:30}] {percent:>3}%  {done} {msg}  {faults}  {rate}  {eta} left";
const UNSIZED: &str = "{prefix:<12} {spinner} {done} {msg}  {rate}  {elapsed}";

/// The number of lines per update of the bar. Updates at every line would take longer than the work.
const STRIDE: u64 = 256;

/// The number of lines or items done so far, shown as a bar.
#[derive(Debug)]
pub(crate) struct Progress {
    bar: ProgressBar,
    done: Arc<AtomicU64>,
    stride: u64,
}

impl Progress {
    /// Creates the bar for the lines of a file, measured in bytes.
    pub(crate) fn of_lines(doing: &'static str, bytes: Option<u64>) -> Self {
        // The number of lines is unknown before the end.
        Self::new(doing, "lines", bytes)
    }

    pub(crate) fn of_items(doing: &'static str, items: u64) -> Self {
        Self::new(doing, "items", Some(items))
    }

    #[cfg(feature = "conform")]
    pub(crate) fn of_cases(doing: &'static str, cases: u64) -> Self {
        let progress = Self::new(doing, "cases", Some(cases));
        progress.bar.enable_steady_tick(TICK);
        Self { stride: 1, ..progress }
    }

    /// Creates the bar for calls, which also shows the number of faults.
    pub(crate) fn of_calls(
        doing: &'static str,
        calls: u64,
        faults: impl Fn() -> u64 + Clone + Send + Sync + 'static,
    ) -> Self {
        let progress = Self::new(doing, "calls", Some(calls));
        let style = progress.bar.style().with_key("faults", move |_: &ProgressState, text: &mut dyn Write| {
            let _infallible = write!(text, "{} faults", HumanCount(faults()));
        });
        if let Ok(style) = style.template(FAULTY) {
            progress.bar.set_style(style);
        }
        progress
    }

    fn new(doing: &'static str, unit: &'static str, size: Option<u64>) -> Self {
        let done = Arc::new(AtomicU64::new(0));
        let bar = ProgressBar::with_draw_target(size, ProgressDrawTarget::stderr())
            .with_prefix(doing)
            .with_message(unit)
            .with_style(style(size.is_some(), &done))
            .with_finish(ProgressFinish::AndClear);
        Self { bar, done, stride: STRIDE }
    }

    /// Counts a line that ends at this byte of its file.
    pub(crate) fn line(&self, ends_at: u64) {
        self.advance(|_| ends_at);
    }

    pub(crate) fn item(&self) {
        self.advance(|before| before);
    }

    fn advance(&self, position: impl FnOnce(u64) -> u64) {
        let before = self.done.fetch_add(1, Ordering::Relaxed);
        if before.is_multiple_of(self.stride) {
            self.bar.set_position(position(before));
        }
    }
}

/// A spinner that is shown while this program waits for another program.
#[derive(Debug, Default)]
pub(crate) struct Waiting(OnceLock<ProgressBar>);

impl Waiting {
    pub(crate) fn begin(&self, what: &'static str) {
        let bar = self.0.get_or_init(|| {
            ProgressBar::with_draw_target(None, ProgressDrawTarget::stderr())
                .with_message(what)
                .with_style(waiting_style())
                .with_finish(ProgressFinish::AndClear)
        });
        bar.enable_steady_tick(TICK);
    }

    pub(crate) fn end(&self) {
        if let Some(bar) = self.0.get() {
            bar.finish_and_clear();
        }
    }
}

fn waiting_style() -> ProgressStyle {
    ProgressStyle::with_template(WAITING).unwrap_or_else(|_| ProgressStyle::default_spinner())
}

fn style(sized: bool, done: &Arc<AtomicU64>) -> ProgressStyle {
    let template = if sized { SIZED } else { UNSIZED };
    let (count, rate) = (Arc::clone(done), Arc::clone(done));
    ProgressStyle::with_template(template)
        .unwrap_or_else(|_| ProgressStyle::default_bar())
        .with_key("done", move |_: &ProgressState, text: &mut dyn Write| {
            let _infallible = write!(text, "{}", HumanCount(count.load(Ordering::Relaxed)));
        })
        .with_key("rate", move |state: &ProgressState, text: &mut dyn Write| {
            let per_second = rate.load(Ordering::Relaxed) as f64 / state.elapsed().as_secs_f64().max(0.001);
            let _infallible = write!(text, "{}/s", HumanCount(per_second as u64));
        })
        .progress_chars("=> ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn progress_bar_templates_are_well_formed() {
        for template in [SIZED, UNSIZED, FAULTY, WAITING] {
            ProgressStyle::with_template(template).unwrap();
        }
    }
}
