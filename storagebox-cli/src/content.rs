//! Reads values from arguments and files, and writes them.

use std::io::{self, Read, Write};

use storagebox::Payload;
use storagebox::values::MAX_PAYLOAD_BYTES;
use tokio::task::spawn_blocking;

use crate::cli::Content;
use crate::exit::Failure;
use crate::input::Source;
use crate::output::Reserved;

/// Reads the value. Refuses the store's own files, and stops as soon as the value is too long.
pub(crate) async fn read(content: &Content, reserved: &Reserved) -> Result<Payload, Failure> {
    let Some(file) = &content.file else {
        let text = content.text.as_deref().unwrap_or_default();
        return Ok(Payload::try_from(text)?);
    };
    let source = Source::named(file);
    reserved.clone().and_input(&source)?;
    let read = source.clone();
    // Reads on a blocking thread, because a pipe can keep a reader waiting for ever.
    let bytes = spawn_blocking(move || head(&read)).await.map_err(Failure::Died)?;
    let bytes = bytes.map_err(|error| Failure::Read { path: source.to_string(), source: error })?;
    Payload::new(bytes).map_err(|_| Failure::LongValue { path: source.to_string() })
}

fn head(source: &Source) -> io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    source.open()?.0.take(MAX_PAYLOAD_BYTES as u64 + 1).read_to_end(&mut bytes)?;
    Ok(bytes)
}

/// Writes bytes unchanged. A closed pipe is not an error.
pub(crate) fn write_to(to: &mut dyn Write, bytes: &[u8]) -> Result<(), Failure> {
    match to.write_all(bytes).and_then(|()| to.flush()) {
        Err(error) if error.kind() != io::ErrorKind::BrokenPipe => Err(Failure::Print(error)),
        _ => Ok(()),
    }
}
