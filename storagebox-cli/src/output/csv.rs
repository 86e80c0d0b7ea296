//! A CSV file that is written while the work goes on, and published when it is done.

use std::fs::File;
use std::io;

use tempfile::TempPath;

use super::row::{csv_to, quoted};
use super::target::Target;
use crate::exit::Failure;
use crate::terminal;

/// Under a passing name beside its target, or without one if it is to go elsewhere; dropping it removes it.
#[derive(Debug)]
pub(crate) struct PendingCsv {
    target: Target,
    writer: csv::Writer<File>,
    name: Option<TempPath>,
}

impl PendingCsv {
    pub(crate) fn create(target: Target, header: [&str; 3]) -> Result<Self, Failure> {
        let (file, name) = target.begin()?;
        let mut pending = Self { target, writer: csv_to(file), name };
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
        let Self { target, writer, name } = self;
        let file = writer.into_inner().map_err(|error| target.unwritable(error.into_error()))?;
        target.publish(file, name)
    }
}
