//! The list of events, and one event.

use cais_domain::event::EventType;
use cais_ports::Store as _;
use cais_testkit::builders::{an_event, steps};

use super::browser::TestBed;
use super::webhooks::{EMAIL, account, published};

#[actix_web::test]
async fn events_lead_to_the_pages_of_their_resources() {
    let bed = TestBed::new(None);
    let mut browser = bed.logged_in(EMAIL).await;
    for (kind, id, path) in [
        (EventType::PayoutCompleted, "pyt_1", "/payouts/pyt_1"),
        (EventType::InfractionOpened, "inf_1", "/infractions/inf_1"),
        (EventType::CryptoDepositCompleted, "cdp_1", "/crypto/deposits/cdp_1"),
        (EventType::CryptoWithdrawalFailed, "cwd_1", "/crypto/withdrawals/cwd_1"),
    ] {
        let event = an_event(account(&bed).await, kind, id);
        bed.store.commit(steps::publish(vec![event.clone()])).await.unwrap();
        for page in ["/events".to_owned(), format!("/events/{}", event.id)] {
            let seen = browser.get(&page).await;
            assert!(seen.body.contains(&format!("href=\"{path}\"")), "{page}: {}", seen.body);
        }
    }
}

#[actix_web::test]
async fn events_are_filtered_by_the_query() {
    let bed = TestBed::new(None);
    let mut browser = bed.logged_in(EMAIL).await;
    for _ in 0..51 {
        published(&bed).await;
    }
    let first = browser.get("/events?type=charge.paid").await;
    assert_eq!(first.body.matches("href=\"/events/evt_").count(), 50);
    assert!(first.body.contains("href=\"/charges/chg_1\""), "{}", first.body);
    let next = first.between("rel=\"next\" href=\"", "\"").replace("&#38;", "&");
    assert!(next.starts_with("/events?type=charge.paid&starting_after=evt_"), "{next}");
    assert_eq!(browser.get(&next).await.body.matches("href=\"/events/evt_").count(), 1);
    assert!(browser.get("/events?type=payout.failed").await.body.contains("Nenhum evento"));
    let after = browser.get("/events?after_sequence=49").await;
    assert_eq!(after.body.matches("href=\"/events/evt_").count(), 2);
    for (path, status) in [
        ("/events?type=gold.found", 422),
        ("/events?after_sequence=-1", 422),
        ("/events?after_sequence=x", 422),
        ("/events?starting_after=evt_x", 404),
        ("/events/evt_x", 404),
    ] {
        assert_eq!(browser.get(path).await.status, status, "{path}");
    }
}

#[actix_web::test]
async fn event_without_receiver_is_not_resent() {
    let bed = TestBed::new(None);
    let mut browser = bed.logged_in(EMAIL).await;
    let page = format!("/events/{}", published(&bed).await.id);
    browser.get(&page).await;
    let refused = browser.post(&format!("{page}/resend"), &[]).await;
    assert!(refused.status == 422 && refused.body.contains("Nenhum endereço ativo"), "{}", refused.body);
}
