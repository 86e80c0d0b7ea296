//! An order and its voucher in one commit, with SeaORM.

use std::error::Error;

use sea_orm::{
    ConnectionTrait, DatabaseConnection, DatabaseTransaction, DbBackend, Statement, TransactionTrait, Value,
};
use storagebox_core::Hold;
use storagebox_postgres::sql::{self, Arg, Schema};

/// Places an order for a customer, and returns the voucher. If no voucher is left, writes nothing and returns `None`.
pub async fn order(database: &DatabaseConnection, customer: &str) -> Result<Option<String>, Box<dyn Error>> {
    let transaction = database.begin().await?;
    let ordered = write(&transaction, customer).await;
    match &ordered {
        Ok(Some(_)) => transaction.commit().await?,
        // A transaction that is only dropped would hold its voucher for some time longer.
        _ => transaction.rollback().await?,
    }
    ordered
}

async fn write(transaction: &DatabaseTransaction, customer: &str) -> Result<Option<String>, Box<dyn Error>> {
    let assign = sql::assign(&Schema::default(), &"vouchers".parse()?, &customer.parse()?, Hold::Forever);
    transaction.execute_raw(own("INSERT INTO orders (customer) VALUES ($1)", [customer])).await?;
    let assigned = transaction.query_one_raw(bound(assign)).await?.ok_or("assign returned no row")?;
    let voucher: String = match assigned.try_get::<String>("", "outcome")?.as_str() {
        "new" | "again" => assigned.try_get("", "item")?,
        "busy" => return Err("other orders hold the last vouchers; order again".into()),
        _ => return Ok(None),
    };
    let update = own("UPDATE orders SET voucher = $2 WHERE customer = $1", [customer, &voucher]);
    transaction.execute_raw(update).await?;
    Ok(Some(voucher))
}

fn own<const N: usize>(text: &str, args: [&str; N]) -> Statement {
    Statement::from_sql_and_values(DbBackend::Postgres, text, args.map(Value::from))
}

/// Converts a statement of the store to a statement of SeaORM.
fn bound(statement: sql::Statement) -> Statement {
    let args = statement.args.into_iter().map(|arg| match arg {
        Arg::Text(text) => Value::from(text),
        Arg::Int(number) => Value::from(number),
        Arg::Seconds(seconds) => Value::from(seconds),
        Arg::Bytes(bytes) => Value::from(bytes),
    });
    Statement::from_sql_and_values(DbBackend::Postgres, statement.text, args)
}
