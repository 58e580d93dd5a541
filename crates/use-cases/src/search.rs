//! Finds transactions by any identifier that a merchant or a payer may have.

use std::cmp::Reverse;

use cais_domain::charge::Charge;
use cais_domain::document::Document;
use cais_domain::end_to_end_id::EndToEndId;
use cais_domain::external_id::ExternalId;
use cais_domain::ids::{AccountId, ChargeId, PayoutId, RefundId};
use cais_domain::payout::Payout;
use cais_domain::txid::Txid;
use cais_ports::{ReservationKey, Transaction};

use crate::ports::Ports;
use crate::store_error::StoreError;
use crate::timeline;

/// The largest number of transactions that a search returns. Only a search for a payer's document can find more than a
/// few.
pub const MAX_FOUND: u32 = 50;

/// Returns the account's visible transactions that `text` identifies. The newest come first.
///
/// The text can be:
/// - the id of a transaction, a charge or a payout;
/// - the id of a refund, for which the refunded charge is returned;
/// - the external id of a charge, a payout or a refund;
/// - a txid or an end-to-end id;
/// - the CPF or CNPJ of a charge's payer.
///
/// Every look-up uses an index.
///
/// # Errors
/// [`StoreError`].
pub async fn find(ports: &Ports, account: AccountId, text: &str) -> Result<Vec<Transaction>, StoreError> {
    let text = text.trim();
    let mut found = Found { ports, account, rows: Vec::new() };
    found.by_id(text).await?;
    found.by_external_id(text).await?;
    found.by_pix(text).await?;
    found.by_document(text).await?;
    let mut rows = found.rows;
    rows.sort_unstable_by_key(|row| Reverse(row.key()));
    rows.dedup_by_key(|row| row.key());
    rows.truncate(usize::try_from(MAX_FOUND).unwrap_or(usize::MAX));
    Ok(rows)
}

struct Found<'p> {
    ports: &'p Ports,
    account: AccountId,
    rows: Vec<Transaction>,
}

impl Found<'_> {
    async fn by_id(&mut self, text: &str) -> Result<(), StoreError> {
        if let Ok((direction, key)) = timeline::parse_id(text) {
            self.rows.extend(timeline::find(self.ports, self.account, direction, key).await?);
        }
        self.add_resource(text).await
    }

    async fn by_external_id(&mut self, text: &str) -> Result<(), StoreError> {
        let Ok(external_id) = ExternalId::parse(text) else { return Ok(()) };
        for key in [
            ReservationKey::ChargeExternalId(self.account, external_id.clone()),
            ReservationKey::PayoutExternalId(self.account, external_id.clone()),
            ReservationKey::RefundExternalId(self.account, external_id),
        ] {
            if let Some(owner) = self.ports.queries.find_owner(&key).await? {
                self.add_resource(&owner).await?;
            }
        }
        Ok(())
    }

    async fn by_pix(&mut self, text: &str) -> Result<(), StoreError> {
        let queries = &self.ports.queries;
        if let Ok(txid) = Txid::parse(text) {
            let charge = queries.find_charge_by_txid(&txid).await?;
            self.add_charges(charge.filter(|charge| charge.account == self.account));
        }
        if let Ok(pix) = EndToEndId::parse(text) {
            if let Some(payment) = queries.find_payment(self.account, &pix).await? {
                self.add_charge(payment.charge).await?;
            }
            let payout = queries.find_payout_by_pix(&pix).await?;
            self.add_payout(payout.filter(|payout| payout.account == self.account));
        }
        Ok(())
    }

    /// Searches for the document with and without punctuation, because a charge contains it as the merchant sent it.
    async fn by_document(&mut self, text: &str) -> Result<(), StoreError> {
        let Ok(document) = Document::parse(text) else { return Ok(()) };
        for spelling in [document.as_str().to_owned(), document.formatted()] {
            let charges = self.ports.queries.list_charges_of_payer(self.account, &spelling, MAX_FOUND).await?;
            self.add_charges(charges);
        }
        Ok(())
    }

    async fn add_resource(&mut self, id: &str) -> Result<(), StoreError> {
        if let Ok(id) = ChargeId::parse(id) {
            self.add_charge(id).await?;
        }
        if let Ok(id) = PayoutId::parse(id) {
            self.add_payout(self.ports.queries.find_payout(self.account, id).await?);
        }
        if let Ok(id) = RefundId::parse(id)
            && let Some(refund) = self.ports.queries.find_refund(self.account, id).await?
        {
            self.add_charge(refund.charge).await?;
        }
        Ok(())
    }

    async fn add_charge(&mut self, id: ChargeId) -> Result<(), StoreError> {
        self.add_charges(self.ports.queries.find_charge(self.account, id).await?);
        Ok(())
    }

    fn add_charges(&mut self, charges: impl IntoIterator<Item = Charge>) {
        let visible = charges.into_iter().filter(Charge::is_visible);
        self.rows.extend(visible.map(|charge| Transaction::Charge(Box::new(charge))));
    }

    fn add_payout(&mut self, payout: Option<Payout>) {
        let visible = payout.filter(Payout::is_visible);
        self.rows.extend(visible.map(|payout| Transaction::Payout(Box::new(payout))));
    }
}
