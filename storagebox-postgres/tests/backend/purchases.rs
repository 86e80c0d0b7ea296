//! Purchases in a transaction of the caller, whose connection is lost at random points: an order and its voucher are
//! there together or not at all, and a receipt tells which (J-1, J-5).

use std::net::SocketAddr;

use sqlx::{Connection, PgConnection, query, query_scalar};
use storagebox_conformance::{Cut, Proxy};
use storagebox_core::{Backend, ClaimState, CommitState, Hold, Item, ItemBank, Receipt, Result, settle};
use storagebox_postgres::PostgresStore;

use crate::scene::{patient, tell};
use crate::support::{Place, failed, run};

#[derive(Clone, Copy, Debug)]
enum End {
    Committed,
    RolledBack,
    /// The client closes the connection.
    Dropped,
    /// A proxy cuts the connection when the client sends the request of this step.
    Cut(Cut, At),
    /// The server ends the session after this step.
    Terminated(At),
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum At {
    Order,
    Voucher,
    Receipt,
    Commit,
}

const POINTS: [At; 4] = [At::Order, At::Voucher, At::Receipt, At::Commit];
const CUTS: [Cut; 4] = [Cut::RequestLost, Cut::HalfRequest, Cut::ReplyLost, Cut::HalfReply];

impl End {
    fn random(rng: &mut fastrand::Rng) -> Self {
        let at = POINTS[rng.usize(..POINTS.len())];
        match rng.u8(..8) {
            0 => Self::Committed,
            1 => Self::RolledBack,
            2 => Self::Dropped,
            3 => Self::Terminated(at),
            4 => Self::Cut(CUTS[rng.usize(..CUTS.len())], At::Commit),
            _ => Self::Cut(CUTS[rng.usize(..CUTS.len())], at),
        }
    }
}

#[derive(Debug, Default)]
pub(crate) struct Tally {
    pub(crate) bought: usize,
    pub(crate) nothing: usize,
    /// The number of purchases that ended with an error, but whose outcome a receipt showed.
    pub(crate) told: usize,
}

struct Shop<'a> {
    place: &'a Place,
    store: PostgresStore,
    proxy: Proxy,
}

pub(crate) async fn purchases(place: &Place, count: usize, seed: u64) -> Result<Tally> {
    let (role, mut rng) = (place.database.role(), fastrand::Rng::with_seed(seed));
    run(
        place.database.owner(),
        format!("CREATE TABLE IF NOT EXISTS public.orders (id text PRIMARY KEY); GRANT ALL ON public.orders TO {role}"),
    )
    .await?;
    let store = patient(place)?;
    let proxy = Proxy::start(place.database.server()).await.map_err(failed)?;
    let shop = Shop { place, store, proxy };
    let items = (0..count).map(|number| Item::new(format!("item-{number}"))).collect::<Result<Vec<_>>>()?;
    shop.bank()?.add(&items).await?;
    let mut tally = Tally::default();
    for number in 0..count {
        let end = End::random(&mut rng);
        shop.check(number, end, &mut tally)
            .await
            .map_err(|error| failed(format!("seed {seed}, {number}, {end:?}: {error}")))?;
    }
    let (free, bought) = (shop.bank()?.counts().await?.free, tally.bought as u64);
    assert_eq!(free + bought, count as u64, "{bought} vouchers are bought and {free} free");
    Ok(tally)
}

impl Shop<'_> {
    fn bank(&self) -> Result<std::sync::Arc<dyn ItemBank>> {
        self.store.item_bank(&"vouchers".parse()?)
    }

    async fn connection(&self, address: SocketAddr) -> Result<PgConnection> {
        PgConnection::connect(&self.place.url_at(address)).await.map_err(failed)
    }

    /// Makes one purchase. Checks that its order and its voucher both exist, or neither.
    async fn check(&self, number: usize, end: End, tally: &mut Tally) -> Result<()> {
        let mut receipt = None;
        let committed = self.buy(number, end, &mut receipt).await;
        self.proxy.disarm();
        let (id, claim) = (order(number), claim(number));
        let state = match &receipt {
            Some(receipt) => {
                tally.told += usize::from(committed.is_err());
                Some(self.settled(receipt).await?)
            }
            None => None,
        };
        let held = until_over(|| async { Ok(matches!(self.bank()?.get(&claim.parse()?).await?, ClaimState::Held(_))) })
            .await?;
        let ordered: i64 = query_scalar("SELECT count(*) FROM public.orders WHERE id = $1")
            .bind(&id)
            .fetch_one(self.place.database.owner())
            .await
            .map_err(failed)?;
        assert_eq!(ordered == 1, held, "an order without a voucher, or a voucher without an order");
        if let Some(state) = state {
            assert_eq!(state == CommitState::Committed, held, "what the receipt tells");
        }
        if let Ok(committed) = committed {
            assert_eq!(committed, held, "what the caller was told");
        }
        if held {
            tally.bought += 1
        } else {
            tally.nothing += 1
        }
        Ok(())
    }

    /// Waits until the session of the purchase has ended, and returns the state that the receipt shows.
    async fn settled(&self, receipt: &Receipt) -> Result<CommitState> {
        let records = self.store.dedup_repo(&Receipt::namespace()?)?;
        until_over(|| settle(&*records, receipt)).await
    }

    /// Makes one purchase. Returns whether the purchase was committed, or an error if the caller cannot know.
    async fn buy(&self, number: usize, end: End, receipt: &mut Option<Receipt>) -> Result<bool> {
        let (id, claim) = (order(number), claim(number));
        if let End::Cut(cut, at) = end {
            let needle = match at {
                At::Order => id.clone(),
                At::Voucher => claim.clone(),
                At::Receipt => "written".to_owned(),
                At::Commit => "COMMIT".to_owned(),
            };
            self.proxy.arm(cut, needle, 0);
        }
        let mut connection = self.connection(self.proxy.addr()).await?;
        let pid: i32 = query_scalar("SELECT pg_backend_pid()").fetch_one(&mut connection).await.map_err(failed)?;
        tell(&mut connection, "BEGIN").await?;
        query("INSERT INTO public.orders VALUES ($1)").bind(&id).execute(&mut connection).await.map_err(failed)?;
        self.end_session(end, At::Order, pid).await?;
        {
            let parts = self.store.within(&mut connection)?;
            let taken = parts.item_bank(&"vouchers".parse()?)?.take(&claim.parse()?, Hold::Forever).await?;
            assert!(taken.item().is_some(), "{taken:?}");
        }
        self.end_session(end, At::Voucher, pid).await?;
        *receipt = Some(self.store.within(&mut connection)?.receipt().await?);
        self.end_session(end, At::Receipt, pid).await?;
        match end {
            End::RolledBack => tell(&mut connection, "ROLLBACK").await.map(|()| false),
            // The connection is closed with the transaction on it.
            End::Dropped => Ok(false),
            _ => tell(&mut connection, "COMMIT").await.map(|()| true),
        }
    }

    async fn end_session(&self, end: End, after: At, pid: i32) -> Result<()> {
        if matches!(end, End::Terminated(at) if at == after) {
            run(self.place.database.owner(), format!("SELECT pg_terminate_backend({pid})")).await?;
        }
        Ok(())
    }
}

fn order(number: usize) -> String {
    format!("order-{number}.")
}

fn claim(number: usize) -> String {
    format!("buyer-{number}.")
}

async fn until_over<T, F>(call: impl Fn() -> F + Send + Sync) -> Result<T>
where
    F: Future<Output = Result<T>> + Send,
{
    loop {
        match call().await {
            Err(error) if error.is_retryable() => tokio::time::sleep(std::time::Duration::from_millis(20)).await,
            answer => return answer,
        }
    }
}
