//! Cursors of the list of pending entries.

use storagebox_core::{Cursor, ErrorKind, Result};

use super::split;
use crate::scene::with_place;

#[tokio::test]
async fn a_request_that_makes_no_sense_is_refused() -> Result<()> {
    with_place(async |place| {
        let entities = split(&place.store()?)?;
        for cursor in ["", "3:x", "after:", "after:x", "after:3:key", "after:10:keymessage", "after:-1:keymessage"] {
            let refused = entities.pending(Some(&Cursor::new(cursor)), 1).await.unwrap_err();
            assert_eq!(refused.kind(), ErrorKind::InvalidInput, "{cursor:?}");
        }
        assert_eq!(entities.pending(None, 0).await.unwrap_err().kind(), ErrorKind::InvalidInput);
        Ok(())
    })
    .await
}
