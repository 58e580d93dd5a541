//! The tables of the store in memory: one for each type in the list of records.

use std::collections::BTreeMap;

use cais_domain::charge::Charge;
use cais_domain::crypto::deposit::DepositPayment;
use cais_domain::crypto::{Deposit, Quote, Withdrawal};
use cais_domain::infraction::Infraction;
use cais_domain::merchant::account::Account;
use cais_domain::payout::Payout;
use cais_domain::refund::Refund;
use cais_domain::release::Release;
use cais_ports::{
    AcquirerDrain, AnyRecord, ApiKeyRecord, Callback, Confirmation, PollPosition, RecordKey, Session, User, Write,
};

macro_rules! tables {
    ($(
        $(#[$doc:meta])*
        $plural:ident: $name:ident($type:ty) |$one:ident| { key $key:tt account $account:tt version { $($version:ident)? } }
    )+) => {
        /// The records of each type by their keys. Exception: the endpoints are in the snapshot.
        #[derive(Debug, Default)]
        pub(super) struct Tables {
            $(pub(super) $plural: BTreeMap<RecordKey, $type>,)+
        }

        impl Tables {
            /// Stores a judged record.
            pub(super) fn write(&mut self, write: Write) {
                let (key, version) = (write.key(), write.version());
                let record = match write {
                    Write::Insert(record) => record,
                    Write::Update(record) => self.with_fixed_fields(&key, record),
                };
                if matches!(record, AnyRecord::Endpoint(_)) {
                    return;
                }
                match record {
                    $(AnyRecord::$name(one) => {
                        self.$plural.insert(key, tables!(@stored one version $($version)?));
                    })+
                }
            }
        }
    };
    (@stored $one:ident $number:ident $version:ident) => {{
        let mut one = *$one;
        one.$version = $number;
        one
    }};
    (@stored $one:ident $number:ident) => { *$one };
}
cais_ports::records!(tables);

impl Tables {
    /// Returns the record of an update with the stored values of the fields that never change.
    fn with_fixed_fields(&self, key: &RecordKey, mut record: AnyRecord) -> AnyRecord {
        if let (AnyRecord::Account(now), Some(stored)) = (&mut record, self.accounts.get(key)) {
            let Account { email, created_at, .. } = stored.clone();
            **now = Account { email, created_at, ..(**now).clone() };
        }
        if let (AnyRecord::Key(now), Some(stored)) = (&mut record, self.keys.get(key)) {
            let ApiKeyRecord { revoked_at, expires_at, .. } = **now;
            **now = ApiKeyRecord { revoked_at, expires_at, ..stored.clone() };
        }
        if let (AnyRecord::Charge(now), Some(stored)) = (&mut record, self.charges.get(key)) {
            let Charge { state, refunds, open_infractions, .. } = (**now).clone();
            **now = Charge { state, refunds, open_infractions, ..stored.clone() };
        }
        if let (AnyRecord::Release(now), Some(stored)) = (&mut record, self.releases.get(key)) {
            **now = Release { released_at: now.released_at, ..stored.clone() };
        }
        if let (AnyRecord::Payout(now), Some(stored)) = (&mut record, self.payouts.get(key)) {
            let Payout { recipient, returned, state, due_at, attempts, .. } = (**now).clone();
            **now = Payout { recipient, returned, state, due_at, attempts, ..stored.clone() };
        }
        if let (AnyRecord::Refund(now), Some(stored)) = (&mut record, self.refunds.get(key)) {
            let Refund { state, due_at, attempts, .. } = (**now).clone();
            **now = Refund { state, due_at, attempts, ..stored.clone() };
        }
        if let (AnyRecord::Callback(now), Some(stored)) = (&mut record, self.callbacks.get(key)) {
            let Callback { state, attempts, due_at, .. } = **now;
            **now = Callback { state, attempts, due_at, ..stored.clone() };
        }
        if let (AnyRecord::Infraction(now), Some(stored)) = (&mut record, self.infractions.get(key)) {
            let Infraction { account, charge, acquirer, upstream_id, end_to_end_id, .. } = stored.clone();
            let Infraction { external_id, opened_at, created_at, .. } = stored.clone();
            **now = Infraction {
                account,
                charge,
                acquirer,
                upstream_id,
                end_to_end_id,
                external_id,
                opened_at,
                created_at,
                ..(**now).clone()
            };
        }
        if let (AnyRecord::Position(now), Some(stored)) = (&mut record, self.positions.get(key)) {
            **now = PollPosition { seen_until: now.seen_until, ..stored.clone() };
        }
        if let (AnyRecord::Drain(now), Some(stored)) = (&mut record, self.drains.get(key)) {
            **now = AcquirerDrain { since: now.since, ..stored.clone() };
        }
        if let (AnyRecord::CryptoQuote(now), Some(stored)) = (&mut record, self.crypto_quotes.get(key)) {
            **now = Quote { used_by: now.used_by.clone(), ..stored.clone() };
        }
        if let (AnyRecord::CryptoDeposit(now), Some(stored)) = (&mut record, self.crypto_deposits.get(key)) {
            let Deposit { terms, processor, created_at, .. } = stored.clone();
            **now = Deposit { terms, processor, created_at, ..(**now).clone() };
        }
        if let (AnyRecord::CryptoPayment(now), Some(stored)) = (&mut record, self.crypto_payments.get(key)) {
            let DepositPayment { coins, tx_hash, gross, fee, state, .. } = (**now).clone();
            **now = DepositPayment { coins, tx_hash, gross, fee, state, ..stored.clone() };
        }
        if let (AnyRecord::CryptoWithdrawal(now), Some(stored)) = (&mut record, self.crypto_withdrawals.get(key)) {
            let Withdrawal { terms, processor, created_at, .. } = stored.clone();
            **now = Withdrawal { terms, processor, created_at, ..(**now).clone() };
        }
        self.with_fixed_login_fields(key, record)
    }

    fn with_fixed_login_fields(&self, key: &RecordKey, mut record: AnyRecord) -> AnyRecord {
        if let (AnyRecord::User(now), Some(stored)) = (&mut record, self.users.get(key)) {
            let User { email, role, created_at, .. } = stored.clone();
            **now = User { email, role, created_at, ..(**now).clone() };
        }
        if let (AnyRecord::Session(now), Some(stored)) = (&mut record, self.sessions.get(key)) {
            let Session { seen_at, wrong_codes, sent_without_code, ended_at, .. } = **now;
            **now = Session { seen_at, wrong_codes, sent_without_code, ended_at, ..stored.clone() };
        }
        if let (AnyRecord::Confirmation(now), Some(stored)) = (&mut record, self.confirmations.get(key)) {
            let Confirmation { state, wrong_codes, .. } = **now;
            **now = Confirmation { state, wrong_codes, ..stored.clone() };
        }
        record
    }
}
