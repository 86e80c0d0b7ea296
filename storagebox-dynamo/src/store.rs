//! The store: its boxes by kind and name, and its upkeep.

use std::fmt;
use std::sync::Arc;

use aws_sdk_dynamodb::Client as Driver;
use storagebox_core::Result;

use crate::client::{Client, Connection};
use crate::config::{DynamoBuilder, Settings};

/// A store in one DynamoDB table.
#[derive(Clone)]
pub struct DynamoStore {
    pub(crate) client: Arc<Client>,
}

impl DynamoStore {
    /// The store at `dynamodb://region/table`; see [`DynamoBuilder::connect`].
    ///
    /// # Errors
    ///
    /// `InvalidInput` for a URL that is not of this form.
    pub fn connect(url: &str) -> Result<Self> {
        Self::builder().connect(url)
    }

    /// The store behind this client; see [`DynamoBuilder::from_client`].
    ///
    /// # Errors
    ///
    /// None with the default settings.
    pub fn from_client(client: &Driver) -> Result<Self> {
        Self::builder().from_client(client)
    }

    /// Says more about how the store goes about its calls.
    pub fn builder() -> DynamoBuilder {
        DynamoBuilder::default()
    }

    pub(crate) fn with(connection: Connection, settings: Settings) -> Self {
        Self { client: Client::new(connection, settings) }
    }
}

impl fmt::Debug for DynamoStore {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("DynamoStore").field("settings", self.client.settings()).finish_non_exhaustive()
    }
}
