//! Unique values: each has one owner, is compared exactly, and stays reserved until a change set frees it.

use cais_domain::end_to_end_id::ReturnId;
use cais_domain::external_id::ExternalId;
use cais_domain::ids::AccountId;
use cais_domain::instruction_id::InstructionId;
use cais_domain::merchant::webhook::WebhookUrl;
use cais_ports::{ChangeSet, CommitError, Reservation, ReservationKey};

use super::Harness;
use super::probe::refused_without_a_trace;
use crate::builders::steps::infraction_key;
use crate::builders::{a_charge, a_payment, a_payout, a_return_id, a_webhook_url, dispute_report, start};

/// A second reservation fails, its error names the first owner, and its change set leaves no trace.
pub async fn reserved_value_has_one_owner(h: &mut Harness) {
    let account = h.account().await;
    for key in keys(account.id) {
        h.commit_ok(reserve(&[&key], account.id, "first")).await;
        let refused = refused_without_a_trace(h, account.id, |change| {
            change.reserve.extend(reserve(&[&key], account.id, "second").reserve);
        });
        assert_eq!(refused.await, taken(&key, "first"));
        let owner = h.store.find_owner(&key).await.unwrap();
        assert_eq!(owner.as_deref(), Some("first"));
    }
}

/// Equal texts are different values if their kinds differ, or if their accounts differ.
pub async fn kinds_and_accounts_do_not_share_values(h: &mut Harness) {
    let (one, other) = (h.account().await, h.account().await);
    let txid = a_charge(one.id).txid;
    let text = ExternalId::parse(txid.as_str()).unwrap();
    let pix = a_payment(1).end_to_end_id;
    let url = WebhookUrl::parse(txid.as_str()).unwrap();
    let of_pix = ExternalId::parse(pix.as_str()).unwrap();
    let keys = [
        ReservationKey::Email(txid.to_string()),
        ReservationKey::UserEmail(txid.to_string()),
        ReservationKey::CryptoPayment(txid.to_string()),
        ReservationKey::ChargeExternalId(one.id, text.clone()),
        ReservationKey::ChargeExternalId(other.id, text.clone()),
        ReservationKey::PayoutExternalId(one.id, text.clone()),
        ReservationKey::PayoutExternalId(other.id, text.clone()),
        ReservationKey::RefundExternalId(one.id, text.clone()),
        ReservationKey::RefundExternalId(other.id, text.clone()),
        ReservationKey::CryptoDepositExternalId(one.id, text.clone()),
        ReservationKey::CryptoDepositExternalId(other.id, text.clone()),
        ReservationKey::CryptoWithdrawalExternalId(one.id, text.clone()),
        ReservationKey::CryptoWithdrawalExternalId(other.id, text),
        ReservationKey::InstructionId(InstructionId::parse(txid.as_str()).unwrap()),
        ReservationKey::Txid(txid.clone()),
        ReservationKey::ReturnId(ReturnId::parse(pix.as_str()).unwrap()),
        ReservationKey::RefundExternalId(one.id, of_pix),
        ReservationKey::EndpointUrl(one.id, url.clone()),
        ReservationKey::EndpointUrl(other.id, url),
        ReservationKey::EndpointSlot(one.id, txid.to_string()),
        ReservationKey::EndpointSlot(other.id, txid.to_string()),
        ReservationKey::Infraction(txid.to_string()),
        ReservationKey::EndToEndId(pix),
    ];
    for (place, key) in keys.iter().enumerate() {
        assert_eq!(h.store.find_owner(key).await.unwrap(), None);
        h.commit_ok(reserve(&[key], one.id, &place.to_string())).await;
    }
    for (place, key) in keys.iter().enumerate() {
        assert_eq!(h.store.find_owner(key).await.unwrap(), Some(place.to_string()));
    }
}

/// Case, trailing blanks and the encoding of accents are significant, and so is the last of 120 characters.
pub async fn external_ids_differ_in_every_character(h: &mut Harness) {
    let account = h.account().await;
    let long = "\u{1F980}".repeat(119);
    let texts = ["a", "A", "a ", " a", "\u{E9}", "e\u{301}", "%", "_", "''"];
    let texts = texts.map(str::to_owned).into_iter();
    for text in texts.chain(["x", "X"].map(|last| format!("{long}{last}"))) {
        let external_id = ExternalId::parse(&text).unwrap();
        let keys = [
            ReservationKey::ChargeExternalId(account.id, external_id.clone()),
            ReservationKey::PayoutExternalId(account.id, external_id.clone()),
            ReservationKey::RefundExternalId(account.id, external_id),
        ];
        for key in keys {
            let owner = format!("{} {text}", key.space());
            h.commit_ok(reserve(&[&key], account.id, &owner)).await;
            assert_eq!(h.store.find_owner(&key).await.unwrap(), Some(owner));
        }
    }
}

/// If several values are already reserved, the error names the first one in the order of the change set.
pub async fn first_taken_value_is_named(h: &mut Harness) {
    let account = h.account().await;
    let [free, second, third, ..] = keys(account.id);
    h.commit_ok(reserve(&[&third], account.id, "third")).await;
    h.commit_ok(reserve(&[&second], account.id, "second")).await;
    for (order, named, by) in
        [([&free, &second, &third], &second, "second"), ([&third, &second, &free], &third, "third")]
    {
        let refused = h.commit(reserve(&order, account.id, "late")).await;
        assert_eq!(refused, Err(taken(named, by)));
    }
    assert_eq!(h.store.find_owner(&free).await.unwrap(), None);
}

/// After a value is freed, any owner may reserve it.
pub async fn freed_value_can_be_reserved_again(h: &mut Harness) {
    let (one, other) = (h.account().await, h.account().await);
    for key in keys(one.id) {
        h.commit_ok(reserve(&[&key], one.id, "first")).await;
        let release = ChangeSet { unreserve: vec![key.clone()], ..ChangeSet::new(start()) };
        h.commit_ok(release.clone()).await;
        assert_eq!(h.store.find_owner(&key).await.unwrap(), None);
        h.commit_ok(release).await;
        h.commit_ok(reserve(&[&key], other.id, "second")).await;
        let owner = h.store.find_owner(&key).await.unwrap();
        assert_eq!(owner.as_deref(), Some("second"));
    }
}

/// A change set cannot free a value and reserve it for another owner: reservations are checked first.
pub async fn freed_value_stays_taken_in_the_same_change_set(h: &mut Harness) {
    let account = h.account().await;
    for key in keys(account.id) {
        h.commit_ok(reserve(&[&key], account.id, "first")).await;
        let swap = ChangeSet { unreserve: vec![key.clone()], ..reserve(&[&key], account.id, "second") };
        assert_eq!(h.commit(swap).await, Err(taken(&key, "first")));
        let owner = h.store.find_owner(&key).await.unwrap();
        assert_eq!(owner.as_deref(), Some("first"));
    }
}

/// Returns new values, each of another kind.
fn keys(account: AccountId) -> [ReservationKey; 15] {
    let charge = a_charge(account);
    let external_id = ExternalId::parse(&charge.id.to_string()).unwrap();
    [
        ReservationKey::Email(format!("{}@shop.example", charge.txid)),
        ReservationKey::ChargeExternalId(account, external_id.clone()),
        ReservationKey::Txid(charge.txid),
        ReservationKey::EndToEndId(a_payment(1).end_to_end_id),
        ReservationKey::PayoutExternalId(account, external_id.clone()),
        ReservationKey::RefundExternalId(account, external_id.clone()),
        ReservationKey::CryptoDepositExternalId(account, external_id.clone()),
        ReservationKey::CryptoWithdrawalExternalId(account, external_id),
        ReservationKey::InstructionId(a_payout(account).instruction_id()),
        ReservationKey::ReturnId(a_return_id()),
        ReservationKey::EndpointUrl(account, a_webhook_url()),
        ReservationKey::EndpointSlot(account, "07".to_owned()),
        infraction_key(&dispute_report(1)),
        ReservationKey::UserEmail("ana@shop.example".to_owned()),
        ReservationKey::CryptoPayment("nowpayments/5745459419".to_owned()),
    ]
}

fn reserve(keys: &[&ReservationKey], account: AccountId, owner: &str) -> ChangeSet {
    let reservation = |key: &&ReservationKey| Reservation { key: (*key).clone(), account, owner: owner.to_owned() };
    ChangeSet { reserve: keys.iter().map(reservation).collect(), ..ChangeSet::new(start()) }
}

fn taken(key: &ReservationKey, by: &str) -> CommitError {
    CommitError::Taken { key: key.clone(), by: by.to_owned() }
}
