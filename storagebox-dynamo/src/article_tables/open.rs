//! How the tables of article 1's package are opened: the other end of the builder.

use aws_sdk_dynamodb::Client as Driver;
use storagebox_core::{Error, Result};

use super::ArticleTables;
use crate::client::Connection;
use crate::config::{self, DynamoBuilder, checked_table};

impl DynamoBuilder {
    /// The tables of article 1's Python package at `dynamodb://region/items`: the URL names the table of the items, and the
    /// records are in the one of this name. `fetch_limit` and `call_timeout` hold for them too. No I/O yet.
    ///
    /// # Errors
    ///
    /// As of [`connect`](Self::connect).
    pub fn connect_article_tables(self, url: &str, records: &str) -> Result<ArticleTables> {
        let (builder, address) = config::read(self, url).map_err(|error| error.on("dynamo"))?;
        builder.article_tables(Connection::to(address), records)
    }

    /// The same at `dynamodb+articles://region/items/records`, which names both; its query may hold `endpoint`,
    /// `call_timeout` and `fetch_limit`. No I/O yet.
    ///
    /// # Errors
    ///
    /// As of [`connect`](Self::connect).
    pub fn open_article_tables(self, url: &str) -> Result<ArticleTables> {
        let (builder, address, records) =
            config::of_articles(self, url).map_err(|error| error.on("dynamo"))?;
        builder.article_tables(Connection::to(address), &records)
    }

    /// The same behind this client; the table of the items is that of [`table`](Self::table).
    ///
    /// # Errors
    ///
    /// As of [`from_client`](Self::from_client).
    pub fn article_tables_from_client(self, client: &Driver, records: &str) -> Result<ArticleTables> {
        self.article_tables(Connection::given(client), records)
    }

    fn article_tables(self, connection: Connection, records: &str) -> Result<ArticleTables> {
        self.settings.checked().map_err(Error::of_configuration)?;
        checked_table(records)?;
        Ok(ArticleTables::with(connection, self.settings, records))
    }
}
