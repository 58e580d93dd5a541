//! The coins at the processor, compared with the ledger.

use std::time::Duration;

use cais_domain::crypto::{CryptoAmount, Currency};
use cais_ports::{Clock as _, UpstreamWithdrawalStatus as Upstream};
use cais_testkit::CapturedLogs;
use cais_use_cases::crypto::exposure::read;

use crate::bed::{LONG, TestBed};

#[tokio::test]
async fn exposure_compares_coins_with_the_ledger() {
    let bed = TestBed::new().await;
    let crypto = bed.ports.crypto.clone().unwrap();
    let coins = |currency, text| CryptoAmount::parse(currency, text).unwrap();
    bed.processor.state().balances =
        vec![coins(Currency::UsdtErc20, "40"), coins(Currency::Btc, "0.001"), coins(Currency::Ltc, "0")];
    let texts = async || {
        let exposure = read(&bed.ports, &crypto).await.unwrap();
        let worths: Vec<_> = exposure.held.iter().map(|held| held.worth.to_string()).collect();
        (worths.join(" "), [exposure.owed, exposure.worth, exposure.surplus].map(|money| money.to_string()))
    };
    let text = str::to_owned;
    assert_eq!(texts().await, (text("200.00 500.00"), ["0.00", "700.00", "700.00"].map(text)));
    // Coins for R$ 100.00 were sent.
    bed.processing().await;
    bed.processor.set_status(Upstream::Finished);
    bed.clock.advance(LONG);
    assert_eq!(bed.poll().await, 1);
    assert_eq!(texts().await.1, ["-100.00", "700.00", "800.00"].map(text));
}

#[tokio::test]
async fn exposure_without_a_price_is_unknown() {
    let bed = TestBed::new().await;
    bed.processor.state().prices = false;
    assert!(read(&bed.ports, bed.ports.crypto.as_ref().unwrap()).await.is_err());
}

#[tokio::test]
async fn dollar_rate_older_than_a_long_weekend_raises_an_alert() {
    let bed = TestBed::new().await;
    let crypto = bed.ports.crypto.clone().unwrap();
    bed.processor.state().published_at = Some(bed.clock.now());
    for (hours, is_old) in [(4 * 24, false), (7, true), (2 * 24, true)] {
        bed.clock.advance(Duration::from_hours(hours));
        let logs = CapturedLogs::start();
        // After six days no rate is given. The alert names the reason.
        let _ = read(&bed.ports, &crypto).await;
        assert_eq!(logs.alerts("crypto_usd_rate_old").len(), usize::from(is_old), "{hours}");
    }
}
