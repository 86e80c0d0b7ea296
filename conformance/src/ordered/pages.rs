//! Listings, page by page, of keys many of which are not shown.

use storagebox_core::{Backend, Key, OrderedStore, Payload, Written};

use super::{SEQUENCE, delete_new, put_new, stamp};
use crate::failure::{Verdict, ensure_matches};
use crate::pages::{Listing, MANY_PAGES};
use crate::race::{answered, race};
use crate::world::World;

const LIMITS: [usize; 6] = [1, 2, 3, 7, 40, 1_000];

/// Pages of a prefix show each live key once, even between many deleted keys.
pub(super) async fn pages_of_a_prefix_show_each_live_key_once(world: &World) -> Verdict {
    // A store that cuts the page before it filters would return a short page, or end the listing.
    let store = world.ordered(SEQUENCE)?;
    let other = world.store().ordered_store(&"other".parse()?, SEQUENCE)?;
    let mut live = vec![];
    for number in 0..40 {
        let key = format!("p-{number:02}");
        put_new(&*store, &key, "value", 1).await?;
        let is_deleted = matches!(number, 0..=12 | 30..=36) || number % 3 == 0;
        if is_deleted {
            delete_new(&*store, &key, 2).await?;
        } else {
            live.push(key);
        }
    }
    let neighbours = ["a", "o-~", "p", "p-", "p.", "p-\u{10ffff}", "q", "\u{10ffff}"];
    for key in neighbours {
        put_new(&*store, key, "value", 1).await?;
        put_new(&*other, &format!("p-{key}"), "value", 1).await?;
    }
    let prefix = Key::new("p-")?;
    let of_prefix = neighbours.into_iter().filter(|key| key.starts_with("p-")).map(str::to_owned);
    let expected: Vec<_> = live.iter().cloned().chain(of_prefix).collect();
    Listing::Values(&*store, Some(&prefix)).ensure_shows(expected, &LIMITS).await?;
    let all = live.into_iter().chain(neighbours.map(str::to_owned));
    Listing::Values(&*store, None).ensure_shows(all, &LIMITS).await?;
    Listing::Values(&*store, Some(&Key::new("p-00")?)).ensure_shows([], &LIMITS).await?;
    Listing::Values(&*store, Some(&Key::new("nothing")?)).ensure_shows([], &LIMITS).await
}

/// If there are more values than a store may read in one step, pages show each value once.
pub(super) async fn pages_of_many_values_show_each_once(world: &World) -> Verdict {
    const AT_ONCE: usize = 60;
    let (store, mut keys) = (world.ordered(SEQUENCE)?, vec![]);
    for round in 0..19 {
        let put = race(AT_ONCE, |number| {
            let (store, key) = (store.clone(), format!("{round}-{number}"));
            async move {
                let (at, value) = (stamp(1, "w")?, Payload::try_from("value")?);
                let name = Key::new(key.as_str())?;
                let written = answered(|| store.put(&name, &value, &at)).await?;
                ensure_matches!(written, Written::Applied | Written::Duplicate, "putting {key}");
                Ok(key)
            }
        });
        keys.extend(put.await?);
    }
    Listing::Values(&*store, None).ensure_shows(keys, &MANY_PAGES).await
}
