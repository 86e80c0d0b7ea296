//! 150 students choose among 3 classes of 50 seats, all at once. A student whose class is full gets a seat in another
//! class, and no student gets two seats.

use std::collections::BTreeMap;

use storagebox::{Assigned, Deduplicator, Result, Store};

const CLASSES: [&str; 3] = ["monday", "wednesday", "friday"];

#[tokio::main]
async fn main() -> Result<()> {
    let url = std::env::args().nth(1).unwrap_or_else(|| "memory:".into());
    let store = Store::open(url).await?;
    store.setup().await?;
    for (class, first) in CLASSES.into_iter().zip([0, 50, 100]) {
        store.bank(class)?.add((first..first + 50).map(|seat| seat.to_string())).await?;
    }
    let seats = store.deduplicator("students", CLASSES)?;

    let bookings: Vec<_> = (0..150)
        .map(|student| {
            let seats = seats.clone();
            // Most students want the class on Monday.
            let wish = if student % 3 == 0 { student % 2 + 1 } else { 0 };
            tokio::spawn(async move { book(&seats, &format!("student-{student}"), wish).await })
        })
        .collect();
    let mut booked: BTreeMap<String, usize> = BTreeMap::new();
    for booking in bookings {
        if let Some(class) = booking.await.expect("no task panics")? {
            *booked.entry(class).or_default() += 1;
        }
    }
    println!("booked: {booked:?}");
    assert!(booked.values().all(|seats| *seats == 50), "a class is not full although 150 students came");
    Ok(())
}

/// Books a seat in the class that the student wishes, or else in the next class with a free seat. Returns the class.
async fn book(seats: &Deduplicator, student: &str, wish: usize) -> Result<Option<String>> {
    for class in CLASSES.iter().cycle().skip(wish).take(CLASSES.len()) {
        match seats.assign(student, *class).await? {
            Assigned::New { bank, .. } | Assigned::Again { bank, .. } => return Ok(Some(bank.as_str().to_owned())),
            Assigned::Empty => {}
        }
    }
    Ok(None)
}
