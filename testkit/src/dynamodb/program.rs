//! Finds dynoxide.

use std::env;
use std::path::{Path, PathBuf};

use super::{INSTALL, NAME, SERVER};
use crate::failure::Failure;
use crate::programs::in_path;

/// Returns the path of the server's program in the folder of this build, in the workspace's folder, or on the path.
pub(super) fn path() -> Result<PathBuf, Failure> {
    of_build()
        .or_else(of_workspace)
        .or_else(|| in_path(SERVER))
        .ok_or(Failure::NotInstalled { server: NAME, install: INSTALL })
}

/// Searches for the server in the build folder of the running test program.
fn of_build() -> Option<PathBuf> {
    let program = env::current_exe().ok()?;
    program.ancestors().find_map(tool)
}

fn of_workspace() -> Option<PathBuf> {
    let workspace = Path::new(env!("CARGO_MANIFEST_DIR")).parent()?;
    tool(&workspace.join("target"))
}

fn tool(build: &Path) -> Option<PathBuf> {
    Some(build.join("tools/bin").join(SERVER)).filter(|program| program.is_file())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn server_program_is_found_only_if_its_file_exists() {
        let build = env::temp_dir().join(format!("storagebox-tool-test-{}", std::process::id()));
        assert_eq!(tool(&build), None);
        let folder = build.join("tools/bin");
        std::fs::create_dir_all(&folder).unwrap();
        std::fs::write(folder.join(SERVER), "").unwrap();
        assert_eq!(tool(&build), Some(folder.join(SERVER)));
        std::fs::remove_dir_all(build).unwrap();
    }
}
