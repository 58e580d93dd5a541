//! Charges of Woovi's API: creation, removal, a new expiry, and the event when a charge expires.

use std::sync::Arc;

use cais_domain::money::Money;
use jiff::Timestamp;

use super::{
    error::WooviError,
    ids,
    state::{
        WooviChange,
        charge::{ChargeFields, Customer},
    },
    views::charge::KIND,
};
use crate::{
    psp::{Psp, Store, StoreError},
    random_ids,
    state::{
        Books,
        change::Change,
        cob::{AdditionalInfo, Cob, CobStatus, Debtor, LocationToken, Terms, Value},
    },
};

/// The shortest time from a request to the expiry that the request sets, in seconds.
const MIN_EXPIRY_S: i32 = 300;

/// A client's request for a charge.
#[derive(Clone, Debug)]
pub struct ChargeOrder {
    /// `correlationID`.
    pub correlation_id: Box<str>,
    /// The amount.
    pub amount: Money,
    /// `comment`.
    pub comment: Option<Box<str>>,
    /// Seconds until the expiry.
    pub expires_in_s: i32,
    /// The customer.
    pub customer: Option<Customer>,
    /// `additionalInfo`.
    pub info: Box<[AdditionalInfo]>,
    /// For a used `correlationID`: `true` returns the existing charge, `false` refuses the request. If the existing charge was removed, the
    /// request is always refused.
    pub returns_existing: bool,
}

/// Returns the charge with this `correlationID`, txid or `globalID`, unless the charge was removed.
///
/// # Errors
/// 400 `Charge not found`.
pub fn find<'a>(books: &'a Books, id: &str) -> Result<&'a Cob, WooviError> {
    let found = find_any(books, id)?;
    if is_removed(found) { Err(WooviError::not_found("Charge")) } else { Ok(found) }
}

/// Returns the charge with this id, like [`find`], even if the charge was removed. The Pix of a removed charge can still be read and
/// refunded.
///
/// # Errors
/// 400 `Charge not found`.
pub fn find_any<'a>(books: &'a Books, id: &str) -> Result<&'a Cob, WooviError> {
    let of_global = || books.find_cob(&ids::local(KIND, id)?);
    let found = books.find_named_cob(id).or_else(of_global).map(|(_, cob)| cob);
    found.ok_or_else(|| WooviError::not_found("Charge"))
}

fn is_removed(cob: &Cob) -> bool {
    matches!(cob.terms.status, CobStatus::RemovedByReceiver | CobStatus::RemovedByPsp)
}

/// Checks the number of seconds until an expiry, and returns the number as `i32`.
///
/// # Errors
/// 400 for less than five minutes, and for a number above `i32::MAX`.
pub fn expiry(seconds: i64) -> Result<i32, WooviError> {
    let seconds = i32::try_from(seconds).ok().filter(|seconds| *seconds >= MIN_EXPIRY_S);
    seconds.ok_or_else(|| WooviError::refused("expiresIn must be at least 300 seconds"))
}

impl Psp {
    /// Creates a charge and returns its txid. If the `correlationID` is used and [`ChargeOrder::returns_existing`] is `true`, returns
    /// the txid of the existing charge.
    ///
    /// # Errors
    /// [`WooviError`] for a used `correlationID`, if `returns_existing` is `false` or the existing charge was removed.
    pub fn create_charge(&self, order: ChargeOrder) -> Result<Arc<str>, WooviError> {
        let txid: Arc<str> = Arc::from(random_ids::hex().map_err(StoreError::from)?);
        let location = LocationToken(u128::from_be_bytes(random_ids::bytes().map_err(StoreError::from)?));
        let now = self.clock.now();
        let mut store = self.write();
        if let Some((_, existing)) = store.books().find_named_cob(&order.correlation_id) {
            return if order.returns_existing && !is_removed(existing) {
                Ok(existing.txid.clone())
            } else {
                Err(WooviError::refused("Já existe uma cobrança com o correlationID fornecido"))
            };
        }
        let fields = ChargeFields {
            txid: txid.clone(),
            correlation_id: Arc::from(order.correlation_id),
            customer: order.customer,
            reported_expiry: None,
        };
        let terms = Terms {
            expires_in_s: order.expires_in_s,
            debtor: fields.customer.as_ref().and_then(debtor).map(Box::new),
            value: Value { original: order.amount, alterable: None, withdrawal: None },
            payer_request: order.comment,
            info: order.info,
            status: CobStatus::Active,
        };
        let cob = Cob { txid: txid.clone(), created_at: now, location, terms, past: Vec::new(), payments: Vec::new() };
        self.commit_woovi(&mut store, WooviChange::Charge { cob: Some(Box::new(cob)), fields })?;
        // Wakes `settle_on_time`, which computes its waiting time again, now with the new expiry.
        self.settlement_wakeup.notify_one();
        Ok(txid)
    }

    /// Removes an unpaid charge.
    ///
    /// # Errors
    /// [`WooviError`] for an unknown, removed or paid charge.
    pub fn remove_charge(&self, id: &str) -> Result<(), WooviError> {
        self.revise(id, |cob| Terms { status: CobStatus::RemovedByReceiver, ..cob.terms.clone() })
    }

    /// Sets the expiry of an unpaid charge.
    ///
    /// # Errors
    /// [`WooviError`] for an unknown, removed or paid charge, and if `until` is less than five minutes ahead.
    pub fn prolong_charge(&self, id: &str, until: Timestamp) -> Result<(), WooviError> {
        expiry(self.clock.now().duration_until(until).as_secs())?;
        self.revise(id, |cob| {
            let seconds = i32::try_from(cob.created_at.duration_until(until).as_secs()).unwrap_or(i32::MAX);
            Terms { expires_in_s: seconds, ..cob.terms.clone() }
        })?;
        self.settlement_wakeup.notify_one();
        Ok(())
    }

    fn revise(&self, id: &str, revised: impl Fn(&Cob) -> Terms) -> Result<(), WooviError> {
        let mut store = self.write();
        let cob = find(store.books(), id)?;
        if cob.terms.status == CobStatus::Concluded {
            return Err(WooviError::refused("Charge is completed"));
        }
        let (txid, terms) = (cob.txid.clone(), revised(cob));
        Ok(store.commit(Change::CobRevised { txid, terms })?)
    }

    /// Publishes one event for each unpaid charge that expired by `now`.
    ///
    /// # Errors
    /// [`StoreError`].
    pub(crate) fn settle_expiries(&self, store: &mut Store, now: Timestamp) -> Result<(), StoreError> {
        while let Some((_, txid)) = store.books().woovi().next_expiry().filter(|(at, _)| *at <= now) {
            let txid = txid.clone();
            self.commit_woovi(store, WooviChange::ChargeExpired { txid })?;
        }
        Ok(())
    }

    /// Commits a change of Woovi's API and wakes the sender of webhooks.
    ///
    /// # Errors
    /// [`StoreError`].
    pub(crate) fn commit_woovi(&self, store: &mut Store, change: WooviChange) -> Result<(), StoreError> {
        store.commit(Change::Woovi(Box::new(change)))?;
        self.woovi.wakeup.notify_one();
        Ok(())
    }
}

/// Returns the customer as the debtor that the API Pix shows; `None` for a customer without a tax number.
fn debtor(customer: &Customer) -> Option<Debtor> {
    let document = customer.tax_id.clone()?;
    let (cpf, cnpj) = if document.len() == 11 { (Some(document), None) } else { (None, Some(document)) };
    Some(Debtor { cpf, cnpj, nome: customer.name.clone() })
}
