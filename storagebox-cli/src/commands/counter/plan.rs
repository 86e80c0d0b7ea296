//! `storagebox counter plan`: what each strategy costs on DynamoDB, before there is a counter.

use storagebox::dynamo::{CounterCost, CounterPlan, WindowPlan};
use storagebox::{Cursor, Page, Result, Strategy, async_trait};

use crate::cli::Plan;
use crate::commands::listing::{Cell, Row};
use crate::commands::pages::Listed;

/// One strategy at one number of operations.
pub(crate) struct Planned {
    strategy: String,
    operations: u64,
    cost: CounterCost,
    holds: bool,
}

#[async_trait]
impl Listed for Plan {
    type Entry = Planned;

    async fn page(&self, _: Option<&Cursor>, _: usize) -> Result<Page<Planned>> {
        Ok(Page { entries: planned(self), next: None })
    }
}

fn planned(args: &Plan) -> Vec<Planned> {
    operations(args).into_iter().flat_map(|operations| at(args, operations)).collect()
}

fn at(args: &Plan, operations: u64) -> impl Iterator<Item = Planned> {
    let plan = CounterPlan::for_operations(operations).with_key_bytes(args.key_bytes);
    let rate = args.rate.map_or(0, u64::from);
    plan.costs().into_iter().map(move |cost| Planned {
        strategy: written(cost.strategy),
        operations,
        holds: cost.fits && rate <= cost.per_second,
        cost,
    })
}

/// Those that come while one is in the row, if there is a rate.
fn operations(args: &Plan) -> Vec<u64> {
    match (args.rate, args.keep) {
        (Some(rate), Some(keep)) => vec![WindowPlan::for_rate(rate, keep).capacity()],
        _ => args.operations.clone(),
    }
}

/// As `--strategy` takes it, with KEEP for a duration that is left to choose.
fn written(strategy: Strategy) -> String {
    match strategy {
        Strategy::Atomic => "atomic".to_owned(),
        Strategy::Optimistic => "optimistic".to_owned(),
        Strategy::OptimisticHistory { len } => format!("history:{len}"),
        Strategy::TransactionToken => "request-token".to_owned(),
        Strategy::Marker { .. } => "marker:KEEP".to_owned(),
        Strategy::Ledger => "ledger".to_owned(),
        Strategy::TokenSet { max } => format!("token-set:{max}"),
        Strategy::Window { capacity, .. } => format!("window:KEEP:{capacity}"),
        Strategy::Sharded { shards, .. } => format!("sharded:{shards}:KEEP"),
    }
}

impl Row for Planned {
    const HEADER: &'static [&'static str] = &[
        "strategy",
        "operations",
        "write_units",
        "read_units",
        "requests",
        "value_units",
        "row_bytes",
        "per_second",
        "holds",
    ];

    fn cells(&self) -> Vec<Cell<'_>> {
        let Self { strategy, operations, cost, holds } = self;
        let figures = [
            *operations,
            cost.write_units,
            cost.read_units,
            cost.requests,
            cost.value_units,
            cost.row_bytes,
            cost.per_second,
        ];
        let mut cells = vec![Cell::Text(strategy)];
        cells.extend(figures.map(|figure| Cell::Figure(figure.into())));
        cells.push(Cell::Text(if *holds { "yes" } else { "no" }));
        cells
    }
}
