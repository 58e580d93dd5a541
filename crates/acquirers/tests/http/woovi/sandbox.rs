//! Tests Woovi against the sandbox, which validates requests strictly and signs callbacks.

use cais_acquirers::{Secret, WooviAcquirer, WooviConfig};
use cais_domain::end_to_end_id::EndToEndId;
use cais_domain::money::Money;
use cais_domain::pix_key::PixKey;
use cais_ports::{
    Acquirer as _, CallbackItem, CallbackSignatures, DefenseOrder, DefenseReceipt, ListRequest, PayoutOrder,
    RefundOrder, UpstreamInfractionStatus, UpstreamStatus,
};
use cais_sandbox::{Control, InfractionOutcome, NewDispute, Sandbox, SandboxConfig};
use jiff::Timestamp;
use tokio::sync::mpsc::{UnboundedReceiver, unbounded_channel};

use super::answers::config;
use crate::answers::{BUDGET, http, instruction_id, kind, order, payout_order, progress, reason, refund_order};
use crate::server::{Act, Seen, Server};

struct Bed {
    woovi: WooviAcquirer,
    control: Control,
    _sandbox: Sandbox,
}

impl Bed {
    async fn start() -> Self {
        let sandbox = Sandbox::start(SandboxConfig::default()).await.unwrap();
        let credentials = sandbox.woovi_credentials();
        let config = WooviConfig {
            app_id: Secret::new(credentials.app_id.as_str()),
            webhook_public_key: Some(credentials.webhook_public_key),
            webhook_hmac_secret: None,
            ..config(&credentials.base_url)
        };
        Self { woovi: WooviAcquirer::new(&config).unwrap(), control: sandbox.control(), _sandbox: sandbox }
    }

    /// Returns a paid charge's Pix.
    async fn paid(&self) -> EndToEndId {
        self.woovi.create_charge(&order(), BUDGET).await.unwrap();
        self.control.pay(&order().txid, None).unwrap().end_to_end_id
    }

    /// Receives callbacks. The server ends with the returned guard.
    async fn receive(&self) -> (Server, UnboundedReceiver<Seen>) {
        let (sender, seen) = unbounded_channel();
        let receiver = Server::start(move |seen, _| {
            let _closed = sender.send(seen.clone());
            Act::Reply(http(200, "application/json", ""))
        })
        .await;
        self.woovi.register_callback(&receiver.url(), BUDGET).await.unwrap();
        (receiver, seen)
    }
}

fn all(page: u32) -> ListRequest {
    ListRequest { from: Timestamp::UNIX_EPOCH, to: "2100-01-01T00:00:00Z".parse().unwrap(), page }
}

/// Returns the resources of the callbacks up to the first that `wanted` accepts. Each callback must be signed.
async fn until(
    woovi: &WooviAcquirer,
    seen: &mut UnboundedReceiver<Seen>,
    wanted: impl Fn(&CallbackItem) -> bool,
) -> CallbackItem {
    loop {
        let callback = tokio::time::timeout(BUDGET, seen.recv()).await.unwrap().unwrap();
        let headers = callback.headers.iter().map(|(name, value)| (name.as_str(), value.as_str()));
        let signatures = CallbackSignatures::of_headers(headers);
        assert_eq!(woovi.verify_callback(callback.body.as_bytes(), &signatures), Ok(()), "{}", callback.body);
        let forged = callback.body.replace(':', ": ");
        assert_eq!(kind(&woovi.verify_callback(forged.as_bytes(), &signatures)), "refused");
        let items = woovi.callbacks(callback.body.as_bytes()).unwrap();
        if let Some(item) = items.into_iter().find(&wanted) {
            return item;
        }
    }
}

#[tokio::test]
async fn charge_is_created_paid_and_listed() {
    let bed = Bed::start().await;
    let (_server, mut seen) = bed.receive().await;
    let made = bed.woovi.create_charge(&order(), BUDGET).await.unwrap();
    assert_eq!((made.status, made.amount), (UpstreamStatus::Active, order().amount));
    let again = bed.woovi.create_charge(&order(), BUDGET).await.unwrap();
    assert_eq!((again.copy_paste, again.expires_at), (made.copy_paste.clone(), made.expires_at));
    let before = bed.woovi.find_charge(&order().txid, BUDGET).await.unwrap().unwrap();
    assert_eq!((before.status, before.payments.len()), (UpstreamStatus::Active, 0));
    assert!(before.answered_at.is_some() && !before.has_reached(before.expires_at));
    let pix = bed.control.pay(&order().txid, None).unwrap().end_to_end_id;
    let CallbackItem::Received(hint) =
        until(&bed.woovi, &mut seen, |item| matches!(item, CallbackItem::Received(pix) if pix.end_to_end_id.is_some()))
            .await
    else {
        unreachable!("another item")
    };
    assert_eq!((hint.txid, hint.end_to_end_id.as_ref()), (order().txid, Some(&pix)));
    let paid = bed.woovi.find_charge(&order().txid, BUDGET).await.unwrap().unwrap();
    let [payment] = paid.payments.as_slice() else { unreachable!("{paid:?}") };
    assert_eq!(
        (paid.status, &payment.end_to_end_id, payment.amount),
        (UpstreamStatus::Completed, &pix, order().amount)
    );
    let listed = bed.woovi.list_received(all(0), BUDGET).await.unwrap();
    assert_eq!(listed.rows.iter().map(|row| row.txid.clone()).collect::<Vec<_>>(), [Some(order().txid)]);
    let found = bed.woovi.find_received(&pix, BUDGET).await.unwrap().unwrap();
    assert_eq!((found.txid, found.payment.amount), (Some(order().txid), order().amount));
    let (balance, clock) = bed.woovi.balance().await.unwrap();
    assert!(balance.available.is_positive() && clock.is_some());
}

#[tokio::test]
async fn charge_is_removed_once() {
    let bed = Bed::start().await;
    bed.woovi.create_charge(&order(), BUDGET).await.unwrap();
    let removed = bed.woovi.cancel_charge(&order().txid, BUDGET).await.unwrap();
    assert_eq!((removed.status, removed.amount), (UpstreamStatus::Removed, order().amount));
    assert_eq!(bed.woovi.find_charge(&order().txid, BUDGET).await, Ok(None));
    assert_eq!(kind(&bed.woovi.create_charge(&order(), BUDGET).await), "unknown", "the name stays taken");
    let bed = Bed::start().await;
    bed.paid().await;
    let paid = bed.woovi.cancel_charge(&order().txid, BUDGET).await.unwrap();
    assert_eq!(paid.status, UpstreamStatus::Completed);
}

#[tokio::test]
async fn payout_is_sent_once_with_lost_replies() {
    let bed = Bed::start().await;
    bed.paid().await;
    let (_server, mut seen) = bed.receive().await;
    let lost = PayoutOrder {
        amount: Money::from_centavos(100),
        pix_key: PixKey::parse("lost@sandbox.cais").unwrap(),
        ..payout_order()
    };
    assert_eq!(bed.woovi.find_payout(&lost.instruction_id, BUDGET).await, Ok(None));
    let sent = bed.woovi.send_payout(&lost, BUDGET).await.unwrap();
    assert!(!sent.awaits_approval && sent.end_to_end_id.is_some(), "{sent:?}");
    let again = bed.woovi.send_payout(&lost, BUDGET).await.unwrap();
    assert_eq!(again.end_to_end_id, sent.end_to_end_id, "a repeat is the same payment");
    let wanted =
        |item: &CallbackItem| matches!(item, CallbackItem::Sent(sent) if sent.instruction_id == instruction_id());
    until(&bed.woovi, &mut seen, wanted).await;
    let found = bed.woovi.find_payout(&lost.instruction_id, BUDGET).await.unwrap().unwrap();
    assert!(progress(&found.progress).starts_with("done"), "{found:?}");
    let listed = bed.woovi.list_sent(all(0), BUDGET).await.unwrap();
    assert_eq!(listed.rows.len(), 1);
    let ledger = bed.control.ledger().unwrap();
    let approved: Vec<_> = ledger.woovi.payments.iter().map(|item| (item.approved, item.requests)).collect();
    assert_eq!(approved, [(true, 2)], "one payment, whose second creation was refused");
}

#[tokio::test]
async fn returned_payout_is_listed_beside_refunds() {
    let bed = Bed::start().await;
    let pix = bed.paid().await;
    bed.woovi.send_refund(&RefundOrder { end_to_end_id: pix.clone(), ..refund_order() }, BUDGET).await.unwrap();
    let order = PayoutOrder { amount: Money::from_centavos(100), ..payout_order() };
    bed.woovi.send_payout(&order, BUDGET).await.unwrap();
    bed.control.set_clock_offset(60).unwrap();
    let returned = bed.control.return_sent(order.instruction_id.as_str(), None).unwrap();
    let listed = bed.woovi.list_payout_returns(all(0), BUDGET).await.unwrap();
    let rows: Vec<_> = listed.rows.iter().map(|part| (part.return_id.as_str(), part.amount)).collect();
    assert_eq!((rows, listed.unreadable), (vec![(&*returned.return_id, order.amount)], vec![]));
    // The account's list has the payout and both returns too. They are no received Pix.
    let received = bed.woovi.list_received(all(0), BUDGET).await.unwrap();
    let rows: Vec<_> = received.rows.iter().map(|row| &row.payment.end_to_end_id).collect();
    assert_eq!((rows, received.unreadable), (vec![&pix], vec![]));
}

#[tokio::test]
async fn payout_without_money_awaits_its_approval() {
    let bed = Bed::start().await;
    bed.control.set_balance(Money::ZERO).unwrap();
    let order = payout_order();
    let sent = bed.woovi.send_payout(&order, BUDGET).await.unwrap();
    assert!(sent.awaits_approval && progress(&sent.progress) == "open", "{sent:?}");
    let found = bed.woovi.find_payout(&order.instruction_id, BUDGET).await.unwrap().unwrap();
    assert!(found.awaits_approval);
    bed.control.set_balance(Money::from_centavos(100_000)).unwrap();
    let approved = bed.woovi.send_payout(&order, BUDGET).await.unwrap();
    assert!(!approved.awaits_approval, "{approved:?}");
    let invalid = PayoutOrder { pix_key: PixKey::parse("fail@sandbox.cais").unwrap(), ..order };
    assert_eq!(kind(&bed.woovi.send_payout(&invalid, BUDGET).await), "unknown", "another order with the name");
}

#[tokio::test]
async fn refund_is_sent_and_found() {
    let bed = Bed::start().await;
    let pix = bed.paid().await;
    let order = RefundOrder { end_to_end_id: pix.clone(), ..refund_order() };
    assert_eq!(bed.woovi.find_refund(&pix, order.id, BUDGET).await, Ok(None));
    let sent = bed.woovi.send_refund(&order, BUDGET).await.unwrap();
    assert_eq!((sent.refund(), sent.amount), (Some(order.id), order.amount));
    assert!(sent.return_id.is_some());
    let repeated = bed.woovi.send_refund(&order, BUDGET).await;
    assert_eq!(kind(&repeated), "unknown", "a taken name: {}", reason(&repeated));
    let found = bed.woovi.find_refund(&pix, order.id, BUDGET).await.unwrap().unwrap();
    assert_eq!((found.amount, &found.return_id), (sent.amount, &sent.return_id));
    let received = bed.woovi.find_received(&pix, BUDGET).await.unwrap().unwrap();
    assert_eq!(received.payment.returns.len(), 1);
    let too_much = RefundOrder { amount: Money::from_centavos(99_999), ..order };
    let other =
        RefundOrder { id: cais_domain::ids::RefundId::from_suffix("01jd8x2m4pe9ktva0c6rzq5w3q").unwrap(), ..too_much };
    let refused = bed.woovi.send_refund(&other, BUDGET).await;
    assert_ne!(kind(&refused), "ok", "{}", reason(&refused));
}

#[tokio::test]
async fn dispute_is_listed_defended_and_decided() {
    let bed = Bed::start().await;
    let pix = bed.paid().await;
    let (_server, mut seen) = bed.receive().await;
    let id = bed.control.open_infraction(&pix, NewDispute::default()).unwrap().id;
    until(&bed.woovi, &mut seen, |item| matches!(item, CallbackItem::Infraction(dispute) if dispute.id == id)).await;
    let listed = bed.woovi.list_infractions(all(0), BUDGET).await.unwrap();
    let [dispute] = listed.rows.as_slice() else { unreachable!("{listed:?}") };
    assert_eq!((&dispute.id, &dispute.end_to_end_id), (&id, &pix));
    assert_eq!((dispute.status, dispute.amount), (UpstreamInfractionStatus::Undecided, order().amount));
    let defense = DefenseOrder {
        infraction: id.clone(),
        text: "It was delivered.".to_owned(),
        evidence_url: Some("https://shop.example/proof.pdf".to_owned()),
    };
    assert_eq!(bed.woovi.send_defense(&defense, BUDGET).await, Ok(DefenseReceipt::Taken));
    assert_eq!(bed.woovi.send_defense(&defense, BUDGET).await, Ok(DefenseReceipt::Taken), "a repeat has no effect");
    bed.control.resolve_infraction(&id, InfractionOutcome::Lost).unwrap();
    let listed = bed.woovi.list_infractions(all(0), BUDGET).await.unwrap();
    assert_eq!(listed.rows.first().map(|row| row.status), Some(UpstreamInfractionStatus::Accepted));
    assert_eq!(kind(&bed.woovi.send_defense(&defense, BUDGET).await), "refused");
}
