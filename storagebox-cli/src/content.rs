//! Values: where they come from and where they go.

use std::io::{self, Read, Write};
use std::path::Path;

use storagebox::{MAX_PAYLOAD_BYTES, Payload};
use tokio::task::spawn_blocking;

use crate::cli::Content;
use crate::exit::Failure;
use crate::input::Source;
use crate::output::{Target, replace};

/// Reads the value; no more of a file than shows that it is too long.
pub(crate) async fn read(content: &Content) -> Result<Payload, Failure> {
    let Some(file) = &content.file else {
        let text = content.text.as_deref().unwrap_or_default();
        return Payload::try_from(text).map_err(Failure::Argument);
    };
    let source = Source::named(file);
    let read = source.clone();
    // On a thread that may block, because a pipe can keep a reader waiting for ever.
    let bytes = spawn_blocking(move || head(&read)).await.map_err(Failure::Died)?;
    let bytes = bytes.map_err(|error| Failure::Read { path: source.to_string(), source: error })?;
    Payload::new(bytes).map_err(|_| Failure::LongValue { path: source.to_string() })
}

fn head(source: &Source) -> io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    source.open()?.0.take(MAX_PAYLOAD_BYTES as u64 + 1).read_to_end(&mut bytes)?;
    Ok(bytes)
}

/// Where a value is written as it is.
#[derive(Debug)]
pub(crate) enum Sink {
    StandardOutput,
    File(Target),
}

impl Sink {
    /// Refuses a place that cannot be written before anything is asked of a store.
    pub(crate) fn at(path: &Path) -> Result<Self, Failure> {
        match Source::named(path) {
            Source::StandardInput => Ok(Self::StandardOutput),
            Source::File(path) => Target::at(&path).map(Self::File),
        }
    }

    pub(crate) fn write(&self, bytes: &[u8], to: &mut dyn Write) -> Result<(), Failure> {
        match self {
            Self::StandardOutput => write_to(to, bytes),
            Self::File(target) => replace(target, bytes),
        }
    }
}

/// Writes bytes as they are. Whoever stopped reading has read enough.
pub(crate) fn write_to(to: &mut dyn Write, bytes: &[u8]) -> Result<(), Failure> {
    match to.write_all(bytes).and_then(|()| to.flush()) {
        Err(error) if error.kind() != io::ErrorKind::BrokenPipe => Err(Failure::Print(error)),
        _ => Ok(()),
    }
}
