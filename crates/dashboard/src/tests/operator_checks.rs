//! The ledger check and the reconciliation of a day: neither moves money.

use std::time::Duration;

use cais_domain::charge::ChargeStatus;
use cais_domain::ids::PayoutId;
use cais_domain::ledger::{Bucket, EntryKind, LedgerAccount, Overdraft, Transfer};
use cais_domain::money::Money;
use cais_ports::{ChargeQueries as _, Clock as _, Maintenance as _, Store as _};
use cais_testkit::builders::{fresh, steps};
use cais_use_cases::days;

use super::browser::{Browser, Seen, TestBed};
use super::shop::{Shop, an_operator_browser};

const EMAIL: &str = "ana@shop.example";
const LEDGER: &str = "/operator/ledger";
const RECONCILIATION: &str = "/operator/reconciliation";

/// Moves money to `in_transit` for a payout that does not exist. Returns the payout's id.
async fn lose_track(shop: &Shop<'_>) -> String {
    let (payout, of): (PayoutId, _) = (fresh(), shop.base.account.id);
    let payout = payout.to_string();
    let transfer = Transfer {
        from: LedgerAccount::Merchant(of, Bucket::Available),
        to: LedgerAccount::Merchant(of, Bucket::InTransit),
        amount: Money::from_centavos(700),
        overdraft: Overdraft::Forbidden,
        kind: EntryKind::Payout,
        resource: Some(payout.clone()),
        end_to_end_id: None,
    };
    shop.bed.store.commit(steps::transfer(transfer)).await.unwrap();
    payout
}

/// Returns the number of differences that the last ledger check stored for monitoring.
async fn last_differences(bed: &TestBed) -> Option<u64> {
    bed.store.last_ledger_check().await.unwrap().map(|last| last.differences)
}

/// Sends the form that compares the present day.
async fn compared(bed: &TestBed, browser: &mut Browser<'_>) -> Seen {
    browser.get(RECONCILIATION).await;
    let today = bed.clock.now().to_zoned(days::sao_paulo()).date().to_string();
    browser.post(RECONCILIATION, &[("day", &today)]).await
}

#[actix_web::test]
async fn ledger_check_shows_differences_and_coins() {
    let bed = TestBed::new(None);
    let shop = Shop::open(&bed, EMAIL).await;
    let mut browser = an_operator_browser(&bed).await;
    assert!(browser.get(LEDGER).await.body.contains("Nenhuma conferência"));
    let right = browser.post(LEDGER, &[]).await;
    assert!(right.status == 200 && right.body.contains("O livro-razão fecha."), "{}", right.body);
    assert!(right.body.contains("Creditado por elas"), "{}", right.body);
    assert_eq!(last_differences(&bed).await, Some(0));
    let payout = lose_track(&shop).await;
    assert!(browser.get(LEDGER).await.body.contains("O livro-razão fecha."), "the last check stays");
    let wrong = browser.post(LEDGER, &[]).await;
    for text in ["O livro-razão não fecha.", &payout, ">700<"] {
        assert!(wrong.body.contains(text), "{text}: {}", wrong.body);
    }
    assert!(browser.get(LEDGER).await.body.contains(&payout));
    assert!(last_differences(&bed).await > Some(0), "monitoring shows the differences");
}

#[actix_web::test]
async fn ledger_check_shows_that_coins_could_not_be_read() {
    let bed = TestBed::new(None);
    let mut browser = an_operator_browser(&bed).await;
    browser.get(LEDGER).await;
    bed.base.processor.state().brl_per_usd = None;
    let seen = browser.post(LEDGER, &[]).await;
    assert!(
        seen.body.contains("O livro-razão fecha.") && seen.body.contains("não puderam ser conferidas"),
        "{}",
        seen.body
    );
}

#[actix_web::test]
async fn reconciliation_shows_differences_without_repair() {
    let bed = TestBed::new(None);
    let shop = Shop::open(&bed, EMAIL).await;
    let charge = shop.base.pending(1_000).await;
    let pix = shop.base.psp.pay(&charge.txid, 1_000);
    bed.clock.advance(Duration::from_mins(6));
    let mut browser = an_operator_browser(&bed).await;
    let seen = compared(&bed, &mut browser).await;
    assert_eq!(seen.status, 200);
    let day = "<dt>Dia comparado</dt><dd>02/01/2026</dd>";
    for text in ["payment_missed", "Pix recebido sem crédito", "R$ 10,00", day, &charge.id.to_string(), pix.as_str()] {
        assert!(seen.body.contains(text), "{text}: {}", seen.body);
    }
    let stored = bed.store.find_charge(charge.account, charge.id).await.unwrap().unwrap();
    assert_eq!(stored.state.status(), ChargeStatus::Pending);
    assert!(browser.get(RECONCILIATION).await.body.contains("payment_missed"), "the last comparison stays");
    shop.base.read(&charge).await;
    let seen = compared(&bed, &mut browser).await;
    assert!(seen.body.contains("Nenhuma diferença.") && !seen.body.contains("payment_missed"), "{}", seen.body);
}

#[actix_web::test]
async fn reconciliation_needs_a_day_that_has_begun() {
    let bed = TestBed::new(None);
    let mut browser = an_operator_browser(&bed).await;
    for day in ["", "yesterday", "2999-01-01"] {
        browser.get(RECONCILIATION).await;
        let seen = browser.post(RECONCILIATION, &[("day", day)]).await;
        assert_eq!(seen.status, 422, "{day}");
        assert!(seen.body.contains("Informe um dia"), "{}", seen.body);
    }
}

#[actix_web::test]
async fn merchant_cannot_start_checks() {
    let bed = TestBed::new(None);
    let mut merchant = bed.logged_in(EMAIL).await;
    for path in [LEDGER, RECONCILIATION] {
        assert_eq!(merchant.get(path).await.status, 404, "{path}");
        assert_eq!(bed.browser().get(path).await.location(), "/login", "{path}");
        merchant.get("/password").await;
        assert_eq!(merchant.post(path, &[("day", "2026-01-01")]).await.status, 404, "{path}");
    }
    assert!(bed.dashboard.checks.ledger.state().last.is_none());
    assert!(bed.dashboard.checks.reconciliation.state().last.is_none());
}
