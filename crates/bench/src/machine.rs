//! The machine on which the figures of a report were measured.

use std::fs;

use serde::Serialize;

use crate::database::Postgres;
use crate::process::output;

/// The machine and the versions of its software.
#[derive(Debug, Clone, Serialize)]
pub struct Machine {
    /// The number of usable processors.
    pub cores: usize,
    /// The processor's model.
    pub processor: String,
    /// The whole memory, in MiB.
    pub memory_mib: u64,
    /// The kernel's version.
    pub kernel: String,
    /// The database server's version.
    pub postgres: String,
    /// The compiler's version.
    pub rustc: String,
    /// The day of the run, in UTC.
    pub day: String,
}

impl Machine {
    /// Detects the machine. Unknown texts are `unknown`, and an unknown amount of memory is 0.
    #[must_use]
    pub fn detect(server: Option<&Postgres>) -> Self {
        let program = server.map(|server| server.program("postgres").display().to_string());
        let postgres = program.and_then(|program| output(&program, &["-V"]).ok());
        let of_command = |program, arguments: &[&str]| known(output(program, arguments).ok());
        Self {
            cores: std::thread::available_parallelism().map_or(1, usize::from),
            processor: known(field("/proc/cpuinfo", "model name")),
            memory_mib: memory_mib(),
            kernel: of_command("uname", &["-sr"]),
            postgres: known(postgres),
            rustc: of_command("rustc", &["-V"]),
            day: of_command("date", &["-u", "+%Y-%m-%d"]),
        }
    }

    /// Returns the machine as one line of text.
    #[must_use]
    pub fn line(&self) -> String {
        format!(
            "{} cores ({}), {} MiB, {}, {}, {}, {}",
            self.cores, self.processor, self.memory_mib, self.kernel, self.postgres, self.rustc, self.day
        )
    }
}

fn known(found: Option<String>) -> String {
    found.map_or_else(|| "unknown".to_owned(), |text| text.trim().to_owned())
}

fn field(file: &str, name: &str) -> Option<String> {
    let text = fs::read_to_string(file).ok()?;
    let value = text.lines().find_map(|line| line.strip_prefix(name))?;
    Some(value.trim_start_matches([' ', '\t', ':']).to_owned())
}

fn memory_mib() -> u64 {
    let kib = field("/proc/meminfo", "MemTotal").and_then(|text| text.trim_end_matches("kB").trim().parse().ok());
    kib.map_or(0, |kib: u64| kib / 1024)
}
