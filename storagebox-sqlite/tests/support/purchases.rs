//! Purchases in transactions of a caller, by processes that are killed at random points: an order and its voucher are
//! there together or not at all, and a receipt tells which (J-1, J-5).

use std::env;
use std::io::{BufRead, BufReader, Write};
use std::path::PathBuf;
use std::process::{Command, ExitCode, Stdio};
use std::time::Duration;

use sqlx::{ConnectOptions, SqliteConnection, query, query_scalar, raw_sql};
use storagebox_core::{Backend, ClaimState, CommitState, Hold, Item, ItemBank, Receipt, Result, settle};
use storagebox_sqlite::SqliteStore;
use tokio::runtime::Builder;

use super::place::{Place, failed};

const FILE: &str = "STORAGEBOX_SQLITE_SHOP_FILE";
/// The most lines of output that the test reads before it kills the process that makes purchases (the shop).
const LINES: usize = 8;

/// Makes purchases until the process is killed, if the process was started for that. Otherwise returns `None`.
pub fn be_a_shop_if_asked() -> Option<ExitCode> {
    let file = PathBuf::from(env::var_os(FILE)?);
    let runtime = Builder::new_current_thread().enable_all().build().map_err(failed);
    let Err(error) = runtime.and_then(|runtime| runtime.block_on(shop(file)));
    eprintln!("the shop: {error}");
    Some(ExitCode::FAILURE)
}

/// Makes purchases. Prints the order and the receipt of each before its commit, and `committed` after the commit.
async fn shop(file: PathBuf) -> Result<std::convert::Infallible> {
    let store = SqliteStore::builder().call_timeout(Duration::from_secs(60)).open(&file)?;
    let options = sqlx::sqlite::SqliteConnectOptions::new().filename(&file).busy_timeout(Duration::from_secs(60));
    let mut connection = options.connect().await.map_err(failed)?;
    for number in 0.. {
        let order = format!("order-{}-{number}", std::process::id());
        tell(&mut connection, "BEGIN IMMEDIATE").await?;
        query("INSERT INTO orders VALUES (?)").bind(&order).execute(&mut connection).await.map_err(failed)?;
        let parts = store.within(&mut connection)?;
        let taken = parts.item_bank(&"vouchers".parse()?)?.take(&order.parse()?, Hold::Forever).await?;
        assert!(taken.item().is_some(), "{taken:?}");
        let receipt = parts.receipt().await?;
        drop(parts);
        say(&format!("{order} {receipt}"))?;
        tell(&mut connection, "COMMIT").await?;
        say(&format!("{order} committed"))?;
    }
    Err(failed("the numbers are over"))
}

fn say(line: &str) -> Result<()> {
    let mut output = std::io::stdout().lock();
    writeln!(output, "{line}").and_then(|()| output.flush()).map_err(failed)
}

async fn tell(connection: &mut SqliteConnection, sql: &'static str) -> Result<()> {
    raw_sql(sql).execute(connection).await.map(drop).map_err(failed)
}

/// The numbers of purchases whose commit was not printed: how many were committed, and how many were not.
#[derive(Debug, Default)]
pub struct Tally {
    pub committed: usize,
    pub not_committed: usize,
}

/// Starts and kills this many processes that make purchases, one after another, and checks everything that they
/// printed.
pub async fn killed_shops(place: &Place, kills: usize) -> Result<Tally> {
    let store = place.store()?;
    store.setup().await?;
    let mut look = place.raw().await?;
    tell(&mut look, "CREATE TABLE orders (id TEXT PRIMARY KEY)").await?;
    let bank = store.item_bank(&"vouchers".parse()?)?;
    let mut tally = Tally::default();
    for kill in 0..kills {
        let items = (0..LINES).map(|number| Item::new(format!("item-{kill}-{number}"))).collect::<Result<Vec<_>>>()?;
        bank.add(&items).await?;
        for (order, receipt, is_confirmed) in killed_shop(place, fastrand::usize(1..LINES)).map_err(failed)? {
            let records = store.dedup_repo(&Receipt::namespace()?)?;
            let state = settle(&*records, &receipt).await?;
            let ordered: i64 = query_scalar("SELECT count(*) FROM orders WHERE id = ?")
                .bind(&order)
                .fetch_one(&mut look)
                .await
                .map_err(failed)?;
            let is_held = matches!(bank.get(&order.parse()?).await?, ClaimState::Held(_));
            assert_eq!(ordered == 1, is_held, "{order}: an order without a voucher, or the reverse");
            assert_eq!(state == CommitState::Committed, is_held, "{order}: what the receipt tells");
            assert!(is_held || !is_confirmed, "{order} was committed");
            match state {
                CommitState::Committed if !is_confirmed => tally.committed += 1,
                CommitState::Committed => {}
                CommitState::NotCommitted => tally.not_committed += 1,
            }
        }
    }
    let orders: i64 = query_scalar("SELECT count(*) FROM orders").fetch_one(&mut look).await.map_err(failed)?;
    assert_eq!(orders.unsigned_abs(), bank.counts().await?.held, "orders, and vouchers that are given");
    Ok(tally)
}

/// Starts a process that makes purchases, and kills the process up to 2 ms after `lines` lines of output. Returns the
/// orders with their receipts, and whether each commit was printed.
fn killed_shop(place: &Place, lines: usize) -> std::io::Result<Vec<(String, Receipt, bool)>> {
    let mut shop = Command::new(env::current_exe()?).env(FILE, place.path()).stdout(Stdio::piped()).spawn()?;
    let mut output = BufReader::new(shop.stdout.take().ok_or_else(|| std::io::Error::other("it has no pipe"))?);
    let mut said = Vec::new();
    while said.len() < lines {
        let mut line = String::new();
        match output.read_line(&mut line)? {
            0 => break,
            _ => said.push(line),
        }
    }
    std::thread::sleep(Duration::from_micros(fastrand::u64(..2_000)));
    shop.kill()?;
    said.extend(output.lines().map_while(std::io::Result::ok).map(|line| line + "\n"));
    shop.wait()?;
    let words = said.iter().filter(|line| line.ends_with('\n')).filter_map(|line| line.trim_end().split_once(' '));
    let (confirmed, begun): (Vec<_>, Vec<_>) = words.partition(|(_, word)| *word == "committed");
    let receipts = begun.into_iter().filter_map(|(order, receipt)| {
        let is_confirmed = confirmed.iter().any(|(other, _)| *other == order);
        Some((order.to_owned(), receipt.parse().ok()?, is_confirmed))
    });
    Ok(receipts.collect())
}
