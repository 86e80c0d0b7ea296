//! A look at the schema.

use storagebox_core::{Error, Result};

use super::known::{FORMAT, Found};
use super::{Client, Progress};

pub(crate) const LOOK: &str = include_str!("../../sql/store/look.sql");

/// What an answer of it is called.
pub(crate) const THE_LOOK: &str = "a look at the schema";

impl Client {
    /// What is there, without any right to change it, and without running what another role made.
    pub(crate) async fn found(&self) -> Result<Found> {
        let row = self.look("ping", &self.schema().fill(LOOK)).await?;
        let found = Found::of(THE_LOOK, &row)?;
        FORMAT.refuse_newer(found.version.into())?;
        Ok(found)
    }

    /// A function that is not there may have been there before: the schema is of another version by now.
    pub(super) async fn explained(&self, error: Error) -> Error {
        let look = self.schema().fill(LOOK);
        // What the call itself did is not what the look does.
        let found = Progress::default().scope(self.look("look", &look)).await;
        match found.and_then(|row| Found::of(THE_LOOK, &row)).map(|found| FORMAT.check(found.version.into())) {
            Ok(Err(of_version)) => of_version.caused_by(error),
            _ => error,
        }
    }
}
