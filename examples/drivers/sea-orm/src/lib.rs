//! An order and its voucher in one commit, with SeaORM.

use std::error::Error;

use sea_orm::{ConnectionTrait, DatabaseConnection, DbBackend, Statement, TransactionTrait, Value};
use storagebox_core::Hold;
use storagebox_postgres::sql::{self, Arg, Schema};

/// Orders for a customer. Returns the voucher; `None`, and nothing is written, if none is left.
pub async fn order(database: &DatabaseConnection, customer: &str) -> Result<Option<String>, Box<dyn Error>> {
    let assign = sql::assign(&Schema::default(), &"vouchers".parse()?, &customer.parse()?, Hold::Forever);
    // Without a commit, the transaction is rolled back when it is dropped.
    let transaction = database.begin().await?;
    transaction.execute_raw(own("INSERT INTO orders (customer) VALUES ($1)", [customer])).await?;
    let assigned = transaction.query_one_raw(bound(assign)).await?.ok_or("assign returned no row")?;
    let Some(voucher) = assigned.try_get::<Option<String>>("", "item")? else { return Ok(None) };
    let update = own("UPDATE orders SET voucher = $2 WHERE customer = $1", [customer, &voucher]);
    transaction.execute_raw(update).await?;
    transaction.commit().await?;
    Ok(Some(voucher))
}

fn own<const N: usize>(text: &str, args: [&str; N]) -> Statement {
    Statement::from_sql_and_values(DbBackend::Postgres, text, args.map(Value::from))
}

/// Returns SeaORM's form of any statement of the store.
fn bound(statement: sql::Statement) -> Statement {
    let args = statement.args.into_iter().map(|arg| match arg {
        Arg::Text(text) => Value::from(text),
        Arg::Int(number) => Value::from(number),
        Arg::Seconds(seconds) => Value::from(seconds),
        Arg::Bytes(bytes) => Value::from(bytes),
    });
    Statement::from_sql_and_values(DbBackend::Postgres, statement.text, args)
}
