//! Progress on standard error: only on a terminal, and never in the way of a message.

use std::fmt::{Arguments, Write};
use std::io;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use indicatif::{HumanCount, ProgressBar, ProgressDrawTarget, ProgressFinish, ProgressState, ProgressStyle};

/// With the size known: how far, how many, how fast, how long still.
const SIZED: &str = "{prefix:<12} [{bar:30}] {percent:>3}%  {lines} lines  {rate}  {eta} left";
const UNSIZED: &str = "{prefix:<12} {spinner} {lines} lines  {rate}  {elapsed}";

/// How often the counts reach the bar; a line takes less time than the bar's own bookkeeping.
const STRIDE: u64 = 256;

/// Writes a line to standard error. Nobody may be reading it, which is no reason to fail.
pub(crate) fn say(message: Arguments<'_>) {
    let _unread = io::Write::write_fmt(&mut io::stderr(), format_args!("{message}\n"));
}

/// A bar that measures in bytes, because the number of lines is not known before the end, and shows lines.
#[derive(Debug)]
pub(crate) struct Progress {
    bar: ProgressBar,
    lines: Arc<AtomicU64>,
}

impl Progress {
    pub(crate) fn new(doing: &'static str, bytes: Option<u64>) -> Self {
        let lines = Arc::new(AtomicU64::new(0));
        let bar = ProgressBar::with_draw_target(bytes, ProgressDrawTarget::stderr())
            .with_prefix(doing)
            .with_style(style(bytes.is_some(), &lines))
            .with_finish(ProgressFinish::AndClear);
        Self { bar, lines }
    }

    /// One more line was done; it ends at this byte of its file.
    pub(crate) fn line(&self, ends_at: u64) {
        let before = self.lines.fetch_add(1, Ordering::Relaxed);
        if before.is_multiple_of(STRIDE) {
            self.bar.set_position(ends_at);
        }
    }
}

fn style(sized: bool, lines: &Arc<AtomicU64>) -> ProgressStyle {
    let template = if sized { SIZED } else { UNSIZED };
    let (count, rate) = (Arc::clone(lines), Arc::clone(lines));
    ProgressStyle::with_template(template)
        .unwrap_or_else(|_| ProgressStyle::default_bar())
        .with_key("lines", move |_: &ProgressState, text: &mut dyn Write| {
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
    fn the_templates_are_well_formed() {
        for template in [SIZED, UNSIZED] {
            ProgressStyle::with_template(template).unwrap();
        }
    }
}
