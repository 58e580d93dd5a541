//! Payouts, refunds and releases with plausible values.

use cais_domain::charge::{Charge, Origin};
use cais_domain::end_to_end_id::{EndToEndId, ReturnId};
use cais_domain::ids::AccountId;
use cais_domain::money::Money;
use cais_domain::payout::{Payout, PayoutState, PayoutStatus, PayoutTerms, Recipient, Sent};
use cais_domain::pix_key::PixKey;
use cais_domain::refund::{NewRefund, Refund, RefundState, RefundStatus};
use cais_domain::release::Release;
use jiff::{Timestamp, ToSpan as _};

use super::records::{an_end_to_end_id, expect_ok, fresh, main_acquirer, number, start};

/// Returns the terms of a payout of R$ 10.00, with a fee of R$ 0.50 and without optional values.
#[must_use]
pub fn payout_terms() -> PayoutTerms {
    PayoutTerms {
        amount: Money::from_centavos(1_000),
        fee: Money::from_centavos(50),
        pix_key: expect_ok(PixKey::parse("ana@bank.example")),
        recipient_document: None,
        description: None,
        external_id: None,
        origin: Origin::Api,
    }
}

/// Returns a payout before it is sent.
#[must_use]
pub fn a_payout(account: AccountId) -> Payout {
    Payout::open(fresh(), account, payout_terms(), main_acquirer(), start())
}

/// Returns the payout in that status, with plausible facts.
#[must_use]
pub fn payout_in_status(payout: Payout, status: PayoutStatus) -> Payout {
    let acquirer = main_acquirer();
    let at = payout.created_at + 20.seconds();
    let recorded_at = payout.created_at + 1.second();
    let sent = |end_to_end_id: Option<EndToEndId>| Sent { acquirer: main_acquirer(), recorded_at, end_to_end_id };
    let named = || sent(Some(an_end_to_end_id()));
    let state = match status {
        PayoutStatus::Pending => PayoutState::Pending { acquirer },
        PayoutStatus::Abandoned => PayoutState::Abandoned { acquirer, at },
        PayoutStatus::Processing => PayoutState::Processing(sent(None)),
        PayoutStatus::Completed => PayoutState::Completed { sent: named(), at },
        PayoutStatus::Failed => PayoutState::Failed { sent: sent(None), reason: "the key has no owner".to_owned(), at },
        PayoutStatus::Reversed => {
            PayoutState::Reversed { sent: named(), completed_at: payout.created_at + 10.seconds(), at }
        }
    };
    let due_at = (status == PayoutStatus::Processing).then_some(at);
    let returned = if status == PayoutStatus::Reversed { payout.terms.amount } else { Money::ZERO };
    let recipient = if state.completed_at().is_some() { a_recipient() } else { Recipient::default() };
    Payout { state, due_at, returned, recipient, ..payout }
}

/// Returns the owner of a Pix key, with a masked CPF, as an acquirer reports owners.
#[must_use]
pub fn a_recipient() -> Recipient {
    Recipient { name: Some("Ana Lima".to_owned()), document: Some("***.456.789-**".to_owned()) }
}

/// Returns a new return id.
#[must_use]
pub fn a_return_id() -> ReturnId {
    let tail = format!("{:011}", number());
    expect_ok(ReturnId::compose("12345678", start(), &tail))
}

/// Returns a merchant's request for a refund of that many centavos. `None` requests the whole part of the charge that
/// is not refunded yet.
#[must_use]
pub fn new_refund(centavos: Option<i64>) -> NewRefund {
    NewRefund { id: fresh(), amount: centavos.map(Money::from_centavos), reason: None, external_id: None }
}

/// Returns a refund of R$ 1.00 of the charge, before the refund is sent.
#[must_use]
pub fn a_refund(charge: &Charge) -> Refund {
    let paid = charge.state.settlement().map(|settlement| settlement.end_to_end_id.clone());
    Refund {
        id: fresh(),
        account: charge.account,
        charge: charge.id,
        end_to_end_id: paid.unwrap_or_else(an_end_to_end_id),
        acquirer: main_acquirer(),
        amount: Money::from_centavos(100),
        of_charge: Money::from_centavos(100),
        reason: None,
        external_id: None,
        state: RefundState::Pending,
        due_at: None,
        attempts: 0,
        created_at: start() + 200.seconds(),
        version: 0,
    }
}

/// Returns the refund in that status, with plausible facts.
#[must_use]
pub fn refund_in_status(refund: Refund, status: RefundStatus) -> Refund {
    let at = refund.created_at + 20.seconds();
    let return_id = Some(a_return_id());
    let (state, due_at) = match status {
        RefundStatus::Pending => (RefundState::Pending, None),
        RefundStatus::Abandoned => (RefundState::Abandoned { at }, None),
        RefundStatus::Processing => {
            let recorded_at = refund.created_at + 1.second();
            (RefundState::Processing { recorded_at, return_id: None }, Some(at))
        }
        RefundStatus::Completed => (RefundState::Completed { return_id, at }, None),
        RefundStatus::Failed => {
            (RefundState::Failed { return_id, reason: "the payer's account is closed".to_owned(), at }, None)
        }
    };
    Refund { state, due_at, ..refund }
}

/// Returns a release of that many centavos, due at `due_at`.
#[must_use]
pub fn a_release(account: AccountId, centavos: i64, due_at: Timestamp) -> Release {
    Release {
        account,
        end_to_end_id: an_end_to_end_id(),
        charge: fresh(),
        amount: Money::from_centavos(centavos),
        due_at,
        released_at: None,
        version: 0,
    }
}
