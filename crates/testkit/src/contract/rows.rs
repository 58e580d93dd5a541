//! Charges are read back exactly as written.

use cais_domain::charge::{Charge, ChargeState, ChargeStatus, ChargeTerms, MAX_EXPIRES_IN_S, MIN_EXPIRES_IN_S, Origin};
use cais_domain::external_id::ExternalId;
use cais_domain::ids::AccountId;
use cais_domain::merchant::webhook::{Postback, WebhookUrl};
use cais_domain::money::Money;
use cais_domain::text::{LineBreaks, Text};
use jiff::Timestamp;

use super::Harness;
use super::harness::after_s;
use crate::builders::{a_charge, a_split, fresh, in_status, issued, pending_charge, steps, terms};

/// A charge in each state is inserted, and read back as version 1, by id and by txid.
pub async fn charges_come_back_in_every_state(h: &mut Harness) {
    let account = h.account().await;
    for status in ChargeStatus::ALL {
        let written = h.charge(in_status(a_charge(account.id), status)).await;
        assert_reads(h, &written).await;
    }
}

/// Each update is read back with its new state and the next version.
pub async fn charges_come_back_after_every_update(h: &mut Harness) {
    let account = h.account().await;
    for status in ChargeStatus::ALL {
        let written = h.charge(a_charge(account.id)).await;
        let pending = Charge { state: ChargeState::Pending(issued(&written)), ..written };
        h.commit_ok(steps::update_charge(&pending, after_s(1))).await;
        let pending = Charge { version: 2, ..pending };
        assert_reads(h, &pending).await;
        let changed = in_status(pending, status);
        h.commit_ok(steps::update_charge(&changed, after_s(2))).await;
        assert_reads(h, &Charge { version: 3, ..changed }).await;
    }
}

/// Charges with the greatest amounts, the longest texts, many scripts, empty texts, and very early and late instants are
/// read back as written.
pub async fn extreme_charges_come_back(h: &mut Harness) {
    let account = h.account().await;
    for (terms, created_at) in extreme_terms() {
        for status in [ChargeStatus::Creating, ChargeStatus::Paid] {
            let mut charge = pending_charge(account.id);
            charge.terms = terms.clone();
            charge.created_at = created_at;
            // Only one of the two charges can have the external id, which is unique in the account.
            charge.terms.external_id = terms.external_id.clone().filter(|_| status == ChargeStatus::Paid);
            let written = h.charge(in_status(charge, status)).await;
            assert_reads(h, &written).await;
        }
    }
}

/// Queries of an empty store find no record.
pub async fn missing_charge_is_not_found(h: &mut Harness) {
    let stranger: AccountId = fresh();
    let charge = a_charge(stranger);
    let store = &h.store;
    assert_eq!(store.find_charge(stranger, charge.id).await.unwrap(), None);
    assert_eq!(store.find_charge_by_txid(&charge.txid).await.unwrap(), None);
    assert_eq!(store.find_account(stranger).await.unwrap(), None);
    assert_eq!(store.find_account_by_email("").await.unwrap(), None);
    let name = steps::idempotency_ref(stranger, "never-used");
    assert_eq!(store.find_idempotency_record(&name).await.unwrap(), None);
    assert_eq!(store.list_keys(stranger).await.unwrap(), []);
    assert_eq!(store.last_sequence(stranger).await.unwrap(), 0);
    assert_eq!(h.balances(stranger).await, [0; 4]);
    assert_eq!(h.audit().await, 0);
    store.ready().await.unwrap();
}

/// A charge is found only under its own account.
pub async fn charge_is_found_under_its_own_account_only(h: &mut Harness) {
    let (owner, other) = (h.account().await, h.account().await);
    let charge = h.pending_charge(owner.id).await;
    assert_eq!(h.store.find_charge(other.id, charge.id).await.unwrap(), None);
}

async fn assert_reads(h: &Harness, charge: &Charge) {
    let by_id = h.store.find_charge(charge.account, charge.id).await.unwrap();
    assert_eq!(by_id.as_ref(), Some(charge));
    let by_txid = h.store.find_charge_by_txid(&charge.txid).await.unwrap();
    assert_eq!(by_txid.as_ref(), Some(charge));
}

fn extreme_terms() -> Vec<(ChargeTerms, Timestamp)> {
    let text = |text: &str| Some(Text::parse(text, 200, LineBreaks::Allowed).unwrap());
    let longest = "\u{1F980}".repeat(120);
    let longest_url = "\u{1F980}".repeat(500);
    let full = ChargeTerms {
        amount: Money::from_centavos(i64::MAX),
        fee: Money::from_centavos(i64::MAX),
        description: text("linha 1\r\nlinha 2\n'\"\\ -- \u{202E}\u{0301} çãé 漢字 \u{10FFFF}"),
        payer_name: text(&"\u{1F980}".repeat(200)),
        payer_document: text(" 123.456.789-09 "),
        expires_in_s: MAX_EXPIRES_IN_S,
        external_id: Some(ExternalId::parse(&longest).unwrap()),
        postback: Some(Postback { endpoint: fresh(), url: WebhookUrl::parse(&longest_url).unwrap() }),
        split: a_split(&["99.9996", "0.0001", "0.0001", "0.0001", "0.0001"].map(|percentage| (fresh(), percentage))),
        origin: Origin::Manual,
    };
    let empty = ChargeTerms {
        amount: Money::from_centavos(1),
        fee: Money::ZERO,
        description: text(""),
        payer_name: text(""),
        payer_document: text(""),
        expires_in_s: MIN_EXPIRES_IN_S,
        external_id: Some(ExternalId::parse(" ").unwrap()),
        postback: Some(Postback { endpoint: fresh(), url: WebhookUrl::parse("x").unwrap() }),
        split: a_split(&[(fresh(), "100")]),
        origin: Origin::Api,
    };
    let early = Timestamp::from_microsecond(1).unwrap();
    let late: Timestamp = "9999-12-01T23:59:59.999999Z".parse().unwrap();
    vec![(full, late), (empty, early), (terms(), after_s(0))]
}
