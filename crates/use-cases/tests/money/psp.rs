//! A simulated acquirer behind mocks that receives, returns, sends and lists Pix. The test controls its replies.

mod manners;

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard};

use cais_domain::acquirer_name::AcquirerName;
use cais_domain::charge::Charge;
use cais_domain::end_to_end_id::EndToEndId;
use cais_domain::ids::RefundId;
use cais_domain::instruction_id::InstructionId;
use cais_domain::money::Money;
use cais_domain::txid::Txid;
use cais_ports::acquirer::{MockAcquirer, MockAcquirers};
use cais_ports::{
    Acquirer, AcquirerError, CallbackItem, CallbackPix, Clock as _, ListRequest, ReceivedPix, RefundOrder,
    ReturnNature, UnreadableRow, UpstreamCharge, UpstreamPage, UpstreamPayment, UpstreamPayout, UpstreamProgress,
    UpstreamReturn, UpstreamStatus,
};
use cais_testkit::ManualClock;
use cais_testkit::builders::{a_return_id, an_end_to_end_id, issued};
use jiff::Timestamp;

pub use manners::{Listing, Looking, Returning};

type Hook = Box<dyn FnOnce() + Send>;

struct Book {
    returning: Returning,
    looking: Looking,
    listing: Listing,
    charges: BTreeMap<Txid, UpstreamCharge>,
    /// Pix without a charge.
    others: Vec<ReceivedPix>,
    /// The sent payouts with the instants of sending.
    sent: BTreeMap<InstructionId, (Timestamp, UpstreamPayout)>,
    /// Received Pix with unreadable rows, and their instants.
    unreadable: Vec<(Timestamp, UnreadableRow)>,
    /// The span in which lists cannot be read: inclusive start, exclusive end.
    dark: Option<(Timestamp, Timestamp)>,
    orders: Vec<RefundOrder>,
    finds: u32,
    /// A hook that runs once, while a reply to an order is in transit.
    hook: Option<Hook>,
}

/// A simulated acquirer. Clones share it.
#[derive(Clone)]
pub struct Psp {
    pub name: AcquirerName,
    clock: Arc<ManualClock>,
    book: Arc<Mutex<Book>>,
}

impl Psp {
    pub fn new(name: &str, clock: Arc<ManualClock>) -> Self {
        let book = Book {
            returning: Returning::Takes,
            looking: Looking::Tells,
            listing: Listing::Pages(100),
            charges: BTreeMap::new(),
            others: Vec::new(),
            sent: BTreeMap::new(),
            unreadable: Vec::new(),
            dark: None,
            orders: Vec::new(),
            finds: 0,
            hook: None,
        };
        Self { name: AcquirerName::parse(name).unwrap(), clock, book: Arc::new(Mutex::new(book)) }
    }

    pub fn set(&self, returning: Returning) {
        self.book().returning = returning;
    }

    pub fn set_looking(&self, looking: Looking) {
        self.book().looking = looking;
    }

    pub fn set_listing(&self, listing: Listing) {
        self.book().listing = listing;
    }

    /// Runs the hook while the next reply to an order is in transit.
    pub fn meanwhile(&self, hook: impl FnOnce() + Send + 'static) {
        self.book().hook = Some(Box::new(hook));
    }

    /// Returns every order to return a Pix, oldest first.
    pub fn orders(&self) -> Vec<RefundOrder> {
        self.book().orders.clone()
    }

    /// Returns the number of reads of a return.
    pub fn finds(&self) -> u32 {
        self.book().finds
    }

    /// Adds the charge as issued.
    pub fn hold(&self, charge: &Charge) {
        let upstream = UpstreamCharge {
            txid: charge.txid.clone(),
            amount: charge.terms.amount,
            status: UpstreamStatus::Active,
            copy_paste: Some(issued(charge).copy_paste),
            expires_at: issued(charge).expires_at,
            payments: Vec::new(),
            answered_at: None,
        };
        self.book().charges.insert(charge.txid.clone(), upstream);
    }

    /// Pays the charge.
    pub fn pay(&self, txid: &Txid, centavos: i64) -> EndToEndId {
        let end_to_end_id = an_end_to_end_id();
        let mut book = self.book();
        let charge = book.charges.get_mut(txid).unwrap();
        let amount = Money::from_centavos(centavos);
        let paid_at = self.clock.now();
        let payment = UpstreamPayment { end_to_end_id: end_to_end_id.clone(), amount, paid_at, returns: Vec::new() };
        charge.payments.push(payment);
        if amount >= charge.amount {
            charge.status = UpstreamStatus::Completed;
        }
        end_to_end_id
    }

    /// Receives a payment without a charge, or for a charge of another service.
    pub fn receive(&self, txid: Option<Txid>, centavos: i64) -> EndToEndId {
        let end_to_end_id = an_end_to_end_id();
        let (amount, paid_at) = (Money::from_centavos(centavos), self.clock.now());
        let payment = UpstreamPayment { end_to_end_id: end_to_end_id.clone(), amount, paid_at, returns: Vec::new() };
        self.book().others.push(ReceivedPix { txid, payment });
        end_to_end_id
    }

    /// Changes a payment of a charge at the acquirer.
    pub fn change_payment(&self, end_to_end_id: &EndToEndId, change: impl FnOnce(&mut UpstreamPayment)) {
        let mut book = self.book();
        let mut payments = book.charges.values_mut().flat_map(|charge| charge.payments.iter_mut());
        change(payments.find(|payment| payment.end_to_end_id == *end_to_end_id).unwrap());
    }

    /// Returns this amount of a Pix without a refund of this service.
    pub fn give_back(&self, end_to_end_id: &EndToEndId, centavos: i64, progress: UpstreamProgress) {
        let amount = Money::from_centavos(centavos);
        let (name, return_id, nature) = ("theirs".to_owned(), Some(a_return_id()), ReturnNature::Ordinary);
        let back = UpstreamReturn { name, return_id, nature, amount, progress };
        self.change_payment(end_to_end_id, |payment| payment.returns.push(back));
    }

    /// Sets the progress of every return.
    pub fn settle(&self, progress: &UpstreamProgress) {
        let mut book = self.book();
        for charge in book.charges.values_mut() {
            for back in charge.payments.iter_mut().flat_map(|payment| payment.returns.iter_mut()) {
                back.progress = progress.clone();
            }
        }
    }

    /// Sets the progress of every open return.
    pub fn settle_open(&self, progress: &UpstreamProgress) {
        let mut book = self.book();
        for charge in book.charges.values_mut() {
            for back in charge.payments.iter_mut().flat_map(|payment| payment.returns.iter_mut()) {
                if back.progress == UpstreamProgress::Processing {
                    back.progress = progress.clone();
                }
            }
        }
    }

    /// Removes every return.
    pub fn forget_returns(&self) {
        for charge in self.book().charges.values_mut() {
            for payment in &mut charge.payments {
                payment.returns.clear();
            }
        }
    }

    /// Returns the returned amount in centavos, including returns in process.
    pub fn returned(&self) -> i64 {
        let book = self.book();
        let payments = book.charges.values().flat_map(|charge| charge.payments.iter());
        let returns = payments.flat_map(|payment| payment.returns.iter());
        let moving = returns.filter(|back| !matches!(back.progress, UpstreamProgress::Failed { .. }));
        moving.map(|back| back.amount.centavos()).sum()
    }

    /// Adds a sent payout. Its time of sending is the first call.
    pub fn has_sent(&self, payout: UpstreamPayout) {
        let mut book = self.book();
        let sent_at = book.sent.get(&payout.instruction_id).map_or(self.clock.now(), |(sent_at, _)| *sent_at);
        book.sent.insert(payout.instruction_id.clone(), (sent_at, payout));
    }

    /// Adds an unreadable row to the list of received Pix.
    pub fn lists_unreadable(&self, name: &str) {
        let row = UnreadableRow { name: name.to_owned(), reason: "valor is not an amount".to_owned() };
        self.book().unreadable.push((self.clock.now(), row));
    }

    /// Makes lists of this span unreadable.
    pub fn goes_dark(&self, span: Option<(Timestamp, Timestamp)>) {
        self.book().dark = span;
    }

    fn book(&self) -> MutexGuard<'_, Book> {
        self.book.lock().unwrap()
    }

    fn send_refund(&self, order: &RefundOrder) -> Result<UpstreamReturn, AcquirerError> {
        let reply = self.carry_out(order);
        let hook = self.book().hook.take();
        if let Some(hook) = hook {
            hook();
        }
        reply
    }

    fn carry_out(&self, order: &RefundOrder) -> Result<UpstreamReturn, AcquirerError> {
        let mut book = self.book();
        book.orders.push(order.clone());
        let (returning, at) = (book.returning, Some(self.clock.now()));
        let mut take = |amount, progress| {
            let mut payments = book.charges.values_mut().flat_map(|charge| charge.payments.iter_mut());
            let Some(payment) = payments.find(|payment| payment.end_to_end_id == order.end_to_end_id) else {
                return Err(AcquirerError::Refused("no such Pix".to_owned()));
            };
            let name = order.id.suffix();
            if let Some(known) = payment.returns.iter().find(|back| back.name == name) {
                return Ok(known.clone());
            }
            let (return_id, nature) = (Some(a_return_id()), ReturnNature::Ordinary);
            let made = UpstreamReturn { name, return_id, nature, amount, progress };
            payment.returns.push(made.clone());
            Ok(made)
        };
        match returning {
            Returning::Takes => take(order.amount, UpstreamProgress::Processing),
            Returning::Completes => take(order.amount, UpstreamProgress::Done { at }),
            Returning::Fails => take(order.amount, UpstreamProgress::Failed { reason: Some("closed\0".to_owned()) }),
            Returning::Down => Err(AcquirerError::Unavailable("no connection".to_owned())),
            Returning::Refuses => Err(AcquirerError::Refused("90 days are over".to_owned())),
            Returning::Silent => Err(AcquirerError::OutcomeUnknown("no answer".to_owned())),
            Returning::LosesReplies => {
                take(order.amount, UpstreamProgress::Processing)?;
                Err(AcquirerError::OutcomeUnknown("the reply was lost".to_owned()))
            }
            Returning::Garbles => take(Money::from_centavos(1), UpstreamProgress::Done { at: None }),
        }
    }

    fn find_refund(&self, end_to_end_id: &EndToEndId, id: RefundId) -> Result<Option<UpstreamReturn>, AcquirerError> {
        let mut book = self.book();
        book.finds += 1;
        match book.looking {
            Looking::Silent => Err(AcquirerError::OutcomeUnknown("no answer".to_owned())),
            Looking::Forgets => Ok(None),
            Looking::Tells => {
                let mut payments = book.charges.values().flat_map(|charge| charge.payments.iter());
                let payment = payments.find(|payment| payment.end_to_end_id == *end_to_end_id);
                let returns = payment.iter().flat_map(|payment| payment.returns.iter());
                Ok(returns.into_iter().find(|back| back.name == id.suffix()).cloned())
            }
        }
    }

    fn find_received(&self, end_to_end_id: &EndToEndId) -> Result<Option<ReceivedPix>, AcquirerError> {
        let book = self.book();
        let of_charge = |charge: &UpstreamCharge| {
            let payment = charge.payments.iter().find(|payment| payment.end_to_end_id == *end_to_end_id)?;
            Some(ReceivedPix { txid: Some(charge.txid.clone()), payment: payment.clone() })
        };
        match book.listing {
            Listing::Silent => Err(AcquirerError::OutcomeUnknown("no answer".to_owned())),
            Listing::Empty => Ok(None),
            Listing::Pages(_) | Listing::Circles => Ok(book.charges.values().find_map(of_charge)),
        }
    }

    fn find_charge(&self, txid: &Txid) -> Result<Option<UpstreamCharge>, AcquirerError> {
        let book = self.book();
        match book.looking {
            Looking::Silent => Err(AcquirerError::OutcomeUnknown("no answer".to_owned())),
            Looking::Forgets => Ok(None),
            Looking::Tells => Ok(book.charges.get(txid).cloned()),
        }
    }

    fn find_payout(&self, instruction_id: &InstructionId) -> Result<Option<UpstreamPayout>, AcquirerError> {
        let book = self.book();
        match book.looking {
            Looking::Silent => Err(AcquirerError::OutcomeUnknown("no answer".to_owned())),
            Looking::Forgets => Ok(None),
            Looking::Tells => Ok(book.sent.get(instruction_id).map(|(_, payout)| payout.clone())),
        }
    }

    fn list_received(&self, request: ListRequest) -> Result<UpstreamPage<ReceivedPix>, AcquirerError> {
        let book = self.book();
        let of_charge = |charge: &UpstreamCharge| {
            let txid = charge.txid.clone();
            let row = move |payment| ReceivedPix { txid: Some(txid.clone()), payment };
            charge.payments.clone().into_iter().map(row).collect::<Vec<_>>()
        };
        let rows = book.charges.values().flat_map(of_charge).chain(book.others.clone());
        // The span includes both ends, as at real acquirers.
        let asked = rows.filter(|row| (request.from..=request.to).contains(&row.payment.paid_at)).collect();
        let named = book.unreadable.iter().filter(|(at, _)| (request.from..=request.to).contains(at));
        let unreadable = named.map(|(_, row)| row.clone()).collect();
        Ok(UpstreamPage { unreadable, ..book.page(asked, request)? })
    }

    fn list_sent(&self, request: ListRequest) -> Result<UpstreamPage<UpstreamPayout>, AcquirerError> {
        let book = self.book();
        let asked = book.sent.values().filter(|(at, _)| (request.from..=request.to).contains(at));
        book.page(asked.map(|(_, payout)| payout.clone()).collect(), request)
    }

    fn mock(&self) -> MockAcquirer {
        let mut mock = MockAcquirer::new();
        let [send, back, charge] = [self.clone(), self.clone(), self.clone()];
        let [payout, received, sent, pix] = [self.clone(), self.clone(), self.clone(), self.clone()];
        mock.expect_name().return_const(self.name.clone());
        mock.expect_sends_payouts().return_const(true);
        mock.expect_reports_infractions().return_const(true);
        mock.expect_list_infractions().returning(|_, _| Ok(UpstreamPage::new(Vec::new(), None)));
        mock.expect_send_refund().returning(move |order, _| send.send_refund(order));
        mock.expect_find_refund().returning(move |end_to_end_id, id, _| back.find_refund(end_to_end_id, id));
        mock.expect_find_received().returning(move |end_to_end_id, _| pix.find_received(end_to_end_id));
        mock.expect_find_charge().returning(move |txid, _| charge.find_charge(txid));
        mock.expect_find_payout().returning(move |instruction_id, _| payout.find_payout(instruction_id));
        mock.expect_list_received().returning(move |request, _| received.list_received(request));
        mock.expect_list_sent().returning(move |request, _| sent.list_sent(request));
        mock.expect_callbacks().returning(read_callback);
        mock
    }
}

/// Parses a callback: its body is a txid.
fn read_callback(body: &[u8]) -> Result<Vec<CallbackItem>, AcquirerError> {
    let txid = Txid::parse(str::from_utf8(body).unwrap()).map_err(|error| AcquirerError::Refused(error.to_string()))?;
    Ok(vec![CallbackItem::Received(CallbackPix { txid, end_to_end_id: None, paid_at: None })])
}

impl Book {
    fn page<T>(&self, rows: Vec<T>, request: ListRequest) -> Result<UpstreamPage<T>, AcquirerError> {
        if self.dark.is_some_and(|(from, until)| request.from < until && from < request.to) {
            return Err(AcquirerError::OutcomeUnknown("no answer".to_owned()));
        }
        match self.listing {
            Listing::Silent => Err(AcquirerError::OutcomeUnknown("no answer".to_owned())),
            Listing::Empty => Ok(UpstreamPage::new(Vec::new(), None)),
            Listing::Circles => Ok(UpstreamPage::new(rows, Some(0))),
            Listing::Pages(size) => {
                let first = usize::try_from(request.page).unwrap() * size;
                let more = rows.len() > first + size;
                let rows = rows.into_iter().skip(first).take(size).collect();
                Ok(UpstreamPage::new(rows, more.then(|| request.page + 1)))
            }
        }
    }
}

/// Returns all acquirers in this order, as the router offers them.
pub fn acquirers(psps: &[Psp]) -> MockAcquirers {
    let mut mock = MockAcquirers::new();
    let named = psps.to_vec();
    let names: Vec<AcquirerName> = psps.iter().map(|psp| psp.name.clone()).collect();
    mock.expect_first().return_const(names.first().cloned());
    mock.expect_names().return_const(names);
    mock.expect_named().returning(move |name| {
        let psp = named.iter().find(|psp| psp.name == *name)?;
        let acquirer: Arc<dyn Acquirer> = Arc::new(psp.mock());
        Some(acquirer)
    });
    mock
}
