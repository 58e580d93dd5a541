//! Currencies with their current minimums.

use cais_domain::crypto::Currency;
use cais_use_cases::crypto::currencies::list;

use crate::bed::{bed, sources};

#[tokio::test]
async fn currencies_show_their_live_minimums() {
    let bed = bed();
    bed.processor.state().minimum = Some("31.4");
    bed.processor.state().usdt_per_coin = Some("2");
    let listed = list(&bed.ports, sources(&bed), &bed.account).await.unwrap();
    assert_eq!(listed.iter().map(|one| one.currency).collect::<Vec<_>>(), Currency::ALL);
    let texts = |currency| {
        let one = listed.iter().find(|one| one.currency == currency).unwrap();
        let minimum = one.withdrawal.unwrap();
        [
            minimum.coins.commercial().to_string(),
            minimum.coins.technical().to_string(),
            minimum.coins.effective().to_string(),
            minimum.effective_brl.to_string(),
        ]
    };
    // 31.4 x 5.42 x 1.01, and twice as much for a coin of 2 USDT.
    assert_eq!(texts(Currency::UsdtBsc), ["20", "31.4", "31.4", "171.89"]);
    assert_eq!(texts(Currency::Trx), ["10", "31.4", "31.4", "343.78"]);
}

#[tokio::test]
async fn currency_without_a_price_is_shown_as_unavailable() {
    let bed = bed();
    bed.processor.state().minimum = Some("1");
    bed.processor.state().usdt_per_coin = None;
    let listed = list(&bed.ports, sources(&bed), &bed.account).await.unwrap();
    for one in listed {
        let (has_deposit, has_withdrawal) = (one.deposit.is_some(), one.withdrawal.is_some());
        assert_eq!((has_deposit, has_withdrawal), (one.currency.is_usdt(), one.currency.is_usdt()), "{}", one.currency);
    }
    bed.processor.state().brl_per_usd = None;
    assert!(list(&bed.ports, sources(&bed), &bed.account).await.is_err());
}
