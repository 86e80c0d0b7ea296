//! What a plan reckons is what the server takes, and never less.

use std::time::Duration;

use storagebox_core::{Backend, Bounds, Change, Counter, Key, OpId, Reason, Result, Retention, Strategy};
use storagebox_dynamo::{CounterPlan, SetPlan, WindowPlan};

use crate::metered::{Cost, Metered, cost};
use crate::scene::with_place;
use crate::support::Place;

/// Enough for rows of several write units.
const OPERATIONS: u32 = 60;

const STRATEGIES: [Strategy; 9] = [
    Strategy::Atomic,
    Strategy::Optimistic,
    Strategy::OptimisticHistory { len: 40 },
    Strategy::TransactionToken,
    Strategy::Marker { retention: Retention::Forever },
    Strategy::Ledger,
    Strategy::TokenSet { max: OPERATIONS },
    Strategy::Window { lifetime: Duration::from_secs(3_600), capacity: OPERATIONS },
    Strategy::Sharded { shards: 8, bounds: Bounds::NONE, retention: Retention::Forever },
];

/// The plan allows for numbers of any size, and these are small: it may be a fifth above.
#[tokio::test]
async fn what_was_planned_is_what_is_taken() -> Result<()> {
    with_place(async |place| {
        let mut metered = Metered::of(place, place.builder()).await?;
        let plan = CounterPlan::for_operations(OPERATIONS.into());
        for (number, strategy) in STRATEGIES.into_iter().enumerate() {
            let counter = metered.store.counter(&format!("namespace-{number}").parse()?, strategy)?;
            // The namespace is made, or looked at, once.
            let _ = counter.apply(&"other".parse()?, &Change::new("first".parse()?, 1)).await?;
            metered.aside();
            for operation in 0..OPERATIONS {
                let _ = counter
                    .apply(&"key".parse()?, &Change::new(format!("op-{operation:02}").parse()?, i64::MAX / 1_000))
                    .await?;
            }
            let (taken, planned): (Cost, _) = (metered.aside().iter().map(cost).sum(), plan.cost(strategy));
            let (write, read) = (planned.write_units as f64, planned.read_units as f64);
            assert_eq!(taken.requests as u64, planned.requests, "{strategy:?}");
            assert!(taken.write <= write && write <= taken.write * 1.2, "{strategy:?}: {taken:?}, {planned:?}");
            assert!(taken.read <= read && read <= taken.read * 1.2 + 1.0, "{strategy:?}: {taken:?}, {planned:?}");
        }
        Ok(())
    })
    .await
}

/// The last operation that a plan allows is applied, and the next one is `Full`.
#[tokio::test]
async fn a_planned_set_takes_what_was_planned() -> Result<()> {
    with_place(async |place| {
        let set = place.store().await?.counter(&"set".parse()?, SetPlan::for_operations(20).strategy()?)?;
        for operation in 0..20 {
            let _ = set.apply(&"key".parse()?, &Change::new(format!("op-{operation}").parse()?, 1)).await?;
        }
        assert_eq!(
            set.apply(&"key".parse()?, &Change::new("beyond".parse()?, 1)).await?,
            storagebox_core::Counted::Full
        );
        Ok(())
    })
    .await
}

/// What a plan gives to open a counter with, a counter opens with: at every number of operations.
#[tokio::test]
async fn the_largest_planned_set_opens() -> Result<()> {
    with_place(async |place| {
        let most = SetPlan::for_operations(1).largest_operations();
        let set = place.store().await?.counter(&"set".parse()?, SetPlan::for_operations(most).strategy()?)?;
        let _ = set.apply(&"key".parse()?, &Change::new("op".parse()?, 1)).await?;
        Ok(())
    })
    .await
}

/// No figure is below what the service takes of a key, operations and reasons that are as long as the plan says.
#[tokio::test]
async fn a_plan_of_a_long_key_is_not_below_what_is_taken() -> Result<()> {
    with_place(async |place| {
        assert_no_figure_is_below(place, [500, 500, 4], false).await?;
        // The counter's row is below 1 KB and its marker is not; nor is an entry of a ledger, with a reason still less.
        assert_no_figure_is_below(place, [200, 200, 512], false).await?;
        assert_no_figure_is_below(place, [200, 200, 512], true).await
    })
    .await
}

/// The lengths of the namespace's name, the key and the operations.
async fn assert_no_figure_is_below(place: &Place, lengths: [usize; 3], with_reason: bool) -> Result<()> {
    let mut metered = Metered::of(place, place.builder()).await?;
    let [name, key, op] = lengths;
    let (name, key) = ("b".repeat(name), "k".repeat(key));
    let reason = with_reason.then(|| "r".repeat(512));
    let bytes = |length: usize| u32::try_from(length).unwrap_or(u32::MAX);
    let plan = CounterPlan::for_operations(3)
        .with_key_bytes(bytes(place.prefix.len() + name.len() + key.len() + 30))
        .with_op_bytes(bytes(op))
        .with_reason_bytes(bytes(reason.as_ref().map_or(0, String::len)));
    let takes_reasons = |strategy: &Strategy| !with_reason || *strategy == Strategy::Ledger;
    let mut below = vec![];
    for (number, strategy) in STRATEGIES.into_iter().filter(takes_reasons).enumerate() {
        let counter = metered.store.counter(&format!("{with_reason}{number}{name}").parse()?, strategy)?;
        let _ = counter.apply(&"other".parse()?, &Change::new("first".parse()?, 1)).await?;
        metered.aside();
        let key = Key::new(key.as_str())?;
        for operation in 0..3 {
            let change = Change::new(OpId::new(format!("{operation:0op$}"))?, 1);
            let reason = reason.clone().map(Reason::new).transpose()?;
            let change = reason.into_iter().fold(change, Change::because);
            let _ = counter.apply(&key, &change).await?;
        }
        let (taken, planned): (Cost, _) = (metered.aside().iter().map(cost).sum(), plan.cost(strategy));
        counter.value(&key).await?;
        let value: Cost = metered.aside().iter().map(cost).sum();
        let figures =
            [(taken.write, planned.write_units), (taken.read, planned.read_units), (value.read, planned.value_units)];
        if figures.iter().any(|(taken, planned)| *taken > *planned as f64) {
            below.push(format!("{strategy:?}: {figures:?}"));
        }
    }
    assert!(below.is_empty(), "planned below what was taken, with {lengths:?}: {below:#?}");
    Ok(())
}

/// A window with the plan's strategy is never `Full` while the rate is kept: by one clock, with the store's own
/// settings and with others.
#[tokio::test]
async fn a_planned_window_is_not_full_at_its_rate() -> Result<()> {
    const RATE: u32 = 10;
    with_place(async |place| {
        let mut full = vec![];
        let default = WindowPlan::for_rate(RATE, Duration::from_secs(4));
        for seconds in [1, 3] {
            // The test's places do without a skew.
            let skew = Duration::from_secs(seconds);
            let store = place.builder().max_skew(skew).from_client(place.table.raw())?;
            let plan = if seconds == 1 { default } else { default.with_max_skew(skew) };
            let window = store.counter(&format!("window-{seconds}").parse()?, plan.strategy()?)?;
            for operation in 0..100 {
                let counted =
                    window.apply(&"key".parse()?, &Change::new(format!("op-{operation}").parse()?, 1)).await?;
                if counted == storagebox_core::Counted::Full {
                    full.push((seconds, operation));
                }
                place.clock.advance(Duration::from_secs(1) / RATE);
            }
        }
        assert!(full.is_empty(), "seconds of skew, and operations that were `Full`: {full:?}");
        Ok(())
    })
    .await
}
