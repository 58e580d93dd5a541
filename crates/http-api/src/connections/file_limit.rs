//! The limit of open files of the process, and the resulting limit of connections.

use cais_ports::alerts;
use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};

use super::MAX_CONNECTIONS;

/// Descriptors reserved for other purposes than clients' connections. At peak, listeners, logs, calls to acquirers and webhook deliveries
/// need a few hundred. There are at most 80 database connections; with SQLite each needs three files.
const RESERVE: usize = 512;
/// Limit of connections below which a warning is logged.
const FEW: usize = 1_000;

/// Raises the limit of open files to the hard limit. Returns the resulting limit of connections.
#[must_use]
pub fn raise_file_limit() -> usize {
    let Rlimit { current, maximum } = getrlimit(Resource::Nofile);
    let raised = setrlimit(Resource::Nofile, Rlimit { current: maximum, maximum });
    let files = if raised.is_ok() { maximum } else { current };
    // `None` means that there is no limit.
    let files = files.map_or(usize::MAX, |files| usize::try_from(files).unwrap_or(usize::MAX));
    let connections = connections(files);
    if connections < FEW {
        tracing::warn!(
            alert = alerts::FILE_LIMIT_LOW,
            files,
            connections,
            "limit of open files is low; few connections can be served"
        );
    } else {
        tracing::debug!(files, connections, "limit of connections set");
    }
    connections
}

/// Returns the limit of connections for a limit of open files.
const fn connections(files: usize) -> usize {
    let left = files.saturating_sub(RESERVE);
    // With a very low limit, half of the descriptors serve connections.
    let left = if left < files / 2 { files / 2 } else { left };
    if left > MAX_CONNECTIONS { MAX_CONNECTIONS } else { left }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn connections_leave_descriptors_for_everything_else() {
        for (files, expected) in [(256, 128), (1_024, 512), (4_096, 3_584), (65_536, 10_000), (usize::MAX, 10_000)] {
            assert_eq!(connections(files), expected, "{files}");
        }
    }

    #[test]
    fn soft_limit_is_raised_to_the_hard_one() {
        let _connections = raise_file_limit();
        let Rlimit { current, maximum } = getrlimit(Resource::Nofile);
        assert_eq!(current, maximum);
    }
}
