//! An order and its voucher in one commit, with diesel-async.

use std::error::Error;

use diesel::pg::Pg;
use diesel::query_builder::{BoxedSqlQuery, SqlQuery};
use diesel::sql_types::{BigInt, Binary, Double, Nullable, Text};
use diesel::{QueryableByName, sql_query};
use diesel_async::{AsyncConnection, AsyncPgConnection, RunQueryDsl};
use storagebox_core::Hold;
use storagebox_postgres::sql::{self, Arg, Schema, Statement};

/// The columns that this program reads from the result of `assign`.
#[derive(QueryableByName)]
struct Assigned {
    #[diesel(sql_type = Text)]
    outcome: String,
    #[diesel(sql_type = Nullable<Text>)]
    item: Option<String>,
}

/// The reason why an order was rolled back.
enum Undone {
    /// `assign` returned this outcome instead of a voucher.
    Refused(String),
    Failed(diesel::result::Error),
}

impl From<diesel::result::Error> for Undone {
    fn from(error: diesel::result::Error) -> Self {
        Self::Failed(error)
    }
}

/// Places an order for a customer, and returns the voucher. If no voucher is left, writes nothing and returns `None`.
pub async fn order(connection: &mut AsyncPgConnection, customer: &str) -> Result<Option<String>, Box<dyn Error>> {
    let assign = sql::assign(&Schema::default(), &"vouchers".parse()?, &customer.parse()?, Hold::Forever);
    let ordered = connection.transaction(async |connection| {
        let insert = sql_query("INSERT INTO orders (customer) VALUES ($1)").bind::<Text, _>(customer);
        insert.execute(connection).await?;
        let assigned: Assigned = bound(&assign).get_result(connection).await?;
        let Some(voucher) = assigned.item else { return Err(Undone::Refused(assigned.outcome)) };
        let update = sql_query("UPDATE orders SET voucher = $2 WHERE customer = $1").bind::<Text, _>(customer);
        update.bind::<Text, _>(&voucher).execute(connection).await?;
        Ok(voucher)
    });
    match ordered.await {
        Ok(voucher) => Ok(Some(voucher)),
        Err(Undone::Refused(outcome)) if outcome == "busy" => {
            Err("other orders hold the last vouchers; order again".into())
        }
        Err(Undone::Refused(_)) => Ok(None),
        Err(Undone::Failed(error)) => Err(error.into()),
    }
}

/// Converts a statement of the store to a query of Diesel.
fn bound(statement: &Statement) -> BoxedSqlQuery<'_, Pg, SqlQuery> {
    statement.args.iter().fold(sql_query(&statement.text).into_boxed(), |query, arg| match arg {
        Arg::Text(text) => query.bind::<Nullable<Text>, _>(text.as_deref()),
        Arg::Int(number) => query.bind::<Nullable<BigInt>, _>(number),
        Arg::Seconds(seconds) => query.bind::<Nullable<Double>, _>(seconds),
        Arg::Bytes(bytes) => query.bind::<Binary, _>(bytes),
    })
}
