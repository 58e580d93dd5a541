//! The audit rules for crypto deposits: the ledger credited the sums that a deposit and its payments state.

use std::collections::BTreeMap;

use cais_domain::ids::CryptoDepositId;
use cais_domain::ledger::{LedgerAccount, SystemAccount};
use cais_ports::LedgerReport;

use super::maintenance::{centavos, compare};
use super::state::State;

pub(super) fn judge(state: &State, report: &mut LedgerReport) {
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
