//! A simulated acquirer behind mocks. The test controls its payments, disputes and replies to defenses.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard};

use cais_domain::acquirer_name::AcquirerName;
use cais_domain::charge::Charge;
use cais_domain::end_to_end_id::EndToEndId;
use cais_domain::infraction::Situation;
use cais_domain::money::Money;
use cais_domain::txid::Txid;
use cais_ports::{
    Clock as _, DefenseOrder, ListRequest, ReceivedPix, ReturnNature, UpstreamCharge, UpstreamDefense,
    UpstreamInfraction, UpstreamInfractionStatus, UpstreamPayment, UpstreamPayout, UpstreamProgress, UpstreamReturn,
    UpstreamStatus,
};
use cais_testkit::ManualClock;
use cais_testkit::builders::{a_return_id, an_end_to_end_id, issued};
use jiff::ToSpan as _;

/// The reaction of the acquirer to a defense.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Taking {
    /// Accepts one defense for each infraction until its deadline.
    Takes,
    /// Accepts the defense, but its reply is lost.
    LosesReplies,
    /// Does not accept the defense, and its reply is lost.
    Silent,
    /// Certainly does not accept the defense, and may accept it later.
    Down,
    /// Refuses permanently.
    Refuses,
    /// Replies that the deadline has passed, in every state.
    LooksAtTheTime,
}

/// The content of the list of infractions.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Listing {
    /// Pages with this number of rows.
    Pages(usize),
    /// No reply.
    Silent,
    /// An empty list.
    Empty,
    /// Only infractions that started within the last month.
    Lately,
    /// The first page again and again.
    Circles,
    /// The state at the time of the setting.
    AsItWas,
}

type Hook = Box<dyn FnOnce() + Send>;

#[expect(clippy::struct_excessive_bools, reason = "each flag is one behavior of the simulated acquirer")]
pub(super) struct Book {
    pub(super) taking: Taking,
    pub(super) listing: Listing,
    pub(super) tells: bool,
    pub(super) shows_words: bool,
    pub(super) shows_defenses: bool,
    /// `true` if single reads of a Pix find it.
    pub(super) shows_received: bool,
    pub(super) charges: BTreeMap<Txid, UpstreamCharge>,
    /// Pix without a charge.
    pub(super) others: Vec<ReceivedPix>,
    pub(super) infractions: Vec<UpstreamInfraction>,
    /// The rows of [`Listing::AsItWas`].
    pub(super) as_it_was: Vec<UpstreamInfraction>,
    /// Every defense that arrived, accepted or not.
    pub(super) handed: Vec<DefenseOrder>,
    pub(super) taken: usize,
    pub(super) listed: Vec<ListRequest>,
    pub(super) sent: BTreeMap<String, UpstreamPayout>,
    pub(super) on_list: Option<Hook>,
    pub(super) on_defense: Option<Hook>,
}

/// A simulated acquirer. Clones share it.
#[derive(Clone)]
pub struct Psp {
    pub name: AcquirerName,
    pub(super) clock: Arc<ManualClock>,
    pub(super) book: Arc<Mutex<Book>>,
}

impl Psp {
    pub fn new(name: &str, clock: Arc<ManualClock>) -> Self {
        let book = Book {
            taking: Taking::Takes,
            listing: Listing::Pages(100),
            tells: true,
            shows_words: true,
            shows_defenses: true,
            shows_received: true,
            charges: BTreeMap::new(),
            others: Vec::new(),
            infractions: Vec::new(),
            as_it_was: Vec::new(),
            handed: Vec::new(),
            taken: 0,
            listed: Vec::new(),
            sent: BTreeMap::new(),
            on_list: None,
            on_defense: None,
        };
        Self { name: AcquirerName::parse(name).unwrap(), clock, book: Arc::new(Mutex::new(book)) }
    }

    pub fn set(&self, taking: Taking) {
        self.book().taking = taking;
    }

    pub fn set_listing(&self, listing: Listing) {
        let mut book = self.book();
        book.listing = listing;
        let now = book.infractions.clone();
        book.as_it_was = now;
    }

    /// Removes the list of infractions.
    pub fn tells_nothing(&self) {
        self.book().tells = false;
    }

    /// Shows that a defense exists, but not its text.
    pub fn hides_words(&self) {
        self.book().shows_words = false;
    }

    /// Shows every infraction without its defense.
    pub fn hides_defenses(&self, hides: bool) {
        self.book().shows_defenses = !hides;
    }

    /// Hides each Pix from single reads, or shows each again.
    pub fn hides_received(&self, hides: bool) {
        self.book().shows_received = !hides;
    }

    /// Runs the hook once, after the next list is built and before it arrives.
    pub fn when_listed(&self, hook: impl FnOnce() + Send + 'static) {
        self.book().on_list = Some(Box::new(hook));
    }

    /// Runs the hook once, while the next reply to a defense is in transit.
    pub fn when_defended(&self, hook: impl FnOnce() + Send + 'static) {
        self.book().on_defense = Some(Box::new(hook));
    }

    /// Returns the number of defenses that arrived, and of those that were accepted.
    pub fn defenses(&self) -> (usize, usize) {
        let book = self.book();
        (book.handed.len(), book.taken)
    }

    /// Returns the last defense that arrived.
    pub fn last_defense(&self) -> DefenseOrder {
        self.book().handed.last().unwrap().clone()
    }

    /// Returns the requests for the list since the last call.
    pub fn listed(&self) -> Vec<ListRequest> {
        std::mem::take(&mut self.book().listed)
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
        let payment = self.payment(centavos);
        let end_to_end_id = payment.end_to_end_id.clone();
        let mut book = self.book();
        let charge = book.charges.get_mut(txid).unwrap();
        if payment.amount >= charge.amount {
            charge.status = UpstreamStatus::Completed;
        }
        charge.payments.push(payment);
        end_to_end_id
    }

    /// Receives a payment without a charge.
    pub fn receive(&self, centavos: i64) -> EndToEndId {
        let payment = self.payment(centavos);
        let end_to_end_id = payment.end_to_end_id.clone();
        self.book().others.push(ReceivedPix { txid: None, payment });
        end_to_end_id
    }

    fn payment(&self, centavos: i64) -> UpstreamPayment {
        let (end_to_end_id, amount) = (an_end_to_end_id(), Money::from_centavos(centavos));
        UpstreamPayment { end_to_end_id, amount, paid_at: self.clock.now(), returns: Vec::new() }
    }

    /// Disputes this amount of a Pix, with a week for a defense.
    pub fn dispute(&self, end_to_end_id: &EndToEndId, centavos: i64) -> String {
        let now = self.clock.now();
        let mut book = self.book();
        let id = format!("inf-{}-{}", self.name, book.infractions.len());
        book.infractions.push(UpstreamInfraction {
            id: id.clone(),
            end_to_end_id: end_to_end_id.clone(),
            amount: Money::from_centavos(centavos),
            status: UpstreamInfractionStatus::Open,
            reason: Some("Não reconheço".to_owned()),
            situation: Situation::Scam,
            opened_at: now,
            opened_at_is_reported: true,
            deadline_at: Some(now + 168.hours()),
            defense: None,
            resolved_at: None,
        });
        id
    }

    /// Changes an infraction at the acquirer.
    pub fn change(&self, id: &str, change: impl FnOnce(&mut UpstreamInfraction)) {
        let mut book = self.book();
        change(book.infractions.iter_mut().find(|row| row.id == id).unwrap());
    }

    /// Resolves an infraction. The Pix shows the returned amount.
    pub fn settle(&self, id: &str, status: UpstreamInfractionStatus) {
        let now = self.clock.now();
        self.change(id, |row| {
            row.status = status;
            row.resolved_at = Some(now);
        });
    }

    /// Reopens an ended infraction.
    pub fn reopen(&self, id: &str) {
        self.change(id, |row| {
            row.status = UpstreamInfractionStatus::Open;
            row.resolved_at = None;
            row.defense = None;
        });
    }

    /// Like [`Self::reopen`], with a reported start at the present instant and a week for a defense.
    pub fn reopen_now(&self, id: &str) {
        let now = self.clock.now();
        self.reopen(id);
        self.change(id, |row| {
            row.opened_at = now;
            row.deadline_at = Some(now + 168.hours());
        });
    }

    /// Adds a defense from another source.
    pub fn is_given(&self, id: &str, text: &str) {
        let now = self.clock.now();
        self.change(id, |row| {
            row.status = UpstreamInfractionStatus::Defended;
            row.defense = Some(UpstreamDefense { text: Some(text.to_owned()), received_at: Some(now) });
        });
    }

    /// Accepts a dispute, and returns the rest of its Pix, at most the disputed amount.
    pub fn accept(&self, id: &str) {
        self.settle(id, UpstreamInfractionStatus::Accepted);
        let mut book = self.book();
        let row = book.infractions.iter().find(|row| row.id == id).unwrap().clone();
        let mut payments = book.charges.values_mut().flat_map(|charge| charge.payments.iter_mut());
        let payment = payments.find(|payment| payment.end_to_end_id == row.end_to_end_id).unwrap();
        let moves = |back: &&UpstreamReturn| !matches!(back.progress, UpstreamProgress::Failed { .. });
        let gone: i64 = payment.returns.iter().filter(moves).map(|back| back.amount.centavos()).sum();
        let taken = row.amount.centavos().min(payment.amount.centavos() - gone);
        drop(book);
        if taken > 0 {
            self.take_back(&row.end_to_end_id, taken);
        }
    }

    /// Returns this amount of a Pix because of an infraction.
    pub fn take_back(&self, end_to_end_id: &EndToEndId, centavos: i64) {
        self.begin_to_take(end_to_end_id, centavos, UpstreamProgress::Done { at: Some(self.clock.now()) });
    }

    /// Returns the amount of a Pix that was returned because of infractions, in centavos.
    pub fn returned(&self, end_to_end_id: &EndToEndId) -> i64 {
        let book = self.book();
        let payments = book.charges.values().flat_map(|charge| charge.payments.iter());
        let returns = payments.filter(|one| one.end_to_end_id == *end_to_end_id).flat_map(|one| one.returns.iter());
        returns.filter(|back| back.nature == ReturnNature::Infraction).map(|back| back.amount.centavos()).sum()
    }

    /// Like [`Self::take_back`], with this progress.
    pub fn begin_to_take(&self, end_to_end_id: &EndToEndId, centavos: i64, progress: UpstreamProgress) {
        let back = UpstreamReturn {
            name: "med".to_owned(),
            return_id: Some(a_return_id()),
            nature: ReturnNature::Infraction,
            amount: Money::from_centavos(centavos),
            progress,
        };
        let mut book = self.book();
        let mut payments = book.charges.values_mut().flat_map(|charge| charge.payments.iter_mut());
        payments.find(|payment| payment.end_to_end_id == *end_to_end_id).unwrap().returns.push(back);
    }

    /// Ends every open refund and payout with this progress.
    pub fn end_all(&self, progress: &UpstreamProgress) {
        let mut book = self.book();
        let charges = book.charges.values_mut().flat_map(|charge| charge.payments.iter_mut());
        for back in charges.flat_map(|payment| payment.returns.iter_mut()) {
            if back.progress == UpstreamProgress::Processing {
                back.progress = progress.clone();
            }
        }
        for payout in book.sent.values_mut() {
            if payout.progress == UpstreamProgress::Processing {
                payout.progress = progress.clone();
            }
        }
    }

    /// Returns the true state of every infraction.
    pub fn infractions(&self) -> Vec<UpstreamInfraction> {
        self.book().infractions.clone()
    }

    pub(super) fn book(&self) -> MutexGuard<'_, Book> {
        self.book.lock().unwrap()
    }
}
