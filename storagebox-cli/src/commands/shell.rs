//! `storagebox completions` and `storagebox man`.

use std::io::{self, Write};
use std::path::Path;

use clap::CommandFactory;
use clap_mangen::Man;

use crate::cli::{Cli, Completions, ManPage};
use crate::content::write_to;
use crate::exit::{Exit, Failure};

const NAME: &str = "storagebox";

pub(crate) fn completions(args: &Completions) -> Result<Exit, Failure> {
    let mut script = Vec::new();
    clap_complete::generate(args.shell, &mut Cli::command(), NAME, &mut script);
    write_to(&mut io::stdout(), &script).map(|()| Exit::Done)
}

pub(crate) fn man(args: &ManPage) -> Result<Exit, Failure> {
    match &args.dir {
        Some(dir) => pages(dir)?,
        None => page(&mut io::stdout())?,
    }
    Ok(Exit::Done)
}

fn page(to: &mut dyn Write) -> Result<(), Failure> {
    let mut page = Vec::new();
    Man::new(Cli::command()).render(&mut page).map_err(Failure::Print)?;
    write_to(to, &page)
}

fn pages(dir: &Path) -> Result<(), Failure> {
    if !dir.is_dir() {
        return Err(Failure::NoDirectory(dir.to_owned()));
    }
    let written = clap_mangen::generate_to(Cli::command(), dir);
    written.map_err(|source| Failure::Write { path: dir.to_owned(), source })
}
