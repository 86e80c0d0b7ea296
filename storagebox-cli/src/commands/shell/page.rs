//! A manual page: the help of a command, and further sections.

use std::io::{self, Write};

use clap::Command;
use clap::builder::Resettable;
use clap_mangen::Man;
use clap_mangen::roff::{Roff, roman};

use crate::cli::sections;

const EXIT_CODES: &str = "Exit codes:\n";

pub(super) fn write(command: &Command, to: &mut dyn Write) -> io::Result<()> {
    let after = command.get_after_help().map(ToString::to_string).unwrap_or_default();
    let (description, codes) = after.split_once(EXIT_CODES).unwrap_or((&after, ""));
    let man = Man::new(described(command, description));
    man.render_title(to)?;
    man.render_name_section(to)?;
    man.render_synopsis_section(to)?;
    man.render_description_section(to)?;
    man.render_options_section(to)?;
    if command.has_subcommands() {
        man.render_subcommands_section(to)?;
    }
    if !codes.is_empty() {
        section("EXIT STATUS", codes).to_writer(to)?;
    }
    sections(command).into_iter().try_for_each(|(title, text)| section(title, text).to_writer(to))?;
    match command.get_version() {
        Some(_) => man.render_version_section(to),
        None => Ok(()),
    }
}

/// Returns the command with a manual description: the summary of the command, and then `description`. Removes the text
/// after the options.
fn described(command: &Command, description: &str) -> Command {
    let about = command.get_about().map(ToString::to_string).unwrap_or_default();
    let description = format!("{about}\n\n{description}");
    command.clone().long_about(description.trim_end().to_owned()).after_help(Resettable::Reset)
}

fn section(title: &str, text: &str) -> Roff {
    let mut roff = Roff::new();
    roff.control("SH", [title]);
    for line in text.lines() {
        match line {
            "" => roff.control("PP", []),
            line => match line.trim_start().split_once("  ") {
                Some((term, text)) => roff.control("IP", [term, "10"]).text([roman(text.trim_start())]),
                None => roff.text([roman(line)]),
            },
        };
    }
    roff
}
