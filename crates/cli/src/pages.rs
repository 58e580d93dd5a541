//! Shell completions and manual pages, generated from the definition of the command line.

use std::fs;
use std::path::Path;

use anyhow::Context;
use clap::CommandFactory;
use clap_complete::Shell;

use crate::Cli;
use crate::output::print_line;

/// The name of the program.
const NAME: &str = "cais";

/// Prints the completions of a shell.
///
/// # Errors
/// Standard output cannot be written.
pub fn completions(shell: Shell) -> anyhow::Result<()> {
    // The script is written to memory first, because the library panics if standard output is closed.
    let mut script = Vec::new();
    clap_complete::generate(shell, &mut Cli::command(), NAME, &mut script);
    Ok(print_line(&String::from_utf8(script)?)?)
}

/// Writes one manual page per command into `directory`. Without a directory, prints only the page of `cais`.
///
/// # Errors
/// The directory or standard output cannot be written.
pub fn manual(directory: Option<&Path>) -> anyhow::Result<()> {
    let Some(directory) = directory else {
        let mut page = Vec::new();
        clap_mangen::Man::new(Cli::command()).render(&mut page)?;
        return Ok(print_line(&String::from_utf8(page)?)?);
    };
    let cannot = || format!("the manual pages cannot be written into {}", directory.display());
    fs::create_dir_all(directory).with_context(cannot)?;
    clap_mangen::generate_to(Cli::command(), directory).with_context(cannot)
}
