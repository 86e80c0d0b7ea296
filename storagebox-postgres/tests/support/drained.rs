//! The number of buffers that a take reads as its bank drains and nothing is vacuumed.

use std::ops::RangeInclusive;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use sqlx::pool::PoolConnection;
use sqlx::{AssertSqlSafe, Connection, PgConnection, Postgres, query_scalar, raw_sql};
use storagebox_core::{Backend, ClaimId, Hold, Item, ItemBank, Result, Taken};
use tokio::task::JoinSet;

use super::{Place, failed, run};

/// The number of takes per measurement. The lower quartile counts, because some takes also read the catalog again.
const MEASURED: usize = 15;
/// The number of free items in a drained bank.
const LEFT: usize = 100;
const CALLERS: usize = 128;

/// The number of ended holds in a bank, which is more than one take may read past.
const HOLDS: usize = 300;
/// The number of items in one section of a bank with a million items.
const OF_A_MILLION: usize = 1_953;
const SECTION: RangeInclusive<i64> = (44 << 55)..=((45 << 55) - 1);
const FILL_SECTION: &str = include_str!("fill_section.sql");
const DRAIN_SECTION: &str = include_str!("drain_section.sql");
const END_HOLDS: &str = include_str!("end_holds.sql");
const WALK: &str = include_str!("walk.sql");
const WITHDRAW: &str = include_str!("withdraw.sql");
/// The number of rounds of a measurement.
const ROUNDS: usize = 15;
const WITHDRAWN: usize = 100;
/// The number of taken items that one load adds again.
const KNOWN: usize = 300;

/// The number of buffers that a take reads: in a full bank, in a bank with a few items left, and in an empty bank.
#[derive(Clone, Copy, Debug)]
pub struct Buffers {
    pub full: u64,
    pub drained: u64,
    pub empty: u64,
}

impl Buffers {
    /// Measures takes that drain a bank of `items` items. With `snapshot`, an open transaction keeps the dead rows.
    pub async fn of_takes(place: &Place, items: usize, snapshot: bool) -> Result<Self> {
        let bank = unvacuumed(place).await?;
        for batch in 0..items / 10_000 {
            let items = (0..10_000).map(|number| Item::new(format!("{batch}-{number}")));
            bank.add(&items.collect::<Result<Vec<_>>>()?).await?;
        }
        run(place.database.owner(), format!("VACUUM ANALYZE {}.free_items", place.schema)).await?;
        let mut meter = Meter::of(place, i64::MIN..=i64::MAX).await?;
        let full = meter.quartile("full").await?;
        let _old = if snapshot { Some(open(place).await?) } else { None };
        drain(&bank, items - MEASURED - LEFT).await?;
        let drained = meter.quartile("drained").await?;
        drain(&bank, LEFT - MEASURED).await?;
        assert_eq!(bank.take(&ClaimId::new("late")?, Hold::Forever).await?, Taken::Empty);
        Ok(Self { full, drained, empty: meter.quartile("empty").await? })
    }

    /// Measures takes that drain one section of a bank with a million items, while an old snapshot keeps the dead rows.
    /// `since` is the argument of the takes: `start`, or NULL for takes in transactions of the caller.
    pub async fn of_a_section(place: &Place, since: &str) -> Result<Self> {
        let (bank, mut meter, full) = full_section(place, OF_A_MILLION).await?;
        let drain = DRAIN_SECTION.replace("{since}", since);
        let _old = open(place).await?;
        section(place, &drain, OF_A_MILLION - MEASURED - LEFT).await?;
        let drained = meter.quartile("drained").await?;
        section(place, &drain, LEFT - MEASURED).await?;
        assert_eq!(bank.take(&ClaimId::new("late")?, Hold::Forever).await?, Taken::Empty);
        Ok(Self { full, drained, empty: meter.quartile("empty").await? })
    }

    /// Measures a bank whose items were all taken after their first holds had ended, while an old snapshot keeps the
    /// dead rows. `drained` equals `empty` here.
    pub async fn of_ended_holds(place: &Place) -> Result<Self> {
        let (bank, mut meter, full) = full_section(place, MEASURED).await?;
        let _old = open(place).await?;
        end_holds(place, HOLDS).await?;
        place.advance(Duration::from_secs(24 * 3_600)).await?;
        assert_eq!(bank.take(&ClaimId::new("late")?, Hold::Forever).await?, Taken::Empty);
        let empty = meter.quartile("empty").await?;
        Ok(Self { full, drained: empty, empty })
    }

    /// Checks that a take reads at most three times as many buffers in a drained or empty bank as in a full bank.
    pub fn assert_flat(&self) {
        let most = 3 * self.full;
        assert!(self.drained <= most && self.empty <= most, "{self:?}");
    }
}

/// The number of buffers that each of two consecutive takes reads. The first take begins where the bank is drained.
/// `full` is the number in a full bank.
#[derive(Clone, Copy, Debug)]
pub struct Behind {
    pub full: u64,
    pub first: u64,
    pub second: u64,
}

impl Behind {
    /// Measures takes after a cursor has stopped part-way in a section, while an old snapshot keeps the dead rows.
    /// After every fourth take of the cursor, a batch of `together` takes is made.
    pub async fn walks(place: &Place, together: usize) -> Result<Self> {
        let (_bank, mut meter, full) = full_section(place, OF_A_MILLION).await?;
        let _old = open(place).await?;
        let mut behind = Rounds::default();
        for walk in 0..ROUNDS {
            let start = meter.random.i64(SECTION);
            walk_on(place, start, 20 + 6 * walk, together).await?;
            behind.measure(&mut meter, start).await?;
        }
        Ok(behind.median(full))
    }

    /// Measures takes after withdrawals, while an old snapshot keeps the dead rows.
    pub async fn withdrawals(place: &Place) -> Result<Self> {
        let (_bank, mut meter, full) = full_section(place, OF_A_MILLION).await?;
        let _old = open(place).await?;
        let mut behind = Rounds::default();
        for _ in 0..ROUNDS {
            section(place, WITHDRAW, WITHDRAWN).await?;
            behind.measure(&mut meter, *SECTION.start()).await?;
        }
        Ok(behind.median(full))
    }

    /// Measures takes after loads of items that were all taken before, while an old snapshot keeps the dead rows.
    pub async fn loads(place: &Place) -> Result<Self> {
        let (bank, mut meter, full) = full_section(place, KNOWN).await?;
        let _old = open(place).await?;
        section(place, DRAIN_SECTION, KNOWN - MEASURED).await?;
        assert_eq!(bank.take(&ClaimId::new("late")?, Hold::Forever).await?, Taken::Empty);
        meter.quartile("empty").await?;
        let mut behind = Rounds::default();
        for _ in 0..ROUNDS {
            section(place, FILL_SECTION, KNOWN).await?;
            behind.measure(&mut meter, *SECTION.start()).await?;
        }
        Ok(behind.median(full))
    }

    /// Checks that each take reads at most `factor` times as many buffers as a take from a full bank.
    pub fn assert_within(&self, factor: u64) {
        let most = factor * self.full;
        assert!(self.first <= most && self.second <= most, "{self:?}");
    }
}

/// How many buffers each round read: in its first take, and in its second.
#[derive(Default)]
struct Rounds {
    firsts: Vec<u64>,
    seconds: Vec<u64>,
}

impl Rounds {
    async fn measure(&mut self, meter: &mut Meter, start: i64) -> Result<()> {
        let round = self.firsts.len();
        self.firsts.push(meter.take_from(&format!("first-{round}"), start).await?);
        self.seconds.push(meter.take_from(&format!("second-{round}"), start).await?);
        Ok(())
    }

    fn median(self, full: u64) -> Behind {
        Behind { full, first: median(self.firsts), second: median(self.seconds) }
    }
}

/// Creates a bank with all items in one section. Returns the bank, a meter, and the number of buffers that a take
/// reads.
async fn full_section(place: &Place, items: usize) -> Result<(Arc<dyn ItemBank>, Meter, u64)> {
    let bank = unvacuumed(place).await?;
    section(place, FILL_SECTION, items).await?;
    let mut meter = Meter::of(place, SECTION).await?;
    let full = meter.quartile("full").await?;
    Ok((bank, meter, full))
}

fn median(mut read: Vec<u64>) -> u64 {
    read.sort_unstable();
    read[read.len() / 2]
}

/// Returns a bank in tables without autovacuum, so that dead rows stay.
async fn unvacuumed(place: &Place) -> Result<Arc<dyn ItemBank>> {
    let schema = &place.schema;
    for table in ["free_items", "claims", "bank_sections", "bank_cells", "bank_lapses"] {
        let off = format!("ALTER TABLE {schema}.{table} SET (autovacuum_enabled = off)");
        run(place.database.owner(), off).await?;
    }
    let bank = place.builder()?.connect(&place.url_at(place.database.server()))?.item_bank(&"namespace".parse()?)?;
    bank.counts().await?;
    Ok(bank)
}

/// Adds more than `holds` items, takes `holds` of them for a limited time, and confirms each before its hold ends.
pub async fn end_holds(place: &Place, holds: usize) -> Result<()> {
    section(place, FILL_SECTION, MEASURED + holds).await?;
    section(place, END_HOLDS, holds).await
}

async fn section(place: &Place, sql: &str, items: usize) -> Result<()> {
    let sql = sql.replace("{schema}", &place.schema).replace("{items}", &items.to_string());
    let sql = sql.replace("{since}", "start");
    run(place.database.owner(), sql.replace("{section}", &SECTION.start().to_string())).await
}

async fn walk_on(place: &Place, start: i64, takes: usize, together: usize) -> Result<()> {
    let sql = WALK.replace("{schema}", &place.schema).replace("{takes}", &takes.to_string());
    let sql = sql.replace("{together}", &together.to_string());
    run(place.database.owner(), sql.replace("{start}", &start.to_string())).await
}

async fn open(place: &Place) -> Result<PgConnection> {
    let options = place.database.owner().connect_options();
    let mut old = PgConnection::connect_with(&options).await.map_err(failed)?;
    let look = format!("BEGIN ISOLATION LEVEL REPEATABLE READ; TABLE {}.namespaces", place.schema);
    raw_sql(AssertSqlSafe(look)).execute(&mut old).await.map_err(failed)?;
    Ok(old)
}

async fn drain(bank: &Arc<dyn ItemBank>, takes: usize) -> Result<()> {
    let (next, mut callers) = (Arc::new(AtomicUsize::new(0)), JoinSet::new());
    for _ in 0..CALLERS {
        let (bank, next) = (Arc::clone(bank), Arc::clone(&next));
        callers.spawn(async move {
            loop {
                let number = next.fetch_add(1, Ordering::Relaxed);
                if number >= takes {
                    return Ok(());
                }
                let taken = bank.take(&ClaimId::new(format!("{takes}-{number}"))?, Hold::Forever).await?;
                assert!(matches!(taken, Taken::New(_)), "{taken:?}");
            }
        });
    }
    callers.join_all().await.into_iter().collect()
}

/// A session that measures how many buffers its takes read.
struct Meter {
    session: PoolConnection<Postgres>,
    take: String,
    starts: RangeInclusive<i64>,
    random: fastrand::Rng,
}

impl Meter {
    async fn of(place: &Place, starts: RangeInclusive<i64>) -> Result<Self> {
        let session = place.database.owner().acquire().await.map_err(failed)?;
        let schema = &place.schema;
        let take = format!(
            "EXPLAIN (ANALYZE, BUFFERS, TIMING OFF) SELECT {schema}.bank_take(namespace, epoch, '{{claim}}', 0, false, NULL, NULL, {{start}}, NULL, {{start}}) \
             FROM {schema}.namespaces"
        );
        Ok(Self { session, take, starts, random: fastrand::Rng::with_seed(7) })
    }

    async fn quartile(&mut self, name: &str) -> Result<u64> {
        // The first takes also plan the statements that are new to the session.
        let mut read = vec![];
        for number in 0..MEASURED {
            read.push(self.take(&format!("{name}-{number}")).await?);
        }
        read.sort_unstable();
        Ok(read[MEASURED / 4])
    }

    async fn take(&mut self, claim: &str) -> Result<u64> {
        let start = self.random.i64(self.starts.clone());
        self.take_from(claim, start).await
    }

    async fn take_from(&mut self, claim: &str, start: i64) -> Result<u64> {
        let sql = self.take.replace("{claim}", claim).replace("{start}", &format!("'{start}'::bigint"));
        let plan: Vec<String> = query_scalar(AssertSqlSafe(sql)).fetch_all(&mut *self.session).await.map_err(failed)?;
        let line = plan.iter().find(|line| line.contains("Buffers: shared"));
        let line = line.ok_or_else(|| failed("the plan names no buffers"))?;
        let read = |word: &str| word.strip_prefix("hit=").or(word.strip_prefix("read="))?.parse::<u64>().ok();
        Ok(line.split_whitespace().filter_map(read).sum())
    }
}
