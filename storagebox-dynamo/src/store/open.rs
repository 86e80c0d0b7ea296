//! How a store is opened: the end of its builder.

use aws_sdk_dynamodb::Client as Driver;
use storagebox_core::{Error, Result};

use super::DynamoStore;
use crate::client::Connection;
use crate::config::{self, DynamoBuilder};

impl DynamoBuilder {
    /// The store at `dynamodb://region/table?endpoint=http://…`, with the credentials that the SDK finds. No I/O yet.
    ///
    /// # Errors
    ///
    /// `Misconfigured` for a URL that is not of this form, an unknown query key, or a setting out of its range.
    pub fn connect(self, url: &str) -> Result<DynamoStore> {
        let (builder, address) = config::read(self, url).map_err(|error| error.on("dynamo"))?;
        builder.build(Connection::to(address))
    }

    /// The store behind this client, whose retries are turned off in a copy of it: storagebox decides what is tried again.
    ///
    /// # Errors
    ///
    /// `Misconfigured` for a setting out of its range.
    pub fn from_client(self, client: &Driver) -> Result<DynamoStore> {
        self.build(Connection::given(client))
    }

    fn build(self, connection: Connection) -> Result<DynamoStore> {
        self.settings.checked().map_err(Error::of_configuration)?;
        Ok(DynamoStore::with(connection, self.settings))
    }
}
