//! A server that is killed and restarted.

use storagebox_core::Assigned;

use super::{Told, add_seats, assign, crash_after, desk, ensure_settled, new_seat, recover_all};
use crate::failure::{Failure, Verdict, ensure, ensure_eq};
use crate::harness::Restart;
use crate::world::World;

pub(super) async fn what_was_assigned_survives_a_restart(world: &World) -> Verdict {
    add_seats(&**world.store(), "monday", 0..9).await?;
    let mut told = Told::new();
    for (number, how) in [Restart::Clean, Restart::Kill].into_iter().enumerate() {
        let client = world.client().await?;
        let (whole, half) = (format!("whole-{number}"), format!("half-{number}"));
        let seat = new_seat(&assign(&desk(&*client)?, &whole, "monday").await?, "monday")?;
        told.insert(whole, seat);
        crash_after(&client, &half, "monday", 2).await?;
        world.restart(how).await?;
        let fresh = desk(&*world.client().await?)?;
        ensure_eq!(recover_all(&fresh, 10).await?.finished, 1, "ids that a recovery finished after {how:?}");
        let assigned = assign(&fresh, &half, "monday").await?;
        ensure!(matches!(assigned, Assigned::Again { .. }), "{half} is answered {assigned:?} after {how:?}");
        let item = assigned.item().ok_or_else(|| Failure::new("no seat"))?.clone();
        told.insert(half, item);
    }
    ensure_settled(world, &told, 9).await
}
