//! The home of a namespace: the region where it was created, or to which it was moved later. Its row stores the home in
//! `home`.
//!
//! A global table lets every region write. If two regions write the same row, the last write wins. So a namespace is
//! used only from its home.

use storagebox_core::Result;

use super::{Client, OpenNamespace, Write, Wrote};
use crate::config::Regions;
use crate::error::{contention, misconfigured};
use crate::row::{Row, RowKey};

/// Returns the home region of the namespace that this row describes. Returns `None` if the home is the client's own
/// region.
pub(crate) fn home_elsewhere<'a>(client: &Client, row: &'a Row) -> Result<Option<&'a str>> {
    let home = row.maybe("home", Row::text)?;
    Ok(home.filter(|home| client.region().is_some_and(|here| here != *home)))
}

impl OpenNamespace {
    /// Checks that the namespace may be used from the client's region. With `Regions::Moved`, moves the namespace's
    /// home to this region.
    pub(super) async fn at_home(&self, row: &Row) -> Result<()> {
        let (client, name) = (self.client(), self.name());
        let (Some(home), Some(here)) = (home_elsewhere(client, row)?, client.region()) else {
            return Ok(());
        };
        match client.settings().regions {
            Regions::Moved => self.moved(home, here).await,
            Regions::One | Regions::Several => {
                let why = format_args!(
                    "{name:?} has its home in {home}, and an item can be given twice if {here} writes too; use it \
                     there, or stop the programs there and move it here with regions=moved"
                );
                Err(misconfigured("namespace", why))
            }
        }
    }

    async fn moved(&self, home: &str, here: &str) -> Result<()> {
        let moved = Write::update(&RowKey::alone(self.key("namespace"))).set("home", here);
        match self.client().write(&moved.only_if("home = :seen").value(":seen", home)).await? {
            Wrote::Done(_) => Ok(()),
            Wrote::Refused(_) => Err(contention()),
        }
    }
}
