//! Compares the clock of the database server with the node's clock.

use std::time::SystemTime;

use cais_ports::alerts;
use jiff::{SignedDuration, Timestamp};

use crate::error::Fault;
use crate::sql::{Query, Session};

/// The greatest difference without an alert. Clocks under a time service differ by milliseconds.
const MAX_DIFFERENCE: SignedDuration = SignedDuration::from_secs(5);

/// Raises an alert if the server's clock and the node's clock differ by more than [`MAX_DIFFERENCE`]. The query `text` reads the server's
/// clock in microseconds.
pub(super) fn check(session: &mut dyn Session, text: String) -> Result<(), Fault> {
    let before = node_clock();
    let Some((server, _)) = session.load(&Query::new(text))?.pop() else { return Ok(()) };
    let after = node_clock();
    let server = crate::rows::instant("the server's clock", server)?;
    // The server read its clock between the two readings of the node's clock.
    let difference = server.duration_since(server.clamp(before, after));
    if difference.abs() > MAX_DIFFERENCE {
        tracing::error!(
            alert = alerts::CLOCK_SKEW, %difference,
            "clocks of the database server and of the node differ; one clock is wrong"
        );
    }
    Ok(())
}

#[expect(clippy::disallowed_methods, reason = "the check compares the wall clock of the machine")]
fn node_clock() -> Timestamp {
    Timestamp::try_from(SystemTime::now()).unwrap_or(Timestamp::MAX)
}

#[cfg(test)]
mod tests {
    #![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

    use std::time::Duration;

    use cais_testkit::CapturedLogs;
    use cais_testkit::postgres::Cluster;

    use super::*;
    use crate::DatabaseUrl;
    use crate::engine::Engine as _;
    use crate::postgres::Postgres;

    #[test]
    fn server_clock_that_differs_raises_an_alert() {
        let url = Cluster::shared().unwrap().fresh_database().unwrap();
        let server = Postgres::new(&DatabaseUrl::parse(&url).unwrap(), Duration::from_mins(1));
        let mut session = server.connect_housekeeper().unwrap();
        let text = server.server_clock().unwrap();
        for (moved_s, expected) in [(0, 0), (-3_600, 1), (3_600, 1)] {
            let moved = format!("SELECT c.at + {moved_s}000000, c.zero FROM ({text}) AS c (at, zero)");
            let logs = CapturedLogs::start();
            check(&mut *session, moved).unwrap();
            assert_eq!(logs.alerts(alerts::CLOCK_SKEW).len(), expected, "{moved_s}");
        }
    }
}
