//! Servers in containers.

#[cfg(feature = "docker")]
mod abandoned;
#[cfg(feature = "docker")]
mod container;

#[cfg(feature = "docker")]
pub(crate) use container::start;

#[cfg(not(feature = "docker"))]
pub(crate) fn start(_: &'static crate::server::Kind) -> Result<crate::server::Started, crate::Failure> {
    Err(crate::Failure::WithoutDocker)
}
