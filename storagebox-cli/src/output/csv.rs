//! A CSV file that is written during the work, and published when the work is done.

use std::fs::File;
use std::io;

use super::row::{csv_to, quoted};
use super::target::Target;
use crate::exit::Failure;
use crate::terminal;

/// CSV rows in a file that has no name until it is published. The file vanishes if the process is killed.
#[derive(Debug)]
pub(crate) struct PendingCsv {
    target: Target,
    writer: csv::Writer<File>,
}

impl PendingCsv {
    pub(crate) fn create(target: Target, header: [&str; 3]) -> Result<Self, Failure> {
        let writer = csv_to(target.unnamed_file()?);
        let mut pending = Self { target, writer };
        pending.write(header)?;
        Ok(pending)
    }

    pub(crate) fn target(&self) -> &Target {
        &self.target
    }

    pub(crate) fn write(&mut self, fields: [&str; 3]) -> Result<(), Failure> {
        let shown = |text: &str| match self.target.is_standard_output() {
            true => terminal::field(text.as_bytes()),
            false => text.as_bytes().to_vec(),
        };
        let fields = fields.map(|text| quoted(shown(text)));
        self.writer.write_record(fields).map_err(|error| self.target.unwritable(io::Error::from(error)))
    }

    pub(crate) fn publish(self) -> Result<(), Failure> {
        let file = self.writer.into_inner().map_err(|error| self.target.unwritable(error.into_error()))?;
        self.target.publish(file)
    }
}
