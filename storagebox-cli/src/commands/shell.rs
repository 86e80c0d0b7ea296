//! `storagebox completions` and `storagebox man`.

mod page;

use std::io::{self, Write};
use std::path::Path;

use clap::{Command, CommandFactory};
use clap_mangen::Man;

use crate::cli::{Cli, Completions, Global, ManPage};
use crate::content::write_to;
use crate::exit::{Exit, Failure};
use crate::output::{Reserved, Target};
use crate::store;

const NAME: &str = "storagebox";

pub(crate) fn completions(args: &Completions) -> Result<Exit, Failure> {
    let mut script = Vec::new();
    clap_complete::generate(args.shell, &mut Cli::command(), NAME, &mut script);
    write_to(&mut io::stdout(), &script).map(|()| Exit::Done)
}

pub(crate) fn man(args: &ManPage, global: &Global) -> Result<Exit, Failure> {
    match &args.dir {
        // An invalid URL names no file to protect.
        Some(dir) => pages(dir, &store::reserved(global).unwrap_or_default())?,
        None => page(&mut io::stdout())?,
    }
    Ok(Exit::Done)
}

fn page(to: &mut dyn Write) -> Result<(), Failure> {
    let mut page = Vec::new();
    page::write(&Cli::command(), &mut page).map_err(Failure::Print)?;
    write_to(to, &page)
}

/// Writes a manual page for each command. Replaces older pages, but no file of the store.
fn pages(dir: &Path, reserved: &Reserved) -> Result<(), Failure> {
    if !dir.is_dir() {
        return Err(Failure::NoDirectory(dir.to_owned()));
    }
    let mut command = Cli::command().disable_help_subcommand(true);
    command.build();
    write_pages(&command, dir, reserved)
}

fn write_pages(command: &Command, dir: &Path, reserved: &Reserved) -> Result<(), Failure> {
    for subcommand in command.get_subcommands().filter(|subcommand| !subcommand.is_hide_set()) {
        write_pages(subcommand, dir, reserved)?;
    }
    let mut page = Vec::new();
    page::write(command, &mut page).map_err(Failure::Print)?;
    let name = Man::new(command.clone()).get_filename();
    let target = Target::at(&dir.join(name), true, reserved)?;
    target.for_everybody().write(&page, &mut io::sink())
}
