//! Where a namespace is at home, which its row tells in `home`: the region where it was made, or to which it was moved
//! since.
//!
//! A global table lets every region write, and of two writes to a row the last one stands. So namespaces are used at
//! home alone.

use storagebox_core::{Error, ErrorKind, Result};

use super::{Client, OpenNamespace, Write, Wrote};
use crate::config::Regions;
use crate::error::{CONFLICT, misconfigured};
use crate::row::{Row, RowKey};

/// The home of a namespace, if it is another region than this.
pub(crate) fn home_elsewhere<'a>(client: &Client, made: &'a Row) -> Result<Option<&'a str>> {
    let home = made.maybe("home", Row::text)?;
    Ok(home.filter(|home| client.region().is_some_and(|here| here != *home)))
}

impl OpenNamespace {
    /// Whether the namespace may be used from here, or is to be from now on.
    pub(super) async fn at_home(&self, made: &Row) -> Result<()> {
        let (client, name) = (self.client(), self.name());
        let (Some(home), Some(here)) = (home_elsewhere(client, made)?, client.region()) else {
            return Ok(());
        };
        match client.settings().regions {
            Regions::Moved => self.moved(home, here).await,
            Regions::One | Regions::Several => {
                let why = format_args!(
                    "{name:?} is at home in {home}, and what {here} writes as well can be given twice; use it there, or \
                     move it here by regions=moved once nobody writes there any more"
                );
                Err(misconfigured("namespace", why))
            }
        }
    }

    async fn moved(&self, home: &str, here: &str) -> Result<()> {
        let moved = Write::update(&RowKey::alone(self.key("namespace"))).set("home", here);
        match self.client().write(&moved.only_if("home = :seen").value(":seen", home)).await? {
            Wrote::Done(_) => Ok(()),
            Wrote::Refused(_) => Err(Error::new(ErrorKind::Contention, CONFLICT).on("dynamo")),
        }
    }
}
