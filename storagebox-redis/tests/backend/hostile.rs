//! Texts that would have another meaning as a key, a pattern or a script, in every field of every part.

use storagebox_core::{Backend, DedupId, DedupRepo, OpId, Payload, Result, Retention};
use storagebox_testkit::checks::hostile::Texts;

use crate::scene::with_place;
use crate::structure::namespaces;

const TEXTS: Texts = Texts {
    short: &[
        "}",
        "{",
        "{}",
        "{store}",
        "}{b.namespace.0}",
        "b.namespace.0",
        ":",
        ":i:5",
        "*",
        "[a-z]?",
        "\\",
        "\\*",
        "%7B",
        "%",
        "\r\n$4\r\nPING\r\n",
        "') redis.call('FLUSHALL') --",
        "KEYS[1]",
        "L",
        "G",
        "e:op",
        "\u{1}W",
        "-0",
        "9007199254740993",
        // Names that look alike.
        "a",
        "A",
        "a.0",
        "a%2E0",
        "%61",
        "a}",
        "{a}",
        "a:f",
        "a\n",
        "a ",
        "\u{e9}",
    ],
    long: &[("}", 512), ("\n", 512)],
};

#[test]
fn every_text_is_kept_byte_for_byte() -> Result<()> {
    with_place(async |place| {
        TEXTS.are_kept(&place.store()?).await?;
        // Five namespaces per text, and one for the leases.
        assert_eq!(namespaces(place).await?.len(), 5 * TEXTS.count() + 1);
        Ok(())
    })
}

/// A listing of large values comes in several pages, and is complete.
#[test]
fn many_large_values_are_listed_once_each() -> Result<()> {
    with_place(async |place| {
        let (records, large) = (place.store()?.dedup_repo(&"namespace".parse()?)?, vec![7; 256 * 1024]);
        for number in 0..20 {
            let (id, op) = (DedupId::new(format!("id-{number:02}"))?, OpId::new("op")?);
            let _ = records.record(&id, &Payload::try_from(&large[..])?, &op, Retention::Forever).await?;
        }
        let (mut found, mut cursor, mut pages) = (vec![], None, 0);
        loop {
            let page = records.list(cursor.as_ref(), 1_000).await?;
            found.extend(page.entries.into_iter().map(|listed| listed.id));
            (cursor, pages) = (page.next, pages + 1);
            if cursor.is_none() {
                break;
            }
        }
        assert!(found.len() == 20 && found.is_sorted() && pages > 1, "{found:?}, {pages} pages");
        Ok(())
    })
}
