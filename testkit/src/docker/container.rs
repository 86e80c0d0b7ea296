//! A container with its own thread and runtime, so that the caller may have a runtime or none.

use std::error::Error;
use std::sync::mpsc::{Receiver, Sender, channel};
use std::thread::{self, JoinHandle};
use std::time::Duration;

use testcontainers::bollard::Docker;
use testcontainers::bollard::query_parameters::InspectContainerOptions;
use testcontainers::core::IntoContainerPort;
use testcontainers::core::client::docker_client_instance;
use testcontainers::runners::AsyncRunner;
use testcontainers::{ContainerAsync, ContainerRequest, GenericImage, ImageExt};
use tokio::runtime::Builder;
use tokio::time::timeout;

use super::abandoned;
use crate::failure::Failure;
use crate::polling::poll;
use crate::server::{Kind, Started};

const PING: Duration = Duration::from_secs(3);
const PULL: Duration = Duration::from_secs(300);
const START: Duration = Duration::from_secs(60);

type Running = ContainerAsync<GenericImage>;

/// The thread that runs a container. Dropping this value removes the container.
struct Guard {
    hold: Option<Sender<()>>,
    thread: Option<JoinHandle<()>>,
}

impl Drop for Guard {
    fn drop(&mut self) {
        drop(self.hold.take());
        // A panic of the thread has been printed.
        let _ = self.thread.take().map(JoinHandle::join);
    }
}

pub(crate) fn start(kind: &'static Kind) -> Result<Started, Failure> {
    let (tell, told) = channel();
    let (hold, held) = channel();
    let thread = thread::spawn(move || keep(kind, &tell, &held));
    let guard = Guard { hold: Some(hold), thread: Some(thread) };
    let ended = || Failure::Docker("the container's thread ended early".to_owned());
    let url = told.recv().unwrap_or_else(|_| Err(ended()))?;
    Ok(Started { version: kind.version(&url), url, guard: Box::new(guard) })
}

/// Starts the container and sends the URL of its server. Keeps the container until the sender of `held` is dropped.
fn keep(kind: &Kind, tell: &Sender<Result<String, Failure>>, held: &Receiver<()>) {
    let runtime = match Builder::new_multi_thread().worker_threads(1).enable_all().build() {
        Ok(runtime) => runtime,
        Err(error) => return drop(tell.send(Err(told_by(&error)))),
    };
    runtime.block_on(async {
        // A container must be dropped within a runtime.
        let (url, _container) = match run(kind).await {
            Ok((url, container)) => (Ok(url), Some(container)),
            Err(failure) => (Err(failure), None),
        };
        if tell.send(url).is_ok() {
            let _ = held.recv();
        }
    });
}

async fn run(kind: &Kind) -> Result<(String, Running), Failure> {
    let engine = engine().await?;
    abandoned::remove(&engine).await;
    let image = kind.image.name().ok_or(Failure::NoImage { variable: kind.image.variable })?;
    provide(&engine, &image).await?;
    let container = request(kind, &image)?.start().await.map_err(|error| told_by(&error))?;
    let url = url(kind, &engine, &container).await?;
    if poll(START, || (kind.ask)(&url).ok()).is_none() {
        return Err(silent(&container).await);
    }
    Ok((url, container))
}

async fn engine() -> Result<Docker, Failure> {
    let engine = docker_client_instance().await.map_err(|error| told_by(&error))?;
    let ping = timeout(PING, engine.ping()).await;
    let ping = ping.map_err(|_| Failure::Docker(format!("the engine does not answer within {PING:?}")))?;
    ping.map_err(|error| told_by(&error))?;
    Ok(engine)
}

/// Pulls the image if the engine does not have the image.
async fn provide(engine: &Docker, image: &str) -> Result<(), Failure> {
    if engine.inspect_image(image).await.is_ok() {
        return Ok(());
    }
    eprintln!("pulling {image}");
    // The library's own timeouts do not cover the pull.
    let pull = timeout(PULL, generic(image)?.pull_image()).await;
    let pull = pull.map_err(|_| Failure::Docker(format!("{image} was not pulled within {PULL:?}")))?;
    pull.map(drop).map_err(|error| told_by(&error))
}

/// Splits an image `NAME:TAG` into its name and its tag.
fn generic(image: &str) -> Result<GenericImage, Failure> {
    // A colon before a slash belongs to a registry's port.
    let parts = image.rsplit_once(':').filter(|(_, tag)| !tag.contains('/'));
    let (name, tag) = parts.ok_or_else(|| Failure::Docker(format!("the image {image} is not NAME:TAG")))?;
    Ok(GenericImage::new(name, tag))
}

fn request(kind: &Kind, image: &str) -> Result<ContainerRequest<GenericImage>, Failure> {
    let run = &kind.image.run;
    let image = generic(image)?.with_exposed_port(run.port.tcp());
    let request = image.with_cmd(run.command.iter().copied());
    let request = request.with_labels([(abandoned::LABEL, abandoned::owner())]);
    Ok(run.environment.iter().fold(request, |request, (name, value)| request.with_env_var(*name, *value)))
}

async fn url(kind: &Kind, engine: &Docker, container: &Running) -> Result<String, Failure> {
    let host = container.get_host().await.map_err(|error| told_by(&error))?.to_string();
    // The same port of [::1] may belong to another container.
    let host = if host == "localhost" { "127.0.0.1" } else { &host };
    let run = &kind.image.run;
    match container.get_host_port_ipv4(run.port).await {
        Ok(port) => Ok((run.url)(host, port)),
        Err(error) => {
            // Podman 4 gives no host address with a port, and the library ignores such a port.
            let port = inspected_port(engine, container.id(), run.port).await;
            port.map(|port| (run.url)(host, port)).ok_or_else(|| told_by(&error))
        }
    }
}

/// Inspects a container, and returns the port of the host that leads to this port of the container.
async fn inspected_port(engine: &Docker, id: &str, port: u16) -> Option<u16> {
    let container = engine.inspect_container(id, None::<InspectContainerOptions>).await.ok()?;
    let mut ports = container.network_settings?.ports?;
    let bindings = ports.remove(&format!("{port}/tcp"))??;
    bindings.into_iter().find_map(|binding| binding.host_port?.parse().ok())
}

async fn silent(container: &Running) -> Failure {
    let log = container.stderr_to_vec().await.unwrap_or_default();
    let log = String::from_utf8_lossy(&log).into_owned();
    Failure::Docker(format!("the server in the container did not answer within {START:?}; it wrote:\n{log}"))
}

/// Joins the texts of an error and its sources.
fn told_by(error: &(dyn Error + 'static)) -> Failure {
    let errors = std::iter::successors(Some(error), |error| (**error).source());
    Failure::Docker(errors.map(ToString::to_string).collect::<Vec<_>>().join(": "))
}
