//! The replies of the simulated acquirer, and its connection to the ports.

use std::sync::Arc;

use cais_domain::acquirer_name::AcquirerName;
use cais_domain::end_to_end_id::EndToEndId;
use cais_domain::payout::Recipient;
use cais_ports::acquirer::{MockAcquirer, MockAcquirers};
use cais_ports::{
    Acquirer, AcquirerError, CallbackInfraction, CallbackItem, Clock as _, DefenseOrder, DefenseReceipt, ListRequest,
    PayoutOrder, ReceivedPix, RefundOrder, ReturnNature, UpstreamCharge, UpstreamDefense, UpstreamInfraction,
    UpstreamInfractionStatus, UpstreamPage, UpstreamPayout, UpstreamProgress, UpstreamReturn,
};
use cais_testkit::builders::{a_return_id, an_end_to_end_id};
use jiff::SignedDuration;

use crate::psp::{Book, Listing, Psp, Taking};

/// The span of the list of [`Listing::Lately`].
const MONTH: SignedDuration = SignedDuration::from_hours(31 * 24);

impl Psp {
    fn list_infractions(&self, request: ListRequest) -> Result<UpstreamPage<UpstreamInfraction>, AcquirerError> {
        let mut book = self.book();
        book.listed.push(request);
        let shown = if book.listing == Listing::AsItWas { &book.as_it_was } else { &book.infractions };
        let asked = shown.iter().filter(|row| (request.from..=request.to).contains(&row.opened_at));
        let rows: Vec<_> = asked.map(|row| shown_as(row, &book)).collect();
        let refused = book.listing == Listing::Lately && self.clock.now().duration_since(request.from) > MONTH;
        let listing = if refused { Listing::Silent } else { book.listing };
        let page = page(listing, rows, request.page);
        let hook = book.on_list.take();
        drop(book);
        if let Some(hook) = hook {
            hook();
        }
        page
    }

    fn send_defense(&self, order: &DefenseOrder) -> Result<DefenseReceipt, AcquirerError> {
        let receipt = self.take_defense(order);
        let hook = self.book().on_defense.take();
        if let Some(hook) = hook {
            hook();
        }
        receipt
    }

    fn take_defense(&self, order: &DefenseOrder) -> Result<DefenseReceipt, AcquirerError> {
        let now = self.clock.now();
        let mut book = self.book();
        book.handed.push(order.clone());
        let taking = book.taking;
        let mut take = || {
            let Some(row) = book.infractions.iter_mut().find(|row| row.id == order.infraction) else {
                return Err(AcquirerError::Refused("the infraction does not exist".to_owned()));
            };
            if row.defense.is_some() {
                return Ok(DefenseReceipt::AlreadyThere);
            }
            if row.resolved_at.is_some() {
                return Err(AcquirerError::Refused("the infraction is resolved".to_owned()));
            }
            if row.deadline_at.is_some_and(|deadline| now > deadline) {
                return Ok(DefenseReceipt::TooLate);
            }
            row.status = UpstreamInfractionStatus::Defended;
            row.defense = Some(UpstreamDefense { text: Some(order.whole_text()), received_at: Some(now) });
            book.taken += 1;
            Ok(DefenseReceipt::Taken)
        };
        match taking {
            Taking::Takes => take(),
            Taking::LosesReplies => {
                take()?;
                Err(AcquirerError::OutcomeUnknown("the reply was lost".to_owned()))
            }
            Taking::Silent => Err(AcquirerError::OutcomeUnknown("no answer".to_owned())),
            Taking::Down => Err(AcquirerError::Unavailable("no connection".to_owned())),
            Taking::LooksAtTheTime => Ok(DefenseReceipt::TooLate),
            Taking::Refuses => Err(AcquirerError::Refused("the defense is incomplete".to_owned())),
        }
    }

    fn find_received(&self, end_to_end_id: &EndToEndId) -> Option<ReceivedPix> {
        let book = self.book();
        if !book.shows_received {
            return None;
        }
        let of_charge = |charge: &UpstreamCharge| {
            let payment = charge.payments.iter().find(|payment| payment.end_to_end_id == *end_to_end_id)?;
            Some(ReceivedPix { txid: Some(charge.txid.clone()), payment: payment.clone() })
        };
        let other = book.others.iter().find(|other| other.payment.end_to_end_id == *end_to_end_id);
        book.charges.values().find_map(of_charge).or_else(|| other.cloned())
    }

    fn list_received(&self, request: ListRequest) -> UpstreamPage<ReceivedPix> {
        let book = self.book();
        let of_charge = |charge: &UpstreamCharge| {
            let txid = charge.txid.clone();
            let row = move |payment| ReceivedPix { txid: Some(txid.clone()), payment };
            charge.payments.clone().into_iter().map(row).collect::<Vec<_>>()
        };
        let rows = book.charges.values().flat_map(of_charge);
        let rows = rows.filter(|row| (request.from..=request.to).contains(&row.payment.paid_at)).collect();
        UpstreamPage::new(rows, None)
    }

    fn send_refund(&self, order: &RefundOrder) -> Result<UpstreamReturn, AcquirerError> {
        let mut book = self.book();
        let mut payments = book.charges.values_mut().flat_map(|charge| charge.payments.iter_mut());
        let payment = payments.find(|payment| payment.end_to_end_id == order.end_to_end_id);
        let payment = payment.ok_or_else(|| AcquirerError::Refused("no such Pix".to_owned()))?;
        let name = order.id.suffix();
        if let Some(known) = payment.returns.iter().find(|back| back.name == name) {
            return Ok(known.clone());
        }
        let moves = |back: &&UpstreamReturn| !matches!(back.progress, UpstreamProgress::Failed { .. });
        let gone: i64 = payment.returns.iter().filter(moves).map(|back| back.amount.centavos()).sum();
        if gone + order.amount.centavos() > payment.amount.centavos() {
            return Err(AcquirerError::Refused("the amount exceeds the rest of the Pix".to_owned()));
        }
        let (nature, progress) = (ReturnNature::Ordinary, UpstreamProgress::Processing);
        let made = UpstreamReturn { name, return_id: Some(a_return_id()), nature, amount: order.amount, progress };
        payment.returns.push(made.clone());
        Ok(made)
    }

    fn send_payout(&self, order: &PayoutOrder) -> UpstreamPayout {
        let mut book = self.book();
        let made = UpstreamPayout {
            instruction_id: order.instruction_id.clone(),
            end_to_end_id: Some(an_end_to_end_id()),
            amount: order.amount,
            recipient: Recipient::default(),
            progress: UpstreamProgress::Processing,
            returned: Vec::new(),
        };
        book.sent.entry(order.instruction_id.to_string()).or_insert(made).clone()
    }

    fn mock(&self) -> MockAcquirer {
        let mut mock = MockAcquirer::new();
        let [list, defend, received, charge] = [self.clone(), self.clone(), self.clone(), self.clone()];
        let [refund, back, payout, sent] = [self.clone(), self.clone(), self.clone(), self.clone()];
        let all = self.clone();
        mock.expect_name().return_const(self.name.clone());
        mock.expect_reports_infractions().return_const(self.book().tells);
        mock.expect_sends_payouts().return_const(true);
        mock.expect_list_infractions().returning(move |request, _| list.list_infractions(request));
        mock.expect_send_defense().returning(move |order, _| defend.send_defense(order));
        mock.expect_list_received().returning(move |request, _| Ok(all.list_received(request)));
        mock.expect_list_sent().returning(|_, _| Ok(UpstreamPage::new(Vec::new(), None)));
        mock.expect_find_received().returning(move |end_to_end_id, _| Ok(received.find_received(end_to_end_id)));
        mock.expect_find_charge().returning(move |txid, _| Ok(charge.book().charges.get(txid).cloned()));
        mock.expect_send_refund().returning(move |order, _| refund.send_refund(order));
        mock.expect_find_refund().returning(move |end_to_end_id, id, _| {
            let found = back.find_received(end_to_end_id).map(|pix| pix.payment.returns).unwrap_or_default();
            Ok(found.into_iter().find(|back| back.name == id.suffix()))
        });
        mock.expect_send_payout().returning(move |order, _| Ok(payout.send_payout(order)));
        mock.expect_find_payout().returning(move |id, _| Ok(sent.book().sent.get(&id.to_string()).cloned()));
        // The body of a callback in these tests contains ids of infractions.
        mock.expect_callbacks().returning(|body| {
            let names = str::from_utf8(body).unwrap().split(',');
            Ok(names.map(|id| CallbackItem::Infraction(CallbackInfraction { id: id.to_owned() })).collect())
        });
        mock
    }
}

fn shown_as(row: &UpstreamInfraction, book: &Book) -> UpstreamInfraction {
    let mut shown = row.clone();
    if !book.shows_words
        && let Some(defense) = shown.defense.as_mut()
    {
        defense.text = None;
    }
    if !book.shows_defenses {
        shown.defense = None;
        if shown.status == UpstreamInfractionStatus::Defended {
            shown.status = UpstreamInfractionStatus::Open;
        }
    }
    shown
}

fn page<T>(listing: Listing, rows: Vec<T>, number: u32) -> Result<UpstreamPage<T>, AcquirerError> {
    match listing {
        Listing::Silent => Err(AcquirerError::OutcomeUnknown("no answer".to_owned())),
        Listing::Empty => Ok(UpstreamPage::new(Vec::new(), None)),
        Listing::Circles => Ok(UpstreamPage::new(rows, Some(0))),
        Listing::AsItWas | Listing::Lately => Ok(UpstreamPage::new(rows, None)),
        Listing::Pages(size) => {
            let first = usize::try_from(number).unwrap() * size;
            let more = rows.len() > first + size;
            let rows = rows.into_iter().skip(first).take(size).collect();
            Ok(UpstreamPage::new(rows, more.then(|| number + 1)))
        }
    }
}

/// Returns all acquirers in this order, as the router offers them.
pub fn acquirers(psps: &[Psp]) -> MockAcquirers {
    let mut mock = MockAcquirers::new();
    let named = psps.to_vec();
    let names: Vec<AcquirerName> = psps.iter().map(|psp| psp.name.clone()).collect();
    mock.expect_first_sender().return_const(names.first().cloned());
    mock.expect_names().return_const(names);
    mock.expect_named().returning(move |name| {
        let psp = named.iter().find(|psp| psp.name == *name)?;
        let acquirer: Arc<dyn Acquirer> = Arc::new(psp.mock());
        Some(acquirer)
    });
    mock
}
