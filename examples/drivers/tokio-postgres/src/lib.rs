//! An order and its voucher in one commit, with tokio-postgres.

use std::error::Error;

use storagebox_core::Hold;
use storagebox_postgres::sql::{self, Arg, Schema, Statement};
use tokio_postgres::types::ToSql;
use tokio_postgres::{Client, GenericClient, Row};

/// Places an order for a customer, and returns the voucher. If no voucher is left, writes nothing and returns `None`.
pub async fn order(client: &mut Client, customer: &str) -> Result<Option<String>, Box<dyn Error>> {
    let assign = sql::assign(&Schema::default(), &"vouchers".parse()?, &customer.parse()?, Hold::Forever);
    // If the transaction is dropped without a commit, it is rolled back.
    let transaction = client.transaction().await?;
    transaction.execute("INSERT INTO orders (customer) VALUES ($1)", &[&customer]).await?;
    let assigned = sent(&transaction, &assign).await?;
    let voucher: String = match assigned.try_get("outcome")? {
        "new" | "again" => assigned.try_get("item")?,
        "busy" => return Err("other orders hold the last vouchers; order again".into()),
        _ => return Ok(None),
    };
    transaction.execute("UPDATE orders SET voucher = $2 WHERE customer = $1", &[&customer, &voucher]).await?;
    transaction.commit().await?;
    Ok(Some(voucher))
}

async fn sent(client: &impl GenericClient, statement: &Statement) -> Result<Row, tokio_postgres::Error> {
    let args: Vec<_> = statement.args.iter().map(bound).collect();
    client.query_one(&statement.text, &args).await
}

fn bound(arg: &Arg) -> &(dyn ToSql + Sync) {
    match arg {
        Arg::Text(text) => text,
        Arg::Int(number) => number,
        Arg::Seconds(seconds) => seconds,
        Arg::Bytes(bytes) => bytes,
    }
}
