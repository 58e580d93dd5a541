//! A simulated acquirer behind mocks. The test controls its charges, payments and replies.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard};

use cais_domain::acquirer_name::AcquirerName;
use cais_domain::end_to_end_id::EndToEndId;
use cais_domain::money::Money;
use cais_domain::txid::Txid;
use cais_ports::acquirer::{MockAcquirer, MockAcquirers};
use cais_ports::{
    Acquirer, AcquirerError, CallbackItem, CallbackPix, ChargeOrder, Clock as _, IssueError, ListRequest, ReceivedPix,
    ReturnNature, UpstreamCharge, UpstreamPage, UpstreamPayment, UpstreamProgress, UpstreamReturn, UpstreamStatus,
};
use cais_testkit::ManualClock;
use cais_testkit::builders::a_payment;
use jiff::{Timestamp, ToSpan as _};

/// The reaction of the acquirer to requests.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Mood {
    /// Executes requests.
    Fine,
    /// Certainly executes no request.
    Down,
    /// Refuses permanently.
    Refuses,
    /// Executes no request, with an unknown outcome.
    Silent,
    /// Executes requests, with an unknown outcome.
    LosesReplies,
}

#[derive(Debug)]
struct Book {
    mood: Mood,
    resting: bool,
    charges: BTreeMap<Txid, UpstreamCharge>,
    creates: u32,
    finds: u32,
    lists: u32,
    /// The acquirer's clock in its replies.
    clock: Option<Timestamp>,
    /// The Pix that the list does not show yet.
    unlisted: Vec<EndToEndId>,
}

/// A simulated acquirer. Clones share it.
#[derive(Debug, Clone)]
pub struct Psp {
    name: AcquirerName,
    clock: Arc<ManualClock>,
    book: Arc<Mutex<Book>>,
}

impl Book {
    fn shown(&self, txid: &Txid) -> Option<UpstreamCharge> {
        self.charges.get(txid).map(|charge| UpstreamCharge { answered_at: self.clock, ..charge.clone() })
    }
}

impl Psp {
    pub fn new(name: &str, clock: Arc<ManualClock>) -> Self {
        let book = Book {
            mood: Mood::Fine,
            resting: false,
            charges: BTreeMap::new(),
            clock: None,
            creates: 0,
            finds: 0,
            lists: 0,
            unlisted: Vec::new(),
        };
        Self { name: AcquirerName::parse(name).unwrap(), clock, book: Arc::new(Mutex::new(book)) }
    }

    pub fn set(&self, mood: Mood) {
        self.book().mood = mood;
    }

    /// Opens or closes the breaker.
    pub fn set_resting(&self, resting: bool) {
        self.book().resting = resting;
    }

    /// Returns the number of requests for a charge.
    pub fn creates(&self) -> u32 {
        self.book().creates
    }

    /// Returns the number of reads of a charge.
    pub fn finds(&self) -> u32 {
        self.book().finds
    }

    /// Returns the number of reads of a list page.
    pub fn lists(&self) -> u32 {
        self.book().lists
    }

    /// Hides the Pix from the list, but not from its charge.
    pub fn hide_from_list(&self, end_to_end_id: EndToEndId) {
        self.book().unlisted.push(end_to_end_id);
    }

    /// Returns the number of charges at the acquirer.
    pub fn held(&self) -> usize {
        self.book().charges.len()
    }

    /// Pays the charge.
    pub fn pay(&self, txid: &Txid, centavos: i64) -> EndToEndId {
        let id = a_payment(centavos).end_to_end_id;
        self.pay_as(txid, centavos, id.clone());
        id
    }

    /// Pays the charge by a Pix with this id.
    pub fn pay_as(&self, txid: &Txid, centavos: i64, end_to_end_id: EndToEndId) {
        let payment = a_payment(centavos);
        let paid_at = self.clock.now();
        let mut book = self.book();
        let charge = book.charges.get_mut(txid).unwrap();
        charge.payments.push(UpstreamPayment { end_to_end_id, amount: payment.amount, paid_at, returns: Vec::new() });
        if payment.amount >= charge.amount {
            charge.status = UpstreamStatus::Completed;
        }
    }

    /// Returns the last payment of a charge without a refund of this service.
    pub fn give_back(&self, txid: &Txid, centavos: i64) {
        let at = Some(self.clock.now());
        let returned = UpstreamReturn {
            name: "itsown".to_owned(),
            return_id: None,
            nature: ReturnNature::Ordinary,
            amount: Money::from_centavos(centavos),
            progress: UpstreamProgress::Done { at },
        };
        self.book().charges.get_mut(txid).unwrap().payments.last_mut().unwrap().returns = vec![returned];
    }

    /// Sets the status of a charge.
    pub fn call(&self, txid: &Txid, status: UpstreamStatus) {
        self.book().charges.get_mut(txid).unwrap().status = status;
    }

    /// Adds a charge that this service does not have.
    pub fn hold(&self, order: &ChargeOrder) {
        let charge = self.made(order);
        self.book().charges.insert(order.txid.clone(), charge);
    }

    fn book(&self) -> MutexGuard<'_, Book> {
        self.book.lock().unwrap()
    }

    /// Executes and reports the work according to the mood.
    fn act<T>(&self, work: impl FnOnce(&mut Book) -> T) -> Result<T, AcquirerError> {
        let mut book = self.book();
        match book.mood {
            Mood::Fine => Ok(work(&mut book)),
            Mood::Down => Err(AcquirerError::Unavailable("no connection".to_owned())),
            Mood::Refuses => Err(AcquirerError::Refused("no".to_owned())),
            Mood::Silent => Err(AcquirerError::OutcomeUnknown("no answer".to_owned())),
            Mood::LosesReplies => {
                work(&mut book);
                Err(AcquirerError::OutcomeUnknown("the reply was lost".to_owned()))
            }
        }
    }

    fn made(&self, order: &ChargeOrder) -> UpstreamCharge {
        UpstreamCharge {
            txid: order.txid.clone(),
            amount: order.amount,
            status: UpstreamStatus::Active,
            copy_paste: Some(format!("00020126{}6304ABCD", order.txid)),
            expires_at: self.clock.now() + i64::from(order.expires_in_s).seconds(),
            payments: Vec::new(),
            answered_at: None,
        }
    }

    fn create(&self, order: &ChargeOrder) -> Result<UpstreamCharge, AcquirerError> {
        self.book().creates += 1;
        let made = self.made(order);
        self.act(|book| book.charges.entry(order.txid.clone()).or_insert(made).clone())
    }

    /// Sets the clock in later replies.
    pub fn set_clock(&self, at: Timestamp) {
        self.book().clock = Some(at);
    }

    /// Returns the charge. An acquirer that refuses new charges still answers reads.
    fn find(&self, txid: &Txid) -> Result<Option<UpstreamCharge>, AcquirerError> {
        let mut book = self.book();
        book.finds += 1;
        if book.mood == Mood::Refuses {
            return Ok(book.shown(txid));
        }
        drop(book);
        self.act(|book| book.shown(txid))
    }

    fn list(&self, request: ListRequest) -> Result<UpstreamPage<ReceivedPix>, AcquirerError> {
        self.book().lists += 1;
        self.act(|book| {
            let rows = book.charges.iter().flat_map(|(txid, charge)| {
                let row =
                    |payment: &UpstreamPayment| ReceivedPix { txid: Some(txid.clone()), payment: payment.clone() };
                charge.payments.iter().map(row).collect::<Vec<_>>()
            });
            let span = request.from..=request.to;
            let rows = rows.filter(|row| span.contains(&row.payment.paid_at));
            let rows = rows.filter(|row| !book.unlisted.contains(&row.payment.end_to_end_id)).collect();
            UpstreamPage::new(rows, None)
        })
    }

    fn cancel(&self, txid: &Txid) -> Result<UpstreamCharge, AcquirerError> {
        self.act(|book| {
            let charge = book.charges.get_mut(txid).unwrap();
            if charge.status == UpstreamStatus::Active {
                charge.status = UpstreamStatus::Removed;
            }
            charge.clone()
        })
    }

    fn mock(&self) -> MockAcquirer {
        let mut mock = MockAcquirer::new();
        let [create, find, cancel, list] = [self.clone(), self.clone(), self.clone(), self.clone()];
        mock.expect_name().return_const(self.name.clone());
        mock.expect_create_charge().returning(move |order, _| create.create(order));
        mock.expect_find_charge().returning(move |txid, _| find.find(txid));
        mock.expect_cancel_charge().returning(move |txid, _| cancel.cancel(txid));
        mock.expect_list_received().returning(move |request, _| list.list(request));
        mock.expect_callbacks().returning(read_callback);
        mock
    }
}

/// Parses a callback: txids with commas between them. An end-to-end id and an instant may follow each, after slashes.
fn read_callback(body: &[u8]) -> Result<Vec<CallbackItem>, AcquirerError> {
    let read = |item: &str| {
        let mut parts = item.split('/');
        let txid = Txid::parse(parts.next().unwrap()).map_err(|error| AcquirerError::Refused(error.to_string()))?;
        let end_to_end_id = parts.next().map(|pix| EndToEndId::parse(pix).unwrap());
        let paid_at = parts.next().map(|at| at.parse().unwrap());
        Ok(CallbackItem::Received(CallbackPix { txid, end_to_end_id, paid_at }))
    };
    str::from_utf8(body).unwrap().split(',').map(read).collect()
}

/// Returns all acquirers in this order, as the router offers them.
pub fn acquirers(psps: &[Psp]) -> MockAcquirers {
    let mut mock = MockAcquirers::new();
    let [first, issue, named] = [psps.to_vec(), psps.to_vec(), psps.to_vec()];
    mock.expect_first().returning(move || first.iter().find(|psp| !psp.book().resting).map(|psp| psp.name.clone()));
    mock.expect_issue().returning(move |order, begin_with, _| route(&issue, order, begin_with));
    mock.expect_named().returning(move |name| {
        let psp = named.iter().find(|psp| psp.name == *name)?;
        let acquirer: Arc<dyn Acquirer> = Arc::new(psp.mock());
        Some(acquirer)
    });
    mock
}

fn route(
    psps: &[Psp],
    order: &ChargeOrder,
    begin_with: &AcquirerName,
) -> Result<(AcquirerName, UpstreamCharge), IssueError> {
    let mut reasons = Vec::new();
    for psp in psps.iter().skip_while(|psp| psp.name != *begin_with) {
        match psp.create(order) {
            Ok(charge) => return Ok((psp.name.clone(), charge)),
            Err(AcquirerError::OutcomeUnknown(reason)) => {
                return Err(IssueError::Unknown { acquirer: psp.name.clone(), reason });
            }
            Err(error) => reasons.push((psp.name.clone(), error)),
        }
    }
    Err(IssueError::NoneTook { reasons })
}
