//! The operations that send an order to an acquirer, in the form of a merchant's call.

use cais_domain::charge::Origin;
use cais_domain::crypto::{Address, Currency};
use cais_domain::ids::{ChargeId, InfractionId, RequestId};
use cais_domain::merchant::account::Account;
use cais_domain::merchant::idempotency_key::IdempotencyKey;
use cais_domain::money::Money;
use cais_domain::pix_key::PixKey;
use cais_domain::text::{LineBreaks, Text};
use cais_ports::{Fingerprint, ResponseKind};
use cais_testkit::psp::OrderKind;
use cais_use_cases::charges::ChargeName;
use cais_use_cases::charges::create::{self as charges, CreateCharge, NewCharge};
use cais_use_cases::crypto::deposits::create::{self as deposits, CreateDeposit, NewDeposit};
use cais_use_cases::crypto::withdrawals::create::{self as withdrawals, CreateWithdrawal, NewWithdrawal};
use cais_use_cases::infractions::defend::defend;
use cais_use_cases::payouts::create::{self as payouts, CreatePayout, NewPayout};
use cais_use_cases::refunds::create::{self as refunds, CreateRefund, RequestedRefund};
use cais_use_cases::{Ports, Response};

use crate::bed::TestBed;

/// An operation with its terms. A repeat is an equal value.
#[derive(Debug, Clone, Copy)]
pub enum Operation {
    Charge { centavos: i64 },
    Payout { centavos: i64 },
    Refund { charge: ChargeId, centavos: i64 },
    Defense { infraction: InfractionId },
    Withdrawal { centavos: i64 },
    Deposit { centavos: i64 },
}

impl TestBed {
    /// Returns an operation of this kind on the merchant's account.
    pub fn operation(&self, kind: OrderKind, centavos: i64) -> Operation {
        match kind {
            OrderKind::Charge => Operation::Charge { centavos },
            OrderKind::Payout => Operation::Payout { centavos },
            // A larger refund would exceed the charge by itself.
            OrderKind::Refund => Operation::Refund { charge: self.refundable, centavos: centavos.min(1_200) },
            OrderKind::Defense => Operation::Defense { infraction: self.store.infractions()[0].id },
            OrderKind::Withdrawal => Operation::Withdrawal { centavos },
            OrderKind::Deposit => Operation::Deposit { centavos },
        }
    }
}

impl Operation {
    pub const fn kind(self) -> OrderKind {
        match self {
            Self::Charge { .. } => OrderKind::Charge,
            Self::Payout { .. } => OrderKind::Payout,
            Self::Refund { .. } => OrderKind::Refund,
            Self::Defense { .. } => OrderKind::Defense,
            Self::Withdrawal { .. } => OrderKind::Withdrawal,
            Self::Deposit { .. } => OrderKind::Deposit,
        }
    }

    /// Returns whether the operation has an idempotency key.
    pub const fn has_key(self) -> bool {
        !matches!(self, Self::Defense { .. })
    }

    /// Calls the operation with the key of this number. Returns the status and body of the response, or the name of the
    /// error.
    pub async fn call(self, ports: Ports, account: Account, number: usize) -> Result<(ResponseKind, Vec<u8>), String> {
        let request = RequestId::new(ports.ids.next_uuid());
        let fingerprint = Fingerprint([u8::try_from(number).unwrap(); 32]);
        let key = key(number);
        match self {
            Self::Charge { centavos } => {
                let terms = new_charge(centavos);
                answer(charges::create(&ports, CreateCharge { account, request, key, fingerprint, terms }).await)
            }
            Self::Payout { centavos } => {
                let terms = NewPayout {
                    amount: Money::from_centavos(centavos),
                    pix_key: PixKey::parse("ana@bank.example").unwrap(),
                    recipient_document: None,
                    description: None,
                    external_id: None,
                    origin: Origin::Api,
                };
                answer(payouts::create(&ports, CreatePayout { account, request, key, fingerprint, terms }).await)
            }
            Self::Refund { charge, centavos } => {
                let terms = RequestedRefund {
                    charge: ChargeName::Id(charge),
                    end_to_end_id: None,
                    amount: Some(Money::from_centavos(centavos)),
                    reason: None,
                    external_id: None,
                };
                answer(refunds::create(&ports, CreateRefund { account, request, key, fingerprint, terms }).await)
            }
            Self::Withdrawal { centavos } => {
                let address =
                    Address::parse(Currency::UsdtErc20, "0x52908400098527886E0F7030069857D2E4169EE7").unwrap();
                let terms = NewWithdrawal {
                    amount: Money::from_centavos(centavos),
                    address,
                    description: None,
                    external_id: None,
                    origin: Origin::Api,
                    quote: None,
                };
                let command = CreateWithdrawal { account, request, key, fingerprint, terms };
                answer(withdrawals::create(&ports, command).await)
            }
            Self::Deposit { centavos } => {
                let terms = NewDeposit {
                    amount: Money::from_centavos(centavos),
                    currency: Currency::UsdtErc20,
                    description: None,
                    external_id: None,
                    origin: Origin::Api,
                    postback_url: None,
                    quote: None,
                };
                answer(deposits::create(&ports, CreateDeposit { account, request, key, fingerprint, terms }).await)
            }
            // A defense has no key. Its response is the current infraction.
            Self::Defense { infraction } => {
                let text = Text::parse("Entregue em 2 de janeiro.", 100, LineBreaks::Refused).unwrap();
                let defended = defend(&ports, &account, infraction, text, None).await;
                defended.map(|_| (ResponseKind::Existing, Vec::new())).map_err(|error| format!("{error:?}"))
            }
        }
    }
}

/// Returns the idempotency key of the call with this number.
pub fn key(number: usize) -> IdempotencyKey {
    IdempotencyKey::parse(&format!("simulated-{number}")).unwrap()
}

fn new_charge(centavos: i64) -> NewCharge {
    NewCharge {
        amount: Money::from_centavos(centavos),
        description: None,
        payer_name: None,
        payer_document: None,
        expires_in_s: 3_600,
        external_id: None,
        postback_url: None,
        split: Vec::new(),
        origin: Origin::Api,
    }
}

fn answer(answered: Result<Response, impl std::fmt::Debug>) -> Result<(ResponseKind, Vec<u8>), String> {
    answered.map(|answer| (answer.kind, answer.body)).map_err(|error| format!("{error:?}"))
}
