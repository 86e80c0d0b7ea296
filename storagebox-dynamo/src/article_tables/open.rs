//! Opens the tables of article 1's package with the settings of the builder.

use aws_sdk_dynamodb::Client as Driver;
use storagebox_core::{Error, Result};

use super::ArticleTables;
use crate::client::Connection;
use crate::config::{self, DynamoBuilder, checked_table};

impl DynamoBuilder {
    /// Opens the tables of article 1's Python package at `dynamodb://region/items`. The URL names the table of the
    /// items, and `records` names the table of the records. `fetch_limit` and `call_timeout` apply to them too. The
    /// first call connects.
    ///
    /// # Errors
    ///
    /// The errors of [`connect`](Self::connect).
    pub fn connect_article_tables(self, url: &str, records: &str) -> Result<ArticleTables> {
        let (builder, address) = config::read(self, url).map_err(|error| error.on("dynamo"))?;
        builder.article_tables(Connection::to(address), records)
    }

    /// Opens the same tables at `dynamodb+articles://region/items/records`, which names both tables. The query keys are
    /// `endpoint`, `call_timeout` and `fetch_limit`. The first call connects.
    ///
    /// # Errors
    ///
    /// The errors of [`connect`](Self::connect).
    pub fn open_article_tables(self, url: &str) -> Result<ArticleTables> {
        let (builder, address, records) = config::of_articles(self, url).map_err(|error| error.on("dynamo"))?;
        builder.article_tables(Connection::to(address), &records)
    }

    /// Opens the same tables on an existing client. [`table`](Self::table) sets the table of the items.
    ///
    /// # Errors
    ///
    /// The errors of [`from_client`](Self::from_client).
    pub fn article_tables_from_client(self, client: &Driver, records: &str) -> Result<ArticleTables> {
        self.article_tables(Connection::given(client), records)
    }

    fn article_tables(self, connection: Connection, records: &str) -> Result<ArticleTables> {
        self.settings.checked().map_err(Error::of_configuration)?;
        checked_table(records)?;
        Ok(ArticleTables::with(connection, self.settings, records))
    }
}
