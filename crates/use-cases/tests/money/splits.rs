//! Charges with shares: eligible recipients, the amount of each share, and that a share is final.

use cais_domain::charge::{ChargeStatus, ChargeTerms, Origin};
use cais_domain::event::EventType;
use cais_domain::external_id::ExternalId;
use cais_domain::ledger::{Bucket, LedgerAccount};
use cais_domain::merchant::account::{Account, AccountStatus, Feature, Features, Kyc};
use cais_domain::merchant::idempotency_key::IdempotencyKey;
use cais_domain::money::Money;
use cais_domain::rate::Percentage;
use cais_ports::acquirers::MockAcquirers;
use cais_ports::{
    Acquirers as _, Fingerprint, IssueError, ResponseKind, Store as _, UpstreamCharge, UpstreamStatus, Write,
};
use cais_testkit::builders::{a_split, an_account, fresh, main_acquirer, steps, terms};
use cais_testkit::psp::OrderReply;
use cais_use_cases::charges::create::{
    ChargeRefusal, CreateCharge, CreateChargeError, NewCharge, RequestedShare, create,
};
use cais_use_cases::{Ports, Response};
use jiff::ToSpan as _;
use proptest::prelude::*;

use crate::bed::{TestBed, all};

fn sharing() -> Account {
    let account = an_account();
    Account { features: account.features.with(Feature::Split), ..account }
}

fn share(recipient: &Account, percentage: &str) -> RequestedShare {
    RequestedShare { recipient_email: recipient.email.clone(), percentage: Percentage::parse(percentage).unwrap() }
}

fn charge_with_split(split: Vec<RequestedShare>) -> NewCharge {
    NewCharge {
        amount: Money::from_centavos(1_000),
        description: None,
        payer_name: None,
        payer_document: None,
        expires_in_s: 3_600,
        external_id: None,
        postback_url: None,
        split,
        origin: Origin::Api,
    }
}

/// Posts a charge that no acquirer accepts.
async fn post_in_vain(bed: &TestBed, key: &str, new_charge: NewCharge) -> Result<Response, CreateChargeError> {
    let mut mock = MockAcquirers::new();
    mock.expect_first().return_const(main_acquirer());
    mock.expect_is_available().return_const(true);
    mock.expect_issue().returning(|_, _, _| Err(IssueError::NoneTook { reasons: Vec::new() }));
    post_at(mock, bed, key, new_charge).await
}

/// Posts a charge at an acquirer that accepts all charges.
async fn post(bed: &TestBed, key: &str, new_charge: NewCharge) -> Result<Response, CreateChargeError> {
    let mut mock = MockAcquirers::new();
    mock.expect_first().return_const(main_acquirer());
    mock.expect_is_available().return_const(true);
    mock.expect_issue().returning(|order, name, _| {
        Ok::<_, IssueError>((
            name.clone(),
            UpstreamCharge {
                txid: order.txid.clone(),
                amount: order.amount,
                status: UpstreamStatus::Active,
                copy_paste: Some("000201".to_owned()),
                expires_at: cais_testkit::builders::start() + 1.hour(),
                payments: Vec::new(),
                answered_at: None,
            },
        ))
    });
    assert!(mock.first(&[]).is_some());
    post_at(mock, bed, key, new_charge).await
}

async fn post_at(
    mock: MockAcquirers,
    bed: &TestBed,
    key: &str,
    new_charge: NewCharge,
) -> Result<Response, CreateChargeError> {
    let ports = Ports { acquirers: std::sync::Arc::new(mock), ..bed.ports.clone() };
    let command = CreateCharge {
        account: bed.account.clone(),
        request: fresh(),
        key: IdempotencyKey::parse(&format!("test-key-{key}")).unwrap(),
        fingerprint: Fingerprint([u8::try_from(new_charge.split.len()).unwrap(); 32]),
        terms: new_charge,
    };
    create(&ports, command).await
}

fn money_of(bed: &TestBed, account: &Account, bucket: Bucket) -> i64 {
    bed.store.balance(&LedgerAccount::Merchant(account.id, bucket)).centavos()
}

async fn suspend(bed: &TestBed, account: &Account) {
    let suspended = Account { status: AccountStatus::Suspended, version: 1, ..account.clone() };
    bed.store.commit(steps::write(Write::update(suspended), account.created_at)).await.unwrap();
}

#[tokio::test]
async fn recipients_must_be_other_active_approved_accounts() {
    let bed = TestBed::with(sharing()).await;
    let good = an_account();
    let suspended = Account { status: AccountStatus::Suspended, ..an_account() };
    let pending = Account { kyc: Kyc::Pending, ..an_account() };
    let rejected = Account { kyc: Kyc::Rejected, ..an_account() };
    for account in [&good, &suspended, &pending, &rejected] {
        bed.open(account).await;
    }
    let stranger = an_account();
    for bad in [&suspended, &pending, &rejected, &stranger, &bed.account] {
        let refused = post(&bed, "a", charge_with_split(vec![share(&good, "10"), share(bad, "10")])).await;
        assert_eq!(refused, Err(CreateChargeError::Refused(ChargeRefusal::SplitRecipientNotEligible { index: 1 })));
    }
    assert_eq!(bed.store.charges(), []);
    let shouted = RequestedShare { recipient_email: format!(" {} ", good.email.to_uppercase()), ..share(&good, "10") };
    assert_eq!(
        post(&bed, "a", charge_with_split(vec![shouted])).await.unwrap().kind,
        ResponseKind::Created,
        "the key is free as before"
    );
    let charge = &bed.store.charges()[0];
    assert_eq!(charge.terms.split, a_split(&[(good.id, "10")]));
}

#[tokio::test]
async fn split_feature_is_required_of_creator_only() {
    let bed = TestBed::new().await;
    let good = Account { features: Features::default(), ..an_account() };
    bed.open(&good).await;
    assert_eq!(
        post(&bed, "a", charge_with_split(vec![share(&good, "10")])).await,
        Err(CreateChargeError::Refused(ChargeRefusal::SplitDisabled))
    );
    assert_eq!(
        post(&bed, "a", charge_with_split(Vec::new())).await.unwrap().kind,
        ResponseKind::Created,
        "an empty split is none"
    );
    let bed = TestBed::with(sharing()).await;
    bed.open(&good).await;
    assert_eq!(post(&bed, "a", charge_with_split(vec![share(&good, "10")])).await.unwrap().kind, ResponseKind::Created);
}

#[tokio::test]
async fn stored_response_is_replayed_after_recipient_suspension() {
    let bed = TestBed::with(sharing()).await;
    let good = an_account();
    bed.open(&good).await;
    let external_id = Some(ExternalId::parse("order-1").unwrap());
    let new_charge = || NewCharge { external_id: external_id.clone(), ..charge_with_split(vec![share(&good, "10")]) };
    let first = post(&bed, "a", new_charge()).await.unwrap();
    suspend(&bed, &good).await;
    let again = post(&bed, "a", new_charge()).await.unwrap();
    assert_eq!((again.kind, &again.body, again.replay_of.is_some()), (ResponseKind::Created, &first.body, true));
    let named = post(&bed, "b", new_charge()).await.unwrap();
    assert_eq!((named.kind, named.body), (ResponseKind::Existing, first.body));
    let dearer = NewCharge { amount: Money::from_centavos(2_000), ..new_charge() };
    let refused = post(&bed, "c", dearer).await;
    assert_eq!(
        refused,
        Err(CreateChargeError::Refused(ChargeRefusal::SplitRecipientNotEligible { index: 0 })),
        "before the conflict of names"
    );
}

#[tokio::test]
async fn abandoned_split_with_suspended_recipient_is_refused() {
    let bed = TestBed::with(sharing()).await;
    let good = an_account();
    bed.open(&good).await;
    let new_charge = || charge_with_split(vec![share(&good, "10")]);
    assert_eq!(post_in_vain(&bed, "a", new_charge()).await, Err(CreateChargeError::AcquirerUnavailable));
    suspend(&bed, &good).await;
    let refused = post(&bed, "a", new_charge()).await;
    assert_eq!(refused, Err(CreateChargeError::Refused(ChargeRefusal::SplitRecipientNotEligible { index: 0 })));
    let charges = bed.store.charges();
    assert_eq!(charges.iter().map(|charge| charge.state.status()).collect::<Vec<_>>(), [ChargeStatus::Abandoned]);
}

#[tokio::test]
async fn shares_are_credited_with_payment_and_survive_refund() {
    let bed = TestBed::new().await;
    let (one, two) = (an_account(), Account { release_delay_s: 600, ..an_account() });
    bed.open(&one).await;
    bed.open(&two).await;
    let split = a_split(&[(one.id, "33.3333"), (two.id, "10")]);
    let charge = bed.pending_with(ChargeTerms { split, ..terms() }).await;
    suspend(&bed, &one).await;
    bed.psp.pay(&charge.txid, 1_050);
    let paid = bed.read(&charge).await;
    // R$ 10.00 minus a fee of 0.60 are 9.40. The surplus is the creator's.
    assert_eq!(paid.state.settlement().unwrap().parts, [313, 94].map(Money::from_centavos));
    assert_eq!(money_of(&bed, &one, Bucket::Available), 313);
    assert_eq!(money_of(&bed, &two, Bucket::Available), 94, "shares of others are not delayed");
    assert_eq!(bed.available(), 940 - 313 - 94 + 50);
    bed.check().await;

    // The creator refunds the whole amount, including the shares of others.
    bed.adjust_available(1_000).await;
    bed.psp.set(OrderReply::Completes);
    assert_eq!(bed.refund("a", &paid, all()).await.unwrap().kind, ResponseKind::Created);
    assert_eq!(bed.charge(charge.id).state.status(), ChargeStatus::Refunded);
    assert_eq!((money_of(&bed, &one, Bucket::Available), money_of(&bed, &two, Bucket::Available)), (313, 94));
    assert_eq!(bed.available(), 940 - 313 - 94 + 50);
    bed.check().await;
}

#[tokio::test]
async fn refund_of_fully_shared_charge_needs_own_balance() {
    let bed = TestBed::new().await;
    let one = an_account();
    bed.open(&one).await;
    let charge = bed.pending_with(ChargeTerms { split: a_split(&[(one.id, "100")]), ..terms() }).await;
    bed.psp.pay(&charge.txid, 1_000);
    let paid = bed.read(&charge).await;
    assert_eq!((bed.available(), money_of(&bed, &one, Bucket::Available)), (0, 940));
    assert_eq!(bed.refund("a", &paid, all()).await.unwrap().kind, ResponseKind::InsufficientBalance);
    bed.check().await;
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    /// Divides any amount among any recipients. Every paid centavo is credited, and no share is negative.
    #[test]
    fn split_conserves_the_amount(
        amount in 200_i64..=5_000_000,
        fee in 0_i64..=200,
        surplus in 0_i64..=100,
        delay in prop_oneof![Just(0_u32), Just(60)],
        tenthousandths in prop::collection::vec(1_u32..=200_000, 0..=5),
    ) {
        let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
        runtime.block_on(async {
            let bed = TestBed::with(Account { release_delay_s: delay, ..an_account() }).await;
            let mut recipients = Vec::new();
            let mut shares = Vec::new();
            for part in &tenthousandths {
                let recipient = an_account();
                bed.open(&recipient).await;
                shares.push((recipient.id, format!("{}.{:04}", part / 10_000, part % 10_000)));
                recipients.push(recipient);
            }
            let shares: Vec<_> = shares.iter().map(|(id, percentage)| (*id, percentage.as_str())).collect();
            let (amount, fee) = (Money::from_centavos(amount), Money::from_centavos(fee));
            let charge = bed.pending_with(ChargeTerms { amount, fee, split: a_split(&shares), ..terms() }).await;
            bed.psp.pay(&charge.txid, amount.centavos() + surplus);
            let paid = bed.read(&charge).await;
            prop_assert_eq!(paid.state.status(), ChargeStatus::Paid);
            let parts: Vec<i64> = recipients.iter().map(|who| money_of(&bed, who, Bucket::Available)).collect();
            for (part, ten_thousandth) in parts.iter().zip(&tenthousandths) {
                let exact = i128::from(amount.centavos() - fee.centavos()) * i128::from(*ten_thousandth);
                prop_assert_eq!(i128::from(*part), exact / 1_000_000, "floored to the centavo");
            }
            let own = bed.available() + bed.in_bucket(Bucket::Pending);
            prop_assert_eq!(own + parts.iter().sum::<i64>() + fee.centavos(), amount.centavos() + surplus);
            prop_assert!(own >= 0);
            bed.check().await;
            Ok(())
        })?;
    }
}

#[tokio::test]
async fn split_credit_publishes_its_transaction_to_beneficiary() {
    let bed = TestBed::new().await;
    let other = an_account();
    bed.open(&other).await;
    let split = a_split(&[(other.id, "30")]);
    let charge = bed.pending_with(ChargeTerms { fee: Money::ZERO, split, ..terms() }).await;
    bed.psp.pay(&charge.txid, 1_000);
    assert_eq!(bed.read(&charge).await.state.status(), ChargeStatus::Paid);
    let events = bed.store.events(other.id);
    assert_eq!(events.len(), 1, "{events:?}");
    assert_eq!((events[0].event.kind, events[0].sequence), (EventType::SplitReceived, 1));
    let share = LedgerAccount::Merchant(other.id, Bucket::Available);
    let entry = bed.store.entries().into_iter().find(|entry| entry.account == share).unwrap();
    let data: serde_json::Value = serde_json::from_slice(&events[0].event.data).unwrap();
    assert_eq!(data["id"], format!("txn_in_{}", entry.id.suffix()), "named after the entry that credited it");
    assert_eq!(bed.event_types(), [EventType::ChargePaid], "the creator gets none of it");
    bed.check().await;
}
