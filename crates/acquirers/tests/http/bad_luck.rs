//! The table of bad luck for every call of every adapter: connections, answers and the outcome that the call reports.

use std::time::Duration;

use cais_acquirers::{BacenConfig, EfiAcquirer};
use cais_ports::{Acquirer, AcquirerError};
use serde_json::Value;

use crate::answers::{
    BUDGET, cob, config, day, devolucao, html, instruction_id, kind, order, payout_order, pix, problem, reason,
    refund_order, sent, txid,
};
use crate::losses::losses;
use crate::server::{Act, Server, closed_port, silent_server};

/// The connect timeout of the adapters under test, so that a server without an answer fails soon.
pub const CONNECT: Duration = Duration::from_millis(300);

/// Runs `call` for every case of the table. `call` gets the address of the server and its budget. `answer` is a correct
/// answer, which the cases lose in all ways.
pub async fn assert_outcomes<T, F: Future<Output = Result<T, AcquirerError>>>(
    operation: &str,
    answer: Value,
    call: impl Fn(String, Duration) -> F,
) {
    let throttled = b"HTTP/1.1 429 X\r\nretry-after: 7\r\ncontent-length: 0\r\n\r\n".to_vec();
    let certain = [
        ("401 again and again", html(401)),
        ("403 of a doorkeeper", html(403)),
        ("429", problem(429, "X")),
        ("429 with Retry-After", Act::Reply(throttled)),
    ];
    let lost = losses(&answer).into_iter().map(|(name, act, budget)| (name, act, budget, "unknown"));
    let certain = certain.into_iter().map(|(name, act)| (name, act, BUDGET, "unavailable"));
    for (name, act, budget, wanted) in lost.chain(certain) {
        let server = Server::start(move |_, _| act.clone()).await;
        let result = call(server.url(), budget).await;
        assert_eq!(kind(&result), wanted, "{operation}, {name}: {}", reason(&result));
    }
    let (silent, task) = silent_server().await;
    for (name, base_url) in [("no listener", closed_port().await), ("silent at the handshake", silent)] {
        let result = call(base_url, BUDGET).await;
        assert_eq!(kind(&result), "unavailable", "{operation}, {name}: {}", reason(&result));
    }
    let server = Server::start(|_, _| Act::Cut).await;
    let result = call(server.url(), Duration::ZERO).await;
    assert_eq!((kind(&result), server.methods().as_str()), ("unavailable", ""), "{operation}, no time");
    task.abort();
}

fn efi(base_url: &str) -> EfiAcquirer {
    let mut config: BacenConfig = config(base_url);
    config.timeouts.connect = CONNECT;
    EfiAcquirer::new(&config).unwrap()
}

#[tokio::test]
async fn calls_about_charges_report_the_right_outcome() {
    tokio::join!(
        assert_outcomes("create", cob(), |url, budget| async move { efi(&url).create_charge(&order(), budget).await }),
        assert_outcomes("find", cob(), |url, budget| async move { efi(&url).find_charge(&txid(), budget).await }),
        assert_outcomes("cancel", cob(), |url, budget| async move { efi(&url).cancel_charge(&txid(), budget).await }),
        assert_outcomes("received", cob(), |url, budget| async move { efi(&url).list_received(day(0), budget).await }),
    );
}

#[tokio::test]
async fn calls_about_money_out_report_the_right_outcome() {
    tokio::join!(
        assert_outcomes(
            "send",
            sent(),
            |url, budget| async move { efi(&url).send_payout(&payout_order(), budget).await }
        ),
        assert_outcomes("find sent", sent(), |url, budget| async move {
            efi(&url).find_payout(&instruction_id(), budget).await
        }),
        assert_outcomes("list sent", sent(), |url, budget| async move { efi(&url).list_sent(day(0), budget).await }),
        assert_outcomes("refund", devolucao(), |url, budget| async move {
            efi(&url).send_refund(&refund_order(), budget).await
        }),
        assert_outcomes("find refund", devolucao(), |url, budget| async move {
            efi(&url).find_refund(&pix(), refund_order().id, budget).await
        }),
    );
}
