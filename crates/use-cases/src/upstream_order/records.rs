//! Implements [`StoredRecord`] for every record that is ordered from an acquirer.

use cais_domain::charge::Charge;
use cais_domain::crypto::deposit::Deposit;
use cais_domain::crypto::withdrawal::Withdrawal;
use cais_domain::ids::{AccountId, Id, kind};
use cais_domain::infraction::Infraction;
use cais_domain::payout::Payout;
use cais_domain::refund::Refund;
use cais_ports::QueryError;

use super::keyed::StoredRecord;
use crate::ports::Ports;

/// Implements [`StoredRecord`] for each record, with the kind of its id and its query.
macro_rules! stored_records {
    ($($record:ty, $kind:ty, $find:ident;)+) => {
        $(impl StoredRecord for $record {
            type Kind = $kind;

            fn id(&self) -> Id<$kind> {
                self.id
            }

            fn account(&self) -> AccountId {
                self.account
            }

            async fn find(ports: &Ports, account: AccountId, id: Id<$kind>) -> Result<Option<Self>, QueryError> {
                ports.queries.$find(account, id).await
            }

            fn stored(self) -> Self {
                Self { version: self.version.saturating_add(1), ..self }
            }
        })+
    };
}

stored_records! {
    Charge, kind::Charge, find_charge;
    Payout, kind::Payout, find_payout;
    Refund, kind::Refund, find_refund;
    Infraction, kind::Infraction, find_infraction;
    Deposit, kind::CryptoDeposit, find_crypto_deposit;
    Withdrawal, kind::CryptoWithdrawal, find_crypto_withdrawal;
}
