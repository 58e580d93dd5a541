//! The checks of `cais doctor` over the configuration, the disk, the database and the servers that the service calls.

mod database;
mod upstream;

use cais_cli::Finding;
use cais_config::warnings::{SECRET_FILE_READABLE, Warning, warnings};
use cais_config::{Config, Problem, Problems, Sources, data_dir_problem};

use crate::{logging, wiring};

/// Checks everything and changes nothing.
pub async fn examine(sources: &Sources) -> Vec<Finding> {
    match Config::load(sources) {
        Err(Problems(problems)) => problems.iter().map(of_problem).collect(),
        Ok(config) => {
            // The log is off, because each finding already names its cause.
            logging::start("off", config.log_format);
            let mut findings = of_configuration(&config, sources);
            findings.push(disk(&config));
            findings.extend(database::check(&config).await);
            findings.extend(upstream::check(&config).await);
            findings
        }
    }
}

fn of_problem(problem: &Problem) -> Finding {
    Finding::failed("configuration", problem.to_string())
}

fn of_configuration(config: &Config, sources: &Sources) -> Vec<Finding> {
    let problems = wiring::problems(config).into_iter().chain(data_dir_problem(sources));
    let mut findings: Vec<Finding> = problems.map(|problem| of_problem(&problem)).collect();
    if findings.is_empty() {
        findings.push(Finding::ok("configuration", "no mistakes"));
    }
    let found = warnings(config);
    if !found.iter().any(|warning| warning.name == SECRET_FILE_READABLE) {
        findings.push(Finding::ok("secret files", "none can be read by every user of this machine"));
    }
    let finding = |Warning { name, key, what }: &Warning| Finding::warning(*name, format!("{key} {what}"));
    findings.extend(found.iter().map(finding));
    findings
}

fn disk(config: &Config) -> Finding {
    const CHECK: &str = "disk";
    let directory = config.data_dir.display().to_string();
    match rustix::fs::statvfs(&config.data_dir) {
        // A directory that cannot be created is reported by the check of the configuration.
        Err(rustix::io::Errno::NOENT) => {
            Finding::ok(CHECK, format!("{directory} does not exist yet; the first start creates it"))
        }
        Err(error) => Finding::failed(CHECK, format!("the free space of {directory} is unknown: {error}")),
        Ok(found) => Finding::of_free_space(found.f_bavail.saturating_mul(found.f_frsize), &directory),
    }
}
