//! Continuous backups, from which the table can be restored as of any second of the last weeks.

use aws_sdk_dynamodb::types::{
    ContinuousBackupsDescription, PointInTimeRecoverySpecification, PointInTimeRecoveryStatus,
};
use futures_util::FutureExt as _;
use storagebox_core::{ErrorKind, Result};

use crate::client::Client;
use crate::error::{self, incomplete};

/// Turns the backups on if they are off. Does not change how far back they reach.
pub(super) async fn turn_on(client: &Client) -> Result<()> {
    let driver = client.driver().await;
    let answer = driver.describe_continuous_backups().table_name(client.table()).send().boxed().await;
    let described = match answer.map_err(|error| error::reading(error::of(error))) {
        Ok(answer) => answer.continuous_backups_description,
        // A stand-in for DynamoDB has no backups.
        Err(error) if error.kind() == ErrorKind::Unsupported => return Ok(()),
        Err(error) => return Err(error),
    };
    if described.as_ref().is_some_and(are_on) {
        return Ok(());
    }
    let wanted = PointInTimeRecoverySpecification::builder().point_in_time_recovery_enabled(true);
    let request = driver.update_continuous_backups().table_name(client.table());
    let request = request.point_in_time_recovery_specification(wanted.build().map_err(incomplete)?);
    request.send().boxed().await.map(drop).map_err(error::of)
}

fn are_on(described: &ContinuousBackupsDescription) -> bool {
    let recovery = described.point_in_time_recovery_description();
    let status = recovery.and_then(|recovery| recovery.point_in_time_recovery_status());
    status == Some(&PointInTimeRecoveryStatus::Enabled)
}
