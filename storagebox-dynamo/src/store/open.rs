//! Opens a store with the settings of its builder.

use aws_sdk_dynamodb::Client as Driver;
use storagebox_core::{Error, Result};

use super::DynamoStore;
use crate::client::Connection;
use crate::config::{self, DynamoBuilder};

impl DynamoBuilder {
    /// Opens a store by URL, `dynamodb://region/table?endpoint=http://…`, with the credentials that the SDK finds. The
    /// first call connects.
    ///
    /// # Errors
    ///
    /// Returns `Misconfigured` if the URL does not have this form, a query key is unknown, or a setting is out of
    /// range.
    pub fn connect(self, url: &str) -> Result<DynamoStore> {
        let (builder, address) = config::read(self, url).map_err(|error| error.on("dynamo"))?;
        builder.build(Connection::to(address))
    }

    /// Opens a store on an existing client. The store uses a copy of the client with retries turned off, because
    /// storagebox decides what is retried.
    ///
    /// # Errors
    ///
    /// Returns `Misconfigured` if a setting is out of range.
    pub fn from_client(self, client: &Driver) -> Result<DynamoStore> {
        self.build(Connection::given(client))
    }

    fn build(self, connection: Connection) -> Result<DynamoStore> {
        self.settings.checked().map_err(Error::of_configuration)?;
        Ok(DynamoStore::with(connection, self.settings))
    }
}
