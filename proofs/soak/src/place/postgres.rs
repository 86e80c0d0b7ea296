//! A Postgres server.

use std::net::SocketAddr;

use sqlx::postgres::PgConnectOptions;
use sqlx::{AssertSqlSafe, ConnectOptions, query_scalar};
use storagebox_testkit::postgres::{Postgres, Settings};
use tokio::task::spawn_blocking;

use crate::Failure;
use crate::size::Size;

const TABLES: &str = "SELECT tablename::text FROM pg_tables WHERE schemaname = 'soak'";
const BYTES: &str = "SELECT coalesce(sum(pg_total_relation_size(c.oid)), 0)::bigint FROM pg_class c \
                     JOIN pg_namespace n ON n.oid = c.relnamespace WHERE n.nspname = 'soak' AND c.relkind = 'r'";

pub(super) struct Database {
    pub(super) server: Postgres,
}

impl Database {
    pub(super) async fn start() -> Result<Self, Failure> {
        let server = spawn_blocking(|| Postgres::start(&Settings::durable())).await??;
        Ok(Self { server })
    }

    pub(super) fn url_at(&self, proxy: SocketAddr) -> String {
        let url = self.server.url().replace(&self.server.address().to_string(), &proxy.to_string());
        format!("{url}?schema=soak&remember=60s")
    }

    pub(super) async fn size(&self) -> Result<Size, Failure> {
        let mut server = self.server.url().parse::<PgConnectOptions>()?.connect().await?;
        let mut entries = 0;
        for table in query_scalar::<_, String>(TABLES).fetch_all(&mut server).await? {
            let count = format!("SELECT count(*) FROM soak.\"{table}\"");
            entries += query_scalar::<_, i64>(AssertSqlSafe(count)).fetch_one(&mut server).await?;
        }
        let bytes: i64 = query_scalar(BYTES).fetch_one(&mut server).await?;
        Ok(Size { entries: Some(entries.unsigned_abs()), bytes: bytes.unsigned_abs() })
    }
}
