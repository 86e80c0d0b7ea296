//! A server that speaks DynamoDB.

use std::net::SocketAddr;

use aws_sdk_dynamodb::Client;
use aws_sdk_dynamodb::config::{BehaviorVersion, Credentials, Region};
use storagebox::{DynamoStore, Retention, Store};
use storagebox_testkit::dynamodb::{Data, Dynamo};
use tokio::task::spawn_blocking;

use crate::Failure;
use crate::caller::MEMORY;
use crate::size::Size;

const TABLE: &str = "soak";

pub(super) struct Table {
    pub(super) server: Dynamo,
}

impl Table {
    pub(super) async fn start() -> Result<Self, Failure> {
        let server = spawn_blocking(|| Dynamo::start(Data::InFile)).await??;
        Ok(Self { server })
    }

    pub(super) fn store_at(&self, address: SocketAddr) -> Result<Store, Failure> {
        let builder = DynamoStore::builder().table(TABLE).protect(false).remember(Retention::For(MEMORY));
        Ok(Store::new(builder.from_client(&client(address))?))
    }

    /// Returns the number of rows, and the total length of the rows as text.
    pub(super) async fn size(&self) -> Result<Size, Failure> {
        let mut pages = client(self.server.address()).scan().table_name(TABLE).into_paginator().send();
        let (mut entries, mut bytes) = (0, 0);
        while let Some(page) = pages.next().await {
            for row in page?.items.into_iter().flatten() {
                entries += 1;
                bytes += format!("{row:?}").len() as u64;
            }
        }
        Ok(Size { entries: Some(entries), bytes })
    }
}

/// Creates a client with dummy credentials.
fn client(address: SocketAddr) -> Client {
    let config = aws_sdk_dynamodb::Config::builder()
        .behavior_version(BehaviorVersion::v2026_01_12())
        .region(Region::new("us-east-1"))
        .credentials_provider(Credentials::new("storagebox", "nothing", None, None, "proofs"))
        .endpoint_url(format!("http://{address}"))
        .http_client(aws_smithy_http_client::Builder::new().build_http());
    Client::from_conf(config.build())
}
