//! An order and its voucher in one commit, with diesel-async.

use std::error::Error;

use diesel::pg::Pg;
use diesel::query_builder::{BoxedSqlQuery, SqlQuery};
use diesel::result::Error as Failure;
use diesel::sql_types::{BigInt, Binary, Double, Nullable, Text};
use diesel::{QueryableByName, sql_query};
use diesel_async::{AsyncConnection, AsyncPgConnection, RunQueryDsl};
use storagebox_core::Hold;
use storagebox_postgres::sql::{self, Arg, Schema, Statement};

/// The columns of `assign` that this program reads.
#[derive(QueryableByName)]
struct Assigned {
    #[diesel(sql_type = Nullable<Text>)]
    item: Option<String>,
}

/// Orders for a customer. Returns the voucher; `None`, and nothing is written, if none is left.
pub async fn order(connection: &mut AsyncPgConnection, customer: &str) -> Result<Option<String>, Box<dyn Error>> {
    let assign = sql::assign(&Schema::default(), &"vouchers".parse()?, &customer.parse()?, Hold::Forever);
    let ordered = connection.transaction(async |connection| {
        let insert = sql_query("INSERT INTO orders (customer) VALUES ($1)").bind::<Text, _>(customer);
        insert.execute(connection).await?;
        let assigned: Assigned = bound(&assign).get_result(connection).await?;
        let voucher = assigned.item.ok_or(Failure::RollbackTransaction)?;
        let update = sql_query("UPDATE orders SET voucher = $2 WHERE customer = $1").bind::<Text, _>(customer);
        update.bind::<Text, _>(&voucher).execute(connection).await?;
        Ok(voucher)
    });
    match ordered.await {
        Ok(voucher) => Ok(Some(voucher)),
        Err(Failure::RollbackTransaction) => Ok(None),
        Err(error) => Err(error.into()),
    }
}

/// Returns the query for any statement of the store.
fn bound(statement: &Statement) -> BoxedSqlQuery<'_, Pg, SqlQuery> {
    statement.args.iter().fold(sql_query(&statement.text).into_boxed(), |query, arg| match arg {
        Arg::Text(text) => query.bind::<Nullable<Text>, _>(text.as_deref()),
        Arg::Int(number) => query.bind::<Nullable<BigInt>, _>(number),
        Arg::Seconds(seconds) => query.bind::<Nullable<Double>, _>(seconds),
        Arg::Bytes(bytes) => query.bind::<Binary, _>(bytes),
    })
}
