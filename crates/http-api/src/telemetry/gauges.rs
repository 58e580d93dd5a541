//! Metrics for alerts. Counters are registered at the start with zero, because a counter that first appears after its first event shows no
//! increase for that event.

use cais_domain::acquirer_name::AcquirerName;
use cais_domain::crypto::Currency;
use cais_domain::infraction::ALERT_HOURS;
use cais_domain::money::Money;
use cais_ports::{CallbackCounts, LedgerCheckResult, OpenMoney, OpenOrders};
use cais_use_cases::crypto::exposure::Exposure;
use cais_use_cases::reconcile::ComparisonState;
use jiff::Timestamp;
use metrics::{counter, gauge};

use super::table;
use crate::{auth_failures, connections};

/// The version of the program.
const BUILD: &str = "cais_build_info";
/// Payouts and refunds whose outcome is open.
const OPEN: &str = "cais_open_money_count";
/// Age of the oldest payout or refund whose outcome is open.
const OLDEST_OPEN: &str = "cais_open_money_oldest_seconds";
/// Consecutive failures of a worker.
const WORKER_FAILURES: &str = "cais_worker_failures";

/// Alerts about infractions without a defense, by the hours before the deadline.
const ALERTS: &str = "cais_infraction_alerts_total";

/// Callbacks that are not processed yet.
const CALLBACKS_OPEN: &str = "cais_callbacks_open";
/// Unmatched callbacks of each acquirer.
const CALLBACKS_UNMATCHED: &str = "cais_callbacks_unmatched";

/// Worth in BRL of the coins at the crypto processor, by currency.
const HELD: &str = "cais_crypto_held_brl";
/// BRL credited for crypto deposits less BRL debited for crypto withdrawals.
const OWED: &str = "cais_crypto_owed_brl";
/// Crypto withdrawals and payments that wait for an operator.
const REVIEWS: &str = "cais_crypto_reviews_open";

/// 1 while an acquirer is drained, else 0.
const DRAINED: &str = "cais_acquirer_drained";
/// Open orders at drained acquirers, by their kind.
const DRAINED_OPEN: &str = "cais_acquirer_drained_open_orders";
/// The time at which an acquirer's client certificate expires.
const CERTIFICATE_EXPIRY: &str = "cais_acquirer_certificate_expiry_timestamp_seconds";

/// Time of the last ledger check.
const VERIFIED: &str = "cais_ledger_verified_timestamp_seconds";
/// Differences that the last ledger check found.
const LEDGER_DIFFERENCES: &str = "cais_ledger_differences";

/// The time up to which the lists of an acquirer are compared.
const RECONCILED: &str = "cais_reconcile_last_success_timestamp_seconds";
/// Differences and unreadable rows that the last reconciliation left open, by acquirer.
const DIFFERENCES: &str = "cais_reconcile_differences";

/// Describes every metric, and registers the metrics of alert rules at zero.
pub fn register() {
    table::describe();
    gauge!(BUILD, "version" => env!("CARGO_PKG_VERSION")).set(1.0);
    for zero in [
        "cais_commit_queue_full_total",
        "cais_commit_retries_total",
        "cais_commit_set_aside_total",
        "cais_db_pool_waits_total",
    ] {
        counter!(zero).increment(0);
    }
    let labeled: [(&'static str, &'static str, &[&'static str]); 4] = [
        ("cais_commit_unknown_total", "outcome", &["committed", "not_committed", "unknown"]),
        ("cais_webhook_attempts_total", "outcome", &["succeeded", "retried", "failed"]),
        (auth_failures::TOTAL, "reason", &auth_failures::REASONS),
        (connections::CONNECTIONS_CUT, "reason", &["head", "body", "write", "per_address"]),
    ];
    for (name, label, values) in labeled {
        for value in values {
            counter!(name, label => *value).increment(0);
        }
    }
    for hours in ALERT_HOURS {
        counter!(ALERTS, "hours" => hours.to_string()).increment(0);
    }
    for zero in [CALLBACKS_OPEN, "cais_webhook_in_flight", "cais_webhook_backlog", "cais_webhook_oldest_due_seconds"] {
        gauge!(zero).set(0.0);
    }
}

/// Sets the gauges of open and unmatched callbacks. An acquirer without callbacks is set to zero.
pub fn show_callbacks(names: &[AcquirerName], counts: &CallbackCounts) {
    gauge!(CALLBACKS_OPEN).set(float(counts.open.values().sum()));
    for name in names {
        let unmatched = counts.unmatched.get(name).copied().unwrap_or_default();
        gauge!(CALLBACKS_UNMATCHED, "acquirer" => name.to_string()).set(float(unmatched));
    }
}

fn float(count: u64) -> f64 {
    u32::try_from(count).map_or(f64::from(u32::MAX), f64::from)
}

/// Sets the gauges of payouts or refunds with an open outcome.
pub fn show_open(kind: &'static str, open: OpenMoney, now: Timestamp) {
    gauge!(OPEN, "kind" => kind).set(float(open.count));
    let age = open.oldest.map_or(0.0, |oldest| now.duration_since(oldest).as_secs_f64());
    gauge!(OLDEST_OPEN, "kind" => kind).set(age.max(0.0));
}

/// Sets the gauge of crypto withdrawals or payments (`kind`) that wait for an operator.
pub fn show_reviews(kind: &'static str, count: usize) {
    gauge!(REVIEWS, "kind" => kind).set(u32::try_from(count).unwrap_or(u32::MAX));
}

/// Sets the gauges of the coins at the crypto processor and of the BRL owed for them. A currency without coins is set to
/// zero.
pub fn show_exposure(exposure: &Exposure) {
    for currency in Currency::ALL {
        let held = exposure.held.iter().find(|held| held.coins.currency() == currency);
        let worth = held.map_or(Money::ZERO, |held| held.worth);
        gauge!(HELD, "currency" => currency.code()).set(reais(worth));
    }
    gauge!(OWED).set(reais(exposure.owed));
}

/// Returns an amount in BRL for a gauge. The text of an amount is a decimal number, so it can always be parsed.
fn reais(amount: Money) -> f64 {
    amount.to_string().parse().unwrap_or(f64::NAN)
}

/// Sets the number of consecutive failures of a worker.
pub fn show_failures(worker: &str, in_a_row: u32) {
    gauge!(WORKER_FAILURES, "worker" => worker.to_owned()).set(in_a_row);
}

/// Sets the gauge of each acquirer: 1 while it is drained.
pub fn show_drains(names: &[AcquirerName], drained: &[AcquirerName]) {
    for name in names {
        gauge!(DRAINED, "acquirer" => name.to_string()).set(f64::from(u8::from(drained.contains(name))));
    }
}

/// Sets the gauges of the open orders at a drained acquirer.
pub fn show_drained_orders(name: &AcquirerName, open: OpenOrders) {
    for (kind, count) in
        [("charge", open.charges), ("payout", open.payouts), ("refund", open.refunds), ("infraction", open.infractions)]
    {
        gauge!(DRAINED_OPEN, "acquirer" => name.to_string(), "kind" => kind).set(float(count));
    }
}

/// Sets the gauge of a certificate's expiry.
pub fn show_certificate(name: &AcquirerName, expires_at: Timestamp) {
    let second = u32::try_from(expires_at.as_second()).unwrap_or(u32::MAX);
    gauge!(CERTIFICATE_EXPIRY, "acquirer" => name.to_string()).set(second);
}

/// Sets the gauges of an acquirer's reconciliation.
pub fn set_reconciled(comparison: &ComparisonState) {
    let acquirer = comparison.acquirer.to_string();
    if let Some(until) = comparison.compared_until.and_then(|until| u32::try_from(until.as_second()).ok()) {
        gauge!(RECONCILED, "acquirer" => acquirer.clone()).set(until);
    }
    gauge!(DIFFERENCES, "acquirer" => acquirer).set(u32::try_from(comparison.open).unwrap_or(u32::MAX));
}

/// Sets the gauges of the last ledger check.
pub fn show_ledger_check(check: LedgerCheckResult) {
    gauge!(VERIFIED).set(u32::try_from(check.at.as_second()).unwrap_or(u32::MAX));
    gauge!(LEDGER_DIFFERENCES).set(float(check.differences));
}

/// Counts an alert about an infraction, by the hours before its deadline.
pub fn count_alert(hours: u8) {
    counter!(ALERTS, "hours" => hours.to_string()).increment(1);
}

#[cfg(test)]
mod tests {
    #![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

    use cais_domain::crypto::{CryptoAmount, Rate};
    use cais_use_cases::crypto::exposure::HeldCoins;
    use jiff::ToSpan as _;
    use metrics_exporter_prometheus::PrometheusBuilder;

    use super::*;

    #[test]
    fn alert_metrics_start_at_zero() {
        let recorder = PrometheusBuilder::new().build_recorder();
        metrics::with_local_recorder(&recorder, super::register);
        let page = recorder.handle().render();
        for line in [
            "cais_commit_queue_full_total 0",
            "cais_commit_retries_total 0",
            "cais_commit_unknown_total{outcome=\"committed\"} 0",
            "cais_commit_unknown_total{outcome=\"not_committed\"} 0",
            "cais_commit_unknown_total{outcome=\"unknown\"} 0",
            "cais_webhook_attempts_total{outcome=\"failed\"} 0",
            "cais_auth_failures_total{reason=\"wrong_secret\"} 0",
            "cais_http_connections_cut_total{reason=\"write\"} 0",
            "cais_webhook_backlog 0",
            "cais_webhook_oldest_due_seconds 0",
            "cais_webhook_in_flight 0",
            "cais_infraction_alerts_total{hours=\"6\"} 0",
            "# HELP cais_commit_queue_full_total Change sets that were refused because the queue of the committer was full.",
            concat!("cais_build_info{version=\"", env!("CARGO_PKG_VERSION"), "\"} 1"),
        ] {
            assert!(page.lines().any(|found| found == line), "{line} is missing in\n{page}");
        }
    }

    #[test]
    fn exposure_shows_each_currency_and_the_debt() {
        let recorder = PrometheusBuilder::new().build_recorder();
        let held = |text: &str, worth| HeldCoins {
            coins: CryptoAmount::parse(Currency::Btc, text).unwrap(),
            rate: Rate::parse("500000").unwrap(),
            worth: Money::from_centavos(worth),
        };
        let exposure = |owed, held: Vec<HeldCoins>| {
            let (owed, worth) = (Money::from_centavos(owed), Money::ZERO);
            Exposure { owed, held, worth, surplus: Money::ZERO }
        };
        let page = || recorder.handle().render();
        metrics::with_local_recorder(&recorder, || show_exposure(&exposure(-150, vec![held("0.001", 50_005)])));
        let first = page();
        metrics::with_local_recorder(&recorder, || show_exposure(&exposure(12_345_678_901, vec![])));
        let second = page();
        for (page, line) in [
            (&first, "cais_crypto_held_brl{currency=\"btc\"} 500.05"),
            (&first, "cais_crypto_held_brl{currency=\"ltc\"} 0"),
            (&first, "cais_crypto_owed_brl -1.5"),
            (&second, "cais_crypto_held_brl{currency=\"btc\"} 0"),
            (&second, "cais_crypto_owed_brl 123456789.01"),
        ] {
            assert!(page.lines().any(|found| found == line), "{line} is missing in\n{page}");
        }
    }

    #[test]
    fn open_payouts_show_their_number_and_the_oldest_age() {
        let recorder = PrometheusBuilder::new().build_recorder();
        let oldest = Timestamp::UNIX_EPOCH;
        metrics::with_local_recorder(&recorder, || {
            show_open("payout", OpenMoney { count: 3, oldest: Some(oldest) }, oldest + 90.seconds());
            show_open("refund", OpenMoney::default(), oldest);
            show_failures("counts", 2);
        });
        let page = recorder.handle().render();
        for line in [
            "cais_open_money_count{kind=\"payout\"} 3",
            "cais_open_money_oldest_seconds{kind=\"payout\"} 90",
            "cais_open_money_oldest_seconds{kind=\"refund\"} 0",
            "cais_worker_failures{worker=\"counts\"} 2",
        ] {
            assert!(page.lines().any(|found| found == line), "{line} is missing in\n{page}");
        }
    }

    #[test]
    fn last_verification_shows_its_time_and_differences() {
        let recorder = PrometheusBuilder::new().build_recorder();
        let at = Timestamp::from_second(1_800_000_000).unwrap();
        metrics::with_local_recorder(&recorder, || show_ledger_check(LedgerCheckResult { at, differences: 2 }));
        let page = recorder.handle().render();
        for line in ["cais_ledger_verified_timestamp_seconds 1800000000", "cais_ledger_differences 2"] {
            assert!(page.lines().any(|found| found == line), "{line} is missing in\n{page}");
        }
    }
}
