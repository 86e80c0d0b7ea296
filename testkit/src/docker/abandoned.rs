//! Removes containers whose program has ended. A container outlives a program that is killed, or that keeps it in a
//! static.

use std::collections::HashMap;
use std::process::{self, Command, Stdio};

use testcontainers::bollard::Docker;
use testcontainers::bollard::models::ContainerSummary;
use testcontainers::bollard::query_parameters::{ListContainersOptionsBuilder, RemoveContainerOptionsBuilder};

/// The label with the owner of a container, as `host:process`.
pub(super) const LABEL: &str = "storagebox.testkit.owner";

pub(super) fn owner() -> String {
    format!("{}:{}", host(), process::id())
}

/// Removes the containers of programs that have ended, and prints their number.
pub(super) async fn remove(engine: &Docker) {
    let filters = HashMap::from([("label", vec![LABEL])]);
    let options = ListContainersOptionsBuilder::new().all(true).filters(&filters).build();
    let containers = engine.list_containers(Some(options)).await.unwrap_or_default();
    let mut removed = 0;
    for container in containers.iter().filter(|container| is_abandoned(container)) {
        let options = RemoveContainerOptionsBuilder::new().force(true).v(true).build();
        let id = container.id.as_deref().unwrap_or_default();
        // A container that cannot be removed now is left to the next program.
        removed += usize::from(engine.remove_container(id, Some(options)).await.is_ok());
    }
    if removed > 0 {
        eprintln!("removed {removed} containers of programs that are gone");
    }
}

fn is_abandoned(container: &ContainerSummary) -> bool {
    let owner = container.labels.as_ref().and_then(|labels| labels.get(LABEL));
    let owner = owner.and_then(|owner| owner.rsplit_once(':'));
    owner.is_some_and(|(of, process)| of == host() && is_gone(process))
}

/// Returns whether `ps` reports that the process has ended. Returns false without `ps`.
fn is_gone(process: &str) -> bool {
    let status = Command::new("ps").args(["-p", process]).stdout(Stdio::null()).status();
    status.is_ok_and(|status| status.code() == Some(1))
}

fn host() -> String {
    let output = Command::new("uname").arg("-n").output();
    output.map_or_else(|_| String::new(), |it| String::from_utf8_lossy(&it.stdout).trim().to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(owner: &str) -> ContainerSummary {
        let labels = HashMap::from([(LABEL.to_owned(), owner.to_owned())]);
        ContainerSummary { labels: Some(labels), ..ContainerSummary::default() }
    }

    #[test]
    fn a_container_is_abandoned_if_its_program_on_this_host_ended() {
        let mut gone = Command::new("true").spawn().unwrap();
        gone.wait().unwrap();
        assert!(is_abandoned(&of(&format!("{}:{}", host(), gone.id()))));
        assert!(!is_abandoned(&of(&format!("elsewhere:{}", gone.id()))));
        assert!(!is_abandoned(&of(&owner())));
        assert!(!is_abandoned(&ContainerSummary::default()));
    }
}
