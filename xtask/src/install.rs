//! Installs the programs that the tests need: Debian packages, and one program that cargo installs.

use std::fmt;
use std::panic::resume_unwind;
use std::process::Command;
use std::thread::{self, JoinHandle};

use storagebox_testkit::dynamodb::{self, Dynamo};
use storagebox_testkit::programs::in_path;

use anyhow::{Result, ensure};

use crate::command::{BackgroundCommand, captured, cargo, silent};
use crate::needed::{self, Lacking, POSTGRES, Program};
use crate::steps::Steps;

/// Prints what is missing and begins to install it.
///
/// # Errors
///
/// Returns [`Lacking`], and installs nothing, if packages are missing and this user may not install them.
pub(crate) fn all() -> Result<PendingInstalls> {
    let (programs, rights) = (needed::missing(), Rights::here()?);
    ensure!(programs.is_empty() || rights != Rights::None, Lacking(programs));
    let plan = Plan { programs, rights, dynoxide: !Dynamo::is_installed() };
    println!("{plan}");
    let dynoxide = plan.dynoxide.then(|| BackgroundCommand::begin(dynoxide_by_cargo())).transpose()?;
    let packages = (!plan.programs.is_empty()).then(|| thread::spawn(move || plan.packages()));
    Ok(PendingInstalls { packages, dynoxide })
}

/// Installations that run concurrently with other steps, because the packages mostly wait, and the build of dynoxide
/// mostly uses one core.
#[must_use]
pub(crate) struct PendingInstalls {
    packages: Option<JoinHandle<Result<String>>>,
    dynoxide: Option<BackgroundCommand>,
}

impl PendingInstalls {
    pub(crate) fn arrive(mut self, steps: &mut Steps) -> Result<()> {
        if let Some(packages) = self.packages.take() {
            steps.step("Debian packages, begun before", || {
                packages.join().unwrap_or_else(|panic| resume_unwind(panic))
            })?;
        }
        if let Some(build) = self.dynoxide.take() {
            steps.step("dynoxide, begun before", || build.captured().map(|_| String::new()))?;
        }
        Ok(())
    }
}

/// Waits for the packages, even if another step has failed.
impl Drop for PendingInstalls {
    fn drop(&mut self) {
        // Half-installed packages are worse than a wait.
        let _ = self.packages.take().map(JoinHandle::join);
    }
}

/// How Debian packages can be installed here.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Rights {
    Root,
    Sudo,
    /// Packages cannot be installed.
    None,
}

impl Rights {
    fn here() -> Result<Self> {
        if in_path("apt-get").is_none() {
            return Ok(Self::None);
        }
        let mut user = Command::new("id");
        user.arg("-u");
        Ok(match captured(user)?.trim() {
            "0" => Self::Root,
            _ if in_path("sudo").is_some() => Self::Sudo,
            _ => Self::None,
        })
    }

    /// Returns a command that runs as root, without prompts and without starting installed services.
    fn command(self, words: &[&str]) -> Command {
        let settings = ["env", "DEBIAN_FRONTEND=noninteractive", "RUNLEVEL=1"];
        let words = settings.iter().chain(words);
        let mut words = if self == Self::Sudo { ["sudo"].iter().chain(words) } else { [].iter().chain(words) };
        let mut command = Command::new(words.next().unwrap_or(&"env"));
        command.args(words);
        command
    }
}

/// The programs that will be installed.
struct Plan {
    programs: Vec<Program>,
    rights: Rights,
    dynoxide: bool,
}

impl fmt::Display for Plan {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.programs.is_empty() && !self.dynoxide {
            return f.write_str("Nothing to install: the servers that the tests need are there.");
        }
        f.write_str("To be installed for the tests:")?;
        if !self.programs.is_empty() {
            let by = if self.rights == Rights::Sudo { "sudo apt-get" } else { "apt-get" };
            write!(f, "\n  by {by}: {}; no service is started", self.debian().join(", "))?;
        }
        if self.dynoxide {
            f.write_str(
                "\n  by cargo, into target/tools: dynoxide, which speaks DynamoDB's protocol; some minutes, once",
            )?;
        }
        Ok(())
    }
}

impl Plan {
    fn debian(&self) -> Vec<&'static str> {
        self.programs.iter().map(|program| program.package).collect()
    }

    fn packages(&self) -> Result<String> {
        let packages = self.debian().join(" ");
        silent(self.rights.command(&["sh", "-ec", &script(&packages)]))?;
        Ok(format!("installed {packages}"))
    }
}

fn script(packages: &str) -> String {
    let install = "apt-get install --yes --no-install-recommends";
    // Prevents Debian's package from creating a cluster and starting its server; the tests create their own. If the
    // file has the setting twice, the last line counts.
    let no_cluster = "echo 'create_main_cluster = false' >> /etc/postgresql-common/createcluster.conf";
    let common = format!("{install} postgresql-common\n{no_cluster}\n");
    let before = if packages.split(' ').any(|package| package == POSTGRES) { common } else { String::new() };
    format!("apt-get update\n{before}{install} {packages}")
}

/// Builds dynoxide if it is missing, and returns a summary.
pub(crate) fn dynoxide() -> Result<String> {
    if Dynamo::is_installed() {
        return Ok("it is there".to_owned());
    }
    captured(dynoxide_by_cargo()).map(|_| "installed dynoxide".to_owned())
}

/// The dependencies of dynoxide that are built without optimisation, because dynoxide uses them only at its start.
const SELDOM: [&str; 4] = ["clap_builder", "regex-automata", "regex-syntax", "tracing-subscriber"];

/// Returns the command that installs dynoxide, without the variables that name the workspace's build folder.
fn dynoxide_by_cargo() -> Command {
    let mut command = cargo(dynamodb::INSTALL.split_whitespace().skip(1));
    // Optimises dynoxide, because the suite often waits for it, and leaves out debug information. Link-time
    // optimisation would take longer than it saves.
    command
        .env("CARGO_PROFILE_DEV_OPT_LEVEL", "1")
        .env("CARGO_PROFILE_DEV_DEBUG", "0")
        .env("CARGO_PROFILE_DEV_LTO", "off");
    for name in SELDOM {
        command.arg("--config").arg(format!("profile.dev.package.{name}.opt-level=0"));
    }
    // Cargo then builds in a separate folder.
    command.env_remove("CARGO_TARGET_DIR").env_remove("CARGO_BUILD_TARGET_DIR");
    command
}

#[cfg(test)]
mod tests {
    use super::*;

    fn words(command: &Command) -> Vec<&str> {
        let words = std::iter::once(command.get_program()).chain(command.get_args());
        words.filter_map(|word| word.to_str()).collect()
    }

    #[test]
    fn the_install_plan_lists_the_missing_programs() {
        let lacking = || Program { name: "Lacking", package: "lacking", elsewhere: "brew install lacking" };
        let plan = |rights| Plan { programs: vec![lacking()], rights, dynoxide: true }.to_string();
        assert!(plan(Rights::Root).contains("by apt-get: lacking; no service is started\n"));
        assert!(plan(Rights::Sudo).contains("by sudo apt-get: lacking"));
        assert!(plan(Rights::Root).contains("into target/tools: dynoxide"));
        let nothing = Plan { programs: vec![], rights: Rights::None, dynoxide: false }.to_string();
        assert!(nothing.starts_with("Nothing to install"));
    }

    #[test]
    fn packages_are_installed_by_root_or_by_sudo() {
        let command = Rights::Root.command(&["apt-get", "update"]);
        assert_eq!(words(&command), ["env", "DEBIAN_FRONTEND=noninteractive", "RUNLEVEL=1", "apt-get", "update"]);
        assert_eq!(words(&Rights::Sudo.command(&["apt-get", "update"]))[..2], ["sudo", "env"]);
    }

    #[test]
    fn postgres_is_installed_without_a_cluster() {
        let [with, without] = ["postgresql nats-server", "nats-server"].map(script);
        assert!(with.find("create_main_cluster = false") < with.find("postgresql nats-server"));
        assert!(with.contains("create_main_cluster") && !without.contains("create_main_cluster"));
    }

    #[test]
    fn error_messages_show_the_command_that_installs_dynoxide() {
        let command = dynoxide_by_cargo();
        let expected: Vec<_> = dynamodb::INSTALL.split_whitespace().collect();
        assert_eq!(words(&command)[1..expected.len()], expected[1..]);
        assert!(command.get_envs().any(|(name, value)| name == "CARGO_TARGET_DIR" && value.is_none()));
    }
}
