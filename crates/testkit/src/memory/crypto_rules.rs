//! The audit rules for crypto: the ledger moved the sums that are stored with deposits, with their payments, and with withdrawals.

use std::collections::BTreeMap;

use cais_domain::crypto::withdrawal::WithdrawalStatus;
use cais_domain::ids::{CryptoDepositId, CryptoWithdrawalId};
use cais_domain::ledger::{Bucket, LedgerAccount, SystemAccount};
use cais_ports::LedgerReport;

use super::maintenance::{centavos, compare};
use super::state::State;

pub(super) fn check(state: &State, report: &mut LedgerReport) {
    check_deposits(state, report);
    check_withdrawals(state, report);
}

fn check_deposits(state: &State, report: &mut LedgerReport) {
    let mut moved: BTreeMap<CryptoDepositId, (i128, i128)> = BTreeMap::new();
    for entry in &state.entries {
        let Some(Ok(id)) = entry.resource.as_deref().map(CryptoDepositId::parse) else { continue };
        let (gross, fee) = moved.entry(id).or_default();
        match &entry.account {
            LedgerAccount::System(SystemAccount::Crypto(_), _) => *gross -= centavos(entry.amount),
            LedgerAccount::System(SystemAccount::Fees, _) => *fee += centavos(entry.amount),
            LedgerAccount::System(SystemAccount::Settlement(_), _) | LedgerAccount::Merchant(..) => {}
        }
    }
    for (id, (gross, fee)) in moved {
        let deposit = state.tables.crypto_deposits.values().find(|deposit| deposit.id == id);
        let (of_deposit, its_fee) =
            deposit.map_or((0, 0), |one| (centavos(one.credited.gross), centavos(one.credited.fee)));
        compare(report, &format!("credit of {id}"), of_deposit, gross);
        compare(report, &format!("fee of {id}"), its_fee, fee);
        let payments = || state.tables.crypto_payments.values().filter(|payment| payment.deposit == id);
        compare(report, &format!("payments of {id}"), payments().map(|one| centavos(one.gross)).sum(), gross);
        compare(report, &format!("fees of the payments of {id}"), payments().map(|one| centavos(one.fee)).sum(), fee);
    }
}

fn check_withdrawals(state: &State, report: &mut LedgerReport) {
    let mut moved: BTreeMap<CryptoWithdrawalId, (i128, i128, i128)> = BTreeMap::new();
    for entry in &state.entries {
        let Some(Ok(id)) = entry.resource.as_deref().map(CryptoWithdrawalId::parse) else { continue };
        let (held, sent, fee) = moved.entry(id).or_default();
        match &entry.account {
            LedgerAccount::Merchant(_, Bucket::InTransit) => *held += centavos(entry.amount),
            LedgerAccount::System(SystemAccount::Crypto(_), _) => *sent += centavos(entry.amount),
            LedgerAccount::System(SystemAccount::Fees, _) => *fee += centavos(entry.amount),
            LedgerAccount::System(SystemAccount::Settlement(_), _) | LedgerAccount::Merchant(..) => {}
        }
    }
    for (id, (held, sent, fee)) in moved {
        let withdrawal = state.tables.crypto_withdrawals.values().find(|withdrawal| withdrawal.id == id);
        let expected = withdrawal.map_or((0, 0, 0), |one| {
            let (amount, fee) = (centavos(one.terms.amount), centavos(one.price.fee));
            match one.state.status() {
                WithdrawalStatus::Pending | WithdrawalStatus::Processing => (amount + fee, 0, 0),
                WithdrawalStatus::Completed => (0, amount, fee),
                WithdrawalStatus::Abandoned | WithdrawalStatus::Failed => (0, 0, 0),
            }
        });
        compare(report, &format!("in transit for {id}"), expected.0, held);
        compare(report, &format!("sent by {id}"), expected.1, sent);
        compare(report, &format!("fee of {id}"), expected.2, fee);
    }
}
