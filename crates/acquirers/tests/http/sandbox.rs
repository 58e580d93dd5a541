//! Tests the adapters against the sandbox, which validates requests strictly.

use std::time::Duration;

use cais_acquirers::EfiAcquirer;
use cais_domain::end_to_end_id::EndToEndId;
use cais_domain::infraction::Situation;
use cais_domain::money::Money;
use cais_ports::{
    Acquirer, CallbackInfraction, CallbackItem, DefenseOrder, DefenseReceipt, ListRequest, ReturnNature,
    UpstreamInfraction, UpstreamInfractionStatus, UpstreamProgress,
};
use cais_sandbox::{Control, Fault, FaultMode, InfractionOutcome, NewDispute, Sandbox, SandboxConfig};
use jiff::Timestamp;
use tokio::sync::mpsc::unbounded_channel;

use crate::answers::{BUDGET, http, kind, order, payout_order, reason, sandbox_config};
use crate::server::{Act, Server};

struct Bed {
    efi: EfiAcquirer,
    control: Control,
    _sandbox: Sandbox,
}

impl Bed {
    async fn start() -> Self {
        let sandbox = Sandbox::start(SandboxConfig::default()).await.unwrap();
        let efi = EfiAcquirer::new(&sandbox_config(&sandbox.credentials())).unwrap();
        Self { efi, control: sandbox.control(), _sandbox: sandbox }
    }

    /// Returns a paid charge's Pix.
    async fn paid(&self) -> EndToEndId {
        self.efi.create_charge(&order(), BUDGET).await.unwrap();
        self.control.pay(&order().txid, None).unwrap().end_to_end_id
    }

    async fn listed(&self) -> Vec<UpstreamInfraction> {
        let (mut rows, mut next) = (Vec::new(), Some(0));
        while let Some(page) = next {
            let (from, to) = (Timestamp::UNIX_EPOCH, "2100-01-01T00:00:00Z".parse().unwrap());
            let found = self.efi.list_infractions(ListRequest { from, to, page }, BUDGET).await.unwrap();
            rows.extend(found.rows);
            next = found.next;
        }
        rows
    }

    async fn only(&self) -> UpstreamInfraction {
        let mut rows = self.listed().await;
        assert_eq!(rows.len(), 1);
        rows.remove(0)
    }

    /// Returns the numbers of accepted and requested defenses.
    fn defenses(&self) -> (u64, u64) {
        let item = self.control.ledger().unwrap().infractions.remove(0);
        (item.defenses, item.defense_requests)
    }
}

fn defense(id: &str) -> DefenseOrder {
    let evidence_url = Some("https://shop.example/proof".to_owned());
    DefenseOrder { infraction: id.to_owned(), text: "It was\ndelivered.".to_owned(), evidence_url }
}

#[tokio::test]
async fn infraction_is_read_from_opening_to_return() {
    let bed = Bed::start().await;
    let e2e = bed.paid().await;
    let dispute = NewDispute {
        situation: Some(Situation::AccountTakeover),
        amount: Some(Money::from_centavos(750)),
        ..NewDispute::default()
    };
    let opened = bed.control.open_infraction(&e2e, dispute).unwrap();
    let found = bed.only().await;
    assert_eq!((&found.id, &found.end_to_end_id, found.amount), (&opened.id, &e2e, Money::from_centavos(750)));
    assert_eq!((found.status, found.situation), (UpstreamInfractionStatus::Open, Situation::AccountTakeover));
    assert_eq!((found.opened_at, found.deadline_at), (opened.opened_at, Some(opened.deadline_at)));
    assert!(found.reason.is_some() && found.defense.is_none() && found.resolved_at.is_none());

    assert_eq!(bed.efi.send_defense(&defense(&opened.id), BUDGET).await, Ok(DefenseReceipt::Taken));
    assert_eq!(bed.efi.send_defense(&defense(&opened.id), BUDGET).await, Ok(DefenseReceipt::AlreadyThere));
    let found = bed.only().await;
    assert_eq!(found.status, UpstreamInfractionStatus::Defended);
    let shown = found.defense.unwrap();
    assert_eq!(shown.text, Some(defense(&opened.id).whole_text()));
    assert!(shown.received_at.is_some());

    bed.control.resolve_infraction(&opened.id, InfractionOutcome::Lost).unwrap();
    let found = bed.only().await;
    assert!(found.status == UpstreamInfractionStatus::Accepted && found.resolved_at.is_some());
    bed.control.set_clock_offset(2).unwrap();
    let received = bed.efi.find_received(&e2e, BUDGET).await.unwrap().unwrap();
    assert_eq!((received.txid, received.payment.amount), (Some(order().txid), order().amount));
    let back = received.payment.returns.first().unwrap();
    assert_eq!((back.nature, back.amount), (ReturnNature::Infraction, Money::from_centavos(750)));
    assert!(matches!(back.progress, UpstreamProgress::Done { .. }) && back.refund().is_none());
    let charge = bed.efi.find_charge(&order().txid, BUDGET).await.unwrap().unwrap();
    assert_eq!(charge.payments.first().unwrap().returns, received.payment.returns);
    let unknown = EndToEndId::parse(&"E".repeat(32)).unwrap();
    assert_eq!(bed.efi.find_received(&unknown, BUDGET).await, Ok(None));
}

#[tokio::test]
async fn every_resolution_is_read() {
    for (outcome, wanted) in [
        (InfractionOutcome::Won, UpstreamInfractionStatus::Rejected),
        (InfractionOutcome::Lost, UpstreamInfractionStatus::Accepted),
        (InfractionOutcome::Cancelled, UpstreamInfractionStatus::Cancelled),
    ] {
        let bed = Bed::start().await;
        let e2e = bed.paid().await;
        let id = bed.control.open_infraction(&e2e, NewDispute::default()).unwrap().id;
        bed.control.resolve_infraction(&id, outcome).unwrap();
        assert_eq!(bed.only().await.status, wanted);
        assert_eq!(bed.efi.send_defense(&defense(&id), BUDGET).await, Ok(DefenseReceipt::AlreadyThere));
        bed.control.resolve_infraction(&id, InfractionOutcome::Reopened).unwrap();
        assert_eq!(bed.only().await.status, UpstreamInfractionStatus::Open);
        assert_eq!(bed.efi.send_defense(&defense(&id), BUDGET).await, Ok(DefenseReceipt::Taken));
    }
}

#[tokio::test]
async fn list_of_many_pages_is_complete() {
    let bed = Bed::start().await;
    let e2e = bed.paid().await;
    let open = |_| bed.control.open_infraction(&e2e, NewDispute::default()).unwrap().id;
    let opened: Vec<_> = (0..95).map(open).collect();
    let found: Vec<_> = bed.listed().await.into_iter().map(|row| row.id).collect();
    assert_eq!(found, opened);
}

#[tokio::test]
async fn defense_deadline_follows_the_simulated_clock() {
    let bed = Bed::start().await;
    let e2e = bed.paid().await;
    let dispute = NewDispute { deadline_s: Some(86_400), ..NewDispute::default() };
    let first = bed.control.open_infraction(&e2e, dispute).unwrap().id;
    let second = bed.control.open_infraction(&e2e, dispute).unwrap().id;
    bed.control.set_clock_offset(86_400 - 60).unwrap();
    assert_eq!(bed.efi.send_defense(&defense(&first), BUDGET).await, Ok(DefenseReceipt::Taken));
    bed.control.set_clock_offset(86_400 + 1).unwrap();
    assert_eq!(bed.efi.send_defense(&defense(&second), BUDGET).await, Ok(DefenseReceipt::TooLate));
    assert_eq!(kind(&bed.efi.send_defense(&defense("nobodys"), BUDGET).await), "unknown");
}

#[tokio::test]
async fn defense_with_lost_reply_is_found_by_look_up() {
    for (fault, outcome, taken) in [
        (FaultMode::DropReply.into(), "unknown", 1),
        (Fault { mode: FaultMode::LateReply, latency: Duration::from_mins(1) }, "unknown", 1),
        (FaultMode::Error.into(), "unknown", 0),
        (FaultMode::Down.into(), "unavailable", 0),
    ] {
        let bed = Bed::start().await;
        let e2e = bed.paid().await;
        let id = bed.control.open_infraction(&e2e, NewDispute::default()).unwrap().id;
        bed.control.set_faults(fault).unwrap();
        let result = bed.efi.send_defense(&defense(&id), Duration::from_secs(1)).await;
        assert_eq!(kind(&result), outcome, "{fault:?}: {}", reason(&result));
        bed.control.set_faults(FaultMode::Ok.into()).unwrap();
        assert_eq!(bed.only().await.defense.is_some(), taken == 1, "{fault:?}");
        assert_eq!(bed.defenses(), (taken, taken), "{fault:?}");
    }
}

#[tokio::test]
async fn callback_contains_the_changed_infraction() {
    let bed = Bed::start().await;
    let e2e = bed.paid().await;
    let (sender, mut bodies) = unbounded_channel();
    let receiver = Server::start(move |seen, _| {
        sender.send(seen.body.clone()).unwrap();
        Act::Reply(http(200, "application/json", ""))
    })
    .await;
    bed.efi.register_callback(&receiver.url(), BUDGET).await.unwrap();
    let id = bed.control.open_infraction(&e2e, NewDispute::default()).unwrap().id;
    let body = tokio::time::timeout(BUDGET, bodies.recv()).await.unwrap().unwrap();
    assert_eq!(bed.efi.callbacks(body.as_bytes()), Ok(vec![CallbackItem::Infraction(CallbackInfraction { id })]));
}

#[tokio::test]
async fn payout_needs_a_webhook_of_the_paying_key() {
    let bed = Bed::start().await;
    let refused = bed.efi.send_payout(&payout_order(), BUDGET).await;
    assert_eq!(kind(&refused), "refused");
    assert!(reason(&refused).contains("accepts no payouts at present"), "{}", reason(&refused));
    assert_eq!(bed.efi.find_payout(&payout_order().instruction_id, BUDGET).await, Ok(None));
    bed.efi.register_callback("http://127.0.0.1:9/c", BUDGET).await.unwrap();
    let before = bed.efi.balance().await.unwrap().available;
    bed.efi.send_payout(&payout_order(), BUDGET).await.unwrap();
    let after = bed.efi.balance().await.unwrap().available;
    assert_eq!(before.checked_sub(after), Ok(payout_order().amount));
}

#[tokio::test]
async fn answer_shows_the_clock_of_the_institution() {
    let bed = Bed::start().await;
    let made = bed.efi.create_charge(&order(), BUDGET).await.unwrap();
    assert!(!made.has_reached(made.expires_at), "{made:?}");
    // Real time does not advance as much during the test.
    bed.control.set_clock_offset(i64::from(order().expires_in_s) + 1).unwrap();
    let found = bed.efi.find_charge(&order().txid, BUDGET).await.unwrap().unwrap();
    assert!(found.answered_at.is_some() && found.has_reached(made.expires_at), "{found:?}");
    bed.control.set_clock_offset(i64::from(order().expires_in_s) - 60).unwrap();
    let found = bed.efi.find_charge(&order().txid, BUDGET).await.unwrap().unwrap();
    assert!(found.answered_at.is_some() && !found.has_reached(made.expires_at), "{found:?}");
}
