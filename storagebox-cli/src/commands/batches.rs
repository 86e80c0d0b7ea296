//! Values of the command line or of a file, in batches.

use std::path::Path;

use tokio::task::yield_now;

use crate::cli::OfFile;
use crate::exit::Failure;
use crate::input::{Lines, Source, Value};
use crate::output::Reserved;
use crate::progress::Progress;
use crate::rejects::{Rejected, Rejects};

const BATCH: usize = 5_000;

pub(crate) enum Batches<V> {
    /// The values of the command line, until they are returned.
    Given(Option<Vec<V>>),
    File(Box<OfLines>),
}

pub(crate) struct OfLines {
    lines: Lines,
    rejects: Rejects,
    progress: Progress,
}

impl<V: Value> Batches<V> {
    /// Returns the values of the file if the command line names a file, and otherwise the values of the command line.
    pub(crate) async fn of(
        given: Vec<V>,
        of: &OfFile,
        doing: &'static str,
        reserved: &Reserved,
    ) -> Result<Self, Failure> {
        match &of.file {
            Some(file) => Self::of_file(file, of.rejects.as_deref(), of.header, doing, reserved).await,
            None => Ok(Self::Given(Some(given))),
        }
    }

    pub(crate) async fn of_file(
        file: &Path,
        rejects: Option<&Path>,
        has_header: bool,
        doing: &'static str,
        reserved: &Reserved,
    ) -> Result<Self, Failure> {
        let source = Source::named(file);
        let reserved = reserved.clone().and_input(&source)?;
        let rejects = Rejects::at(rejects, &source, &reserved)?;
        let lines = Lines::open(&source, has_header).await?;
        let progress = Progress::of_lines(doing, lines.bytes());
        Ok(Self::File(Box::new(OfLines { lines, rejects, progress })))
    }

    async fn next(&mut self) -> Result<Option<Vec<V>>, Failure> {
        // Without this, a store that never waits would keep the program from handling a signal.
        yield_now().await;
        match self {
            Self::Given(values) => Ok(values.take()),
            Self::File(of) => next_batch(&mut of.lines, &mut of.rejects, &of.progress).await,
        }
    }

    /// Calls `call` with each batch, and returns the sums of its counts and the number of rejected lines.
    pub(crate) async fn sum<const N: usize, Fut>(
        mut self,
        mut call: impl FnMut(Vec<V>) -> Fut + Send,
    ) -> Result<([u64; N], Rejected), Failure>
    where
        Fut: Future<Output = Result<[u64; N], Failure>> + Send,
    {
        let mut sums = [0; N];
        while let Some(batch) = self.next().await? {
            let counts = call(batch).await?;
            sums.iter_mut().zip(counts).for_each(|(sum, count)| *sum += count);
        }
        Ok((sums, self.end()?))
    }

    /// Publishes the list of rejected lines, and returns their number.
    fn end(self) -> Result<Rejected, Failure> {
        match self {
            Self::Given(_) => Ok(Rejected::default()),
            Self::File(lines) => {
                let rejected = lines.rejects.rejected();
                lines.rejects.publish().map(|()| rejected)
            }
        }
    }
}

/// Reads the next values of a file, and rejects lines that cannot be used. Returns `None` at the end.
pub(crate) async fn next_batch<V: Value>(
    lines: &mut Lines,
    rejects: &mut Rejects,
    progress: &Progress,
) -> Result<Option<Vec<V>>, Failure> {
    let mut batch = Vec::new();
    while batch.len() < BATCH
        && let Some(line) = lines.next_line().await?
    {
        match line.value {
            Ok(value) => batch.push(value),
            Err(reason) => rejects.add(lines.source(), line.number, &reason)?,
        }
        progress.line(line.ends_at);
    }
    Ok((!batch.is_empty()).then_some(batch))
}
