//! Cursors in a listing of pending entries: E-5.

use storagebox_core::{Cursor, ErrorKind, Result};

use super::{split, store};
use crate::scene::with_place;

#[tokio::test]
async fn a_cursor_of_another_listing_is_refused() -> Result<()> {
    with_place(async |place| {
        let entities = split(&store(place)?)?;
        assert_eq!(entities.pending(None, 0).await.unwrap_err().kind(), ErrorKind::InvalidInput);
        for cursor in ["3:x", "after:", "after:x", "after:1:", "after:0:x", "after:1:x", "after:9:xy", "after:1:éx"] {
            let refused = entities.pending(Some(&Cursor::new(cursor)), 1).await.unwrap_err();
            assert_eq!(refused.kind(), ErrorKind::InvalidInput, "{cursor}");
        }
        assert!(entities.pending(Some(&Cursor::new("after:1:xy")), 1).await?.entries.is_empty());
        Ok(())
    })
    .await
}
