//! A simulated acquirer behind mocks that sends Pix: it executes each name once, counts, and behaves as a test tells it to.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard};

use cais_domain::acquirer_name::AcquirerName;
use cais_domain::end_to_end_id::ReturnId;
use cais_domain::instruction_id::InstructionId;
use cais_domain::money::Money;
use cais_domain::payout::Recipient;
use cais_ports::acquirer::{MockAcquirer, MockAcquirers};
use cais_ports::{
    Acquirer, AcquirerError, CallbackItem, CallbackPayout, Clock as _, ListRequest, PayoutOrder, ReturnedPart,
    UnreadableRow, UpstreamPage, UpstreamPayout, UpstreamProgress,
};
use cais_testkit::ManualClock;
use cais_testkit::builders::{a_payment, a_recipient, a_return_id};

/// How it answers an order to send.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Sending {
    /// It takes it, and is still at work on it.
    Takes,
    /// It takes it, and has sent it at once.
    Completes,
    /// It takes it, and has found at once that it fails.
    Fails,
    /// It certainly does nothing, and may later.
    Down,
    /// It refuses for good.
    Refuses,
    /// It does nothing, and nobody can tell.
    Silent,
    /// It takes it, and nobody can tell.
    LosesReplies,
    /// It takes something else instead.
    Garbles,
    /// It takes it, and refuses a repeat of the request that a server on the way made.
    TakesAndRefuses,
}

/// How it answers a question.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Looking {
    /// As things stand.
    Tells,
    /// Not at all.
    Silent,
    /// As if it had never heard of anything.
    Forgets,
}

/// How it lists what was sent.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Listing {
    /// As things stand, one row on a page.
    Shows,
    /// Not at all.
    Silent,
    /// Without what it has.
    Hides,
    /// With a row that cannot be read in place of what it has.
    Garbles,
    /// The first page for ever.
    Circles,
    /// More pages than anybody reads.
    Endless,
}

/// When something else happens.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Moment {
    /// Somebody is about to talk to it.
    Named,
    /// An order was carried out, or not, and the reply is on its way.
    Replying,
    /// What it knows was read, and the reply is on its way.
    Told,
}

type Hook = Box<dyn FnOnce() + Send>;

struct Book {
    sending: Sending,
    looking: Looking,
    listing: Listing,
    resting: bool,
    held: BTreeMap<InstructionId, UpstreamPayout>,
    orders: Vec<PayoutOrder>,
    finds: u32,
    lists: u32,
    hooks: Vec<(Moment, Hook)>,
}

/// One simulated acquirer. Cloning shares it.
#[derive(Clone)]
pub struct Bank {
    pub name: AcquirerName,
    clock: Arc<ManualClock>,
    book: Arc<Mutex<Book>>,
}

impl Bank {
    pub fn new(name: &str, clock: Arc<ManualClock>) -> Self {
        let book = Book {
            sending: Sending::Takes,
            looking: Looking::Tells,
            listing: Listing::Shows,
            resting: false,
            held: BTreeMap::new(),
            orders: Vec::new(),
            finds: 0,
            lists: 0,
            hooks: Vec::new(),
        };
        Self { name: AcquirerName::parse(name).unwrap(), clock, book: Arc::new(Mutex::new(book)) }
    }

    pub fn set(&self, sending: Sending) {
        self.book().sending = sending;
    }

    pub fn set_looking(&self, looking: Looking) {
        self.book().looking = looking;
    }

    pub fn set_listing(&self, listing: Listing) {
        self.book().listing = listing;
    }

    /// Its breaker is open, or closed again.
    pub fn set_resting(&self, resting: bool) {
        self.book().resting = resting;
    }

    /// Something else happens at the next such moment.
    pub fn when(&self, moment: Moment, hook: impl FnOnce() + Send + 'static) {
        self.book().hooks.push((moment, Box::new(hook)));
    }

    /// Every order to send that it was given, oldest first.
    pub fn orders(&self) -> Vec<PayoutOrder> {
        self.book().orders.clone()
    }

    /// How often it was asked what became of something.
    pub fn finds(&self) -> u32 {
        self.book().finds
    }

    /// How many pages of its list were read.
    pub fn lists(&self) -> u32 {
        self.book().lists
    }

    /// How many payouts left it: each name at most once.
    pub fn sent(&self) -> usize {
        let gone = |payout: &&UpstreamPayout| !matches!(payout.progress, UpstreamProgress::Failed { .. });
        self.book().held.values().filter(gone).count()
    }

    /// The only payout that it knows gets there.
    pub fn complete(&self) {
        let at = Some(self.clock.now());
        self.change(|payout| payout.progress = UpstreamProgress::Done { at });
    }

    /// Every recipient has the money.
    pub fn complete_all(&self) {
        let at = Some(self.clock.now());
        for payout in self.book().held.values_mut() {
            payout.progress = UpstreamProgress::Done { at };
        }
    }

    /// The only payout that it knows never gets there.
    pub fn fail(&self) {
        self.change(|payout| {
            payout.progress = UpstreamProgress::Failed { reason: Some("closed\u{0} account".to_owned()) }
        });
    }

    /// So many centavos of the only payout that it knows come back.
    pub fn give_back(&self, centavos: i64) -> ReturnId {
        let return_id = a_return_id();
        let (amount, at) = (Money::from_centavos(centavos), self.clock.now());
        let part = ReturnedPart { return_id: return_id.clone(), amount, at };
        self.change(|payout| payout.returned.push(part));
        return_id
    }

    /// It does not show what came back of the only payout that it knows; that is what it shows later.
    pub fn withhold(&self) -> Vec<ReturnedPart> {
        let mut parts = Vec::new();
        self.change(|payout| parts = std::mem::take(&mut payout.returned));
        parts
    }

    /// Whatever it says of the only payout that it knows is said otherwise from now on.
    pub fn change(&self, change: impl FnOnce(&mut UpstreamPayout)) {
        let mut book = self.book();
        assert_eq!(book.held.len(), 1);
        change(book.held.values_mut().next().unwrap());
    }

    /// It has that, and nobody ever ordered it here.
    pub fn hold(&self, instruction_id: InstructionId, centavos: i64, progress: UpstreamProgress) {
        let amount = Money::from_centavos(centavos);
        self.book().held.insert(instruction_id.clone(), made(instruction_id, amount, progress));
    }

    fn book(&self) -> MutexGuard<'_, Book> {
        self.book.lock().unwrap()
    }

    fn happens(&self, moment: Moment) {
        let mut book = self.book();
        let next = book.hooks.iter().position(|(at, _)| *at == moment);
        let hook = next.map(|next| book.hooks.remove(next));
        drop(book);
        if let Some((_, hook)) = hook {
            hook();
        }
    }

    fn send(&self, order: &PayoutOrder) -> Result<UpstreamPayout, AcquirerError> {
        let reply = self.carry_out(order);
        self.happens(Moment::Replying);
        reply
    }

    fn carry_out(&self, order: &PayoutOrder) -> Result<UpstreamPayout, AcquirerError> {
        let mut book = self.book();
        book.orders.push(order.clone());
        let (sending, now) = (book.sending, self.clock.now());
        let mut take = |amount, progress| {
            let taken = made(order.instruction_id.clone(), amount, progress);
            book.held.entry(order.instruction_id.clone()).or_insert(taken).clone()
        };
        match sending {
            // A reply to an order names no recipient: that is told when it is asked for.
            Sending::Takes => Ok(nameless(take(order.amount, UpstreamProgress::Processing))),
            Sending::Completes => Ok(take(order.amount, UpstreamProgress::Done { at: Some(now) })),
            Sending::Fails => Ok(take(order.amount, UpstreamProgress::Failed { reason: None })),
            Sending::Down => Err(AcquirerError::Unavailable("no connection".to_owned())),
            Sending::Refuses => Err(AcquirerError::Refused("the key has no owner".to_owned())),
            Sending::Silent => Err(AcquirerError::OutcomeUnknown("no answer".to_owned())),
            Sending::LosesReplies => {
                take(order.amount, UpstreamProgress::Processing);
                Err(AcquirerError::OutcomeUnknown("the reply was lost".to_owned()))
            }
            Sending::TakesAndRefuses => {
                take(order.amount, UpstreamProgress::Processing);
                Err(AcquirerError::Refused("denied".to_owned()))
            }
            Sending::Garbles => Ok(take(Money::from_centavos(1), UpstreamProgress::Done { at: None })),
        }
    }

    fn find(&self, instruction_id: &InstructionId) -> Result<Option<UpstreamPayout>, AcquirerError> {
        let mut book = self.book();
        book.finds += 1;
        let told = match book.looking {
            Looking::Tells => Ok(book.held.get(instruction_id).cloned()),
            Looking::Silent => Err(AcquirerError::OutcomeUnknown("no answer".to_owned())),
            Looking::Forgets => Ok(None),
        };
        drop(book);
        self.happens(Moment::Told);
        told
    }

    fn list(&self, request: ListRequest) -> Result<UpstreamPage<UpstreamPayout>, AcquirerError> {
        let mut book = self.book();
        book.lists += 1;
        let now = self.clock.now();
        assert!(request.from < now && request.to <= now, "{request:?}");
        let row = |number: u32| book.held.values().nth(usize::try_from(number).unwrap()).cloned();
        match book.listing {
            Listing::Shows => {
                let next = row(request.page + 1).map(|_| request.page + 1);
                Ok(UpstreamPage::new(row(request.page).into_iter().collect(), next))
            }
            Listing::Silent => Err(AcquirerError::OutcomeUnknown("no answer".to_owned())),
            Listing::Hides => Ok(UpstreamPage::new(Vec::new(), None)),
            Listing::Garbles => {
                let row = UnreadableRow { name: "pix[0]".to_owned(), reason: "cannot be read".to_owned() };
                Ok(UpstreamPage { unreadable: vec![row], ..UpstreamPage::new(Vec::new(), None) })
            }
            Listing::Circles => Ok(UpstreamPage::new(Vec::new(), Some(0))),
            Listing::Endless => Ok(UpstreamPage::new(Vec::new(), Some(request.page + 1))),
        }
    }

    fn mock(&self) -> MockAcquirer {
        let mut mock = MockAcquirer::new();
        let [send, find, list] = [self.clone(), self.clone(), self.clone()];
        mock.expect_name().return_const(self.name.clone());
        mock.expect_sends_payouts().return_const(true);
        mock.expect_send_payout().returning(move |order, _| send.send(order));
        mock.expect_find_payout().returning(move |instruction_id, _| find.find(instruction_id));
        mock.expect_list_sent().returning(move |request, _| list.list(request));
        mock.expect_notices().returning(read_notice);
        mock
    }
}

fn made(instruction_id: InstructionId, amount: Money, progress: UpstreamProgress) -> UpstreamPayout {
    let end_to_end_id = Some(a_payment(1).end_to_end_id);
    UpstreamPayout { instruction_id, end_to_end_id, amount, recipient: a_recipient(), progress, returned: Vec::new() }
}

fn nameless(payout: UpstreamPayout) -> UpstreamPayout {
    UpstreamPayout { recipient: Recipient::default(), ..payout }
}

/// A callback's body here is names with commas between, each with the returns after it and a stroke before each.
fn read_notice(body: &[u8]) -> Result<Vec<CallbackItem>, AcquirerError> {
    let read = |item: &str| {
        let mut words = item.split('/');
        let name = words.next().unwrap_or_default();
        let instruction_id = InstructionId::parse(name).map_err(|error| AcquirerError::Refused(error.to_string()))?;
        let returns = words.map(|id| ReturnId::parse(id).unwrap()).collect();
        Ok(CallbackItem::Sent(CallbackPayout { instruction_id, returns }))
    };
    str::from_utf8(body).unwrap().split(',').map(read).collect()
}

/// All of them in that order, as the router offers them.
pub fn acquirers(banks: &[Bank]) -> MockAcquirers {
    let mut mock = MockAcquirers::new();
    let [first, named] = [banks.to_vec(), banks.to_vec()];
    mock.expect_first_sender()
        .returning(move || first.iter().find(|bank| !bank.book().resting).map(|bank| bank.name.clone()));
    mock.expect_named().returning(move |name| {
        let bank = named.iter().find(|bank| bank.name == *name)?;
        bank.happens(Moment::Named);
        let acquirer: Arc<dyn Acquirer> = Arc::new(bank.mock());
        Some(acquirer)
    });
    mock
}
