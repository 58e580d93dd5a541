//! Implements the port `Acquirer` for the simulated acquirer.

use std::time::Duration;

use async_trait::async_trait;
use cais_domain::acquirer_name::AcquirerName;
use cais_domain::end_to_end_id::{EndToEndId, ReturnId};
use cais_domain::ids::RefundId;
use cais_domain::instruction_id::InstructionId;
use cais_domain::txid::Txid;
use cais_ports::{
    Acquirer, AcquirerError, CallbackInfraction, CallbackItem, CallbackPayout, CallbackPix, CallbackReturn,
    CallbackSignatures, ChargeOrder, Clock as _, DefenseOrder, DefenseReceipt, ListRequest, PayoutOrder, ReceivedPix,
    RefundOrder, ReturnedPart, UnreadableRow, UpstreamCharge, UpstreamInfraction, UpstreamInfractionStatus,
    UpstreamPage, UpstreamPayout, UpstreamReturn,
};
use jiff::SignedDuration;

use super::orders::Record;
use super::{FakePsp, List, ListReply, LookupReply, Moment, Order, OrderKind, State};

/// The limit of [`ListReply::RecentOnly`]: a span that began longer ago gets no reply.
const MONTH: SignedDuration = SignedDuration::from_hours(31 * 24);

fn no_answer<T>() -> Result<T, AcquirerError> {
    Err(AcquirerError::OutcomeUnknown("no answer".to_owned()))
}

fn no_connection<T>() -> Result<T, AcquirerError> {
    Err(AcquirerError::Unavailable("no connection".to_owned()))
}

impl FakePsp {
    async fn before_read(&self) {
        if let Some(connection) = &self.connection {
            connection.before_read().await;
        }
    }

    /// Replies to a look-up of one record. `name` is its identifier.
    async fn find<T>(
        &self,
        kind: OrderKind,
        name: &str,
        read: impl FnOnce(&mut State) -> Option<T> + Send,
    ) -> Result<Option<T>, AcquirerError> {
        self.before_read().await;
        let mut state = self.state();
        let finds = state.finds.entry(kind).or_default();
        *finds = finds.saturating_add(1);
        let found = match state.lookup_reply {
            LookupReply::Accurate => Ok(read(&mut state)),
            LookupReply::NotFound => Ok(None),
            LookupReply::Silent => no_answer(),
            LookupReply::Down => no_connection(),
        };
        if matches!(found, Ok(None)) {
            state.maybe_present.remove(name);
        }
        drop(state);
        self.run_hook(Moment::Read);
        found
    }

    /// Replies to a request of a list. `read` returns all rows of the requested span. As at real acquirers, a row at either end
    /// belongs to the span.
    async fn list<T>(
        &self,
        list: List,
        request: ListRequest,
        read: impl FnOnce(&mut State) -> Vec<T> + Send,
    ) -> Result<UpstreamPage<T>, AcquirerError> {
        self.before_read().await;
        let now = self.clock.now();
        let mut state = self.state();
        state.lists.push((list, request));
        let rows = read(&mut state);
        if state.silent_span.is_some_and(|(from, until)| request.from < until && from < request.to) {
            return no_answer();
        }
        match state.list_replies.get(&list).copied().unwrap_or(ListReply::Pages(100)) {
            ListReply::Silent => no_answer(),
            ListReply::Down => no_connection(),
            ListReply::Empty => Ok(UpstreamPage::new(Vec::new(), None)),
            ListReply::Unreadable => {
                let row = UnreadableRow { name: "pix[0]".to_owned(), reason: "cannot be read".to_owned() };
                Ok(UpstreamPage { unreadable: vec![row], ..UpstreamPage::new(Vec::new(), None) })
            }
            ListReply::Circular => Ok(UpstreamPage::new(Vec::new(), Some(0))),
            ListReply::Endless => Ok(UpstreamPage::new(Vec::new(), Some(request.page.saturating_add(1)))),
            ListReply::RecentOnly if now.duration_since(request.from) > MONTH => no_answer(),
            ListReply::RecentOnly | ListReply::Frozen => Ok(UpstreamPage::new(rows, None)),
            ListReply::Pages(size) => {
                let first = usize::try_from(request.page).unwrap_or(usize::MAX).saturating_mul(size);
                let more = rows.len() > first.saturating_add(size);
                let rows = rows.into_iter().skip(first).take(size).collect();
                Ok(UpstreamPage::new(rows, more.then(|| request.page.saturating_add(1))))
            }
        }
    }
}

impl State {
    fn received(&self) -> Vec<ReceivedPix> {
        let of_charge = |charge: &UpstreamCharge| {
            let txid = charge.txid.clone();
            let row = move |payment| ReceivedPix { txid: Some(txid.clone()), payment };
            charge.payments.clone().into_iter().map(row).collect::<Vec<_>>()
        };
        self.charges.values().flat_map(of_charge).chain(self.others.clone()).collect()
    }

    fn shown_infraction(&self, row: &UpstreamInfraction) -> UpstreamInfraction {
        let mut shown = row.clone();
        if !self.shows_defense_texts
            && let Some(defense) = shown.defense.as_mut()
        {
            defense.text = None;
        }
        if !self.shows_defenses {
            shown.defense = None;
            if shown.status == UpstreamInfractionStatus::Defended {
                shown.status = UpstreamInfractionStatus::Open;
            }
        }
        let is_undecided = matches!(shown.status, UpstreamInfractionStatus::Open | UpstreamInfractionStatus::Defended);
        if self.hides_details && is_undecided {
            (shown.status, shown.defense) = (UpstreamInfractionStatus::Undecided, None);
        }
        shown
    }
}

#[async_trait]
impl Acquirer for FakePsp {
    fn name(&self) -> &AcquirerName {
        &self.name
    }

    async fn create_charge(&self, order: &ChargeOrder, _: Duration) -> Result<UpstreamCharge, AcquirerError> {
        charge(self.answer(Order::Charge(order.clone())).await?)
    }

    async fn find_charge(&self, txid: &Txid, _: Duration) -> Result<Option<UpstreamCharge>, AcquirerError> {
        self.find(OrderKind::Charge, txid.as_str(), |state| {
            let charge = state.charges.get(txid)?.clone();
            Some(UpstreamCharge { answered_at: state.own_clock, ..charge })
        })
        .await
    }

    async fn cancel_charge(&self, txid: &Txid, _: Duration) -> Result<UpstreamCharge, AcquirerError> {
        charge(self.answer(Order::Cancellation(txid.clone())).await?)
    }

    fn sends_payouts(&self) -> bool {
        true
    }

    async fn send_payout(&self, order: &PayoutOrder, _: Duration) -> Result<UpstreamPayout, AcquirerError> {
        match self.answer(Order::Payout(order.clone())).await? {
            Record::Payout(payout) => Ok(payout),
            Record::Charge(_) | Record::Refund(_) | Record::Defense(_) => no_answer(),
        }
    }

    async fn find_payout(
        &self,
        instruction_id: &InstructionId,
        _: Duration,
    ) -> Result<Option<UpstreamPayout>, AcquirerError> {
        let read = |state: &mut State| state.sent.get(instruction_id).map(|(_, payout)| payout.clone());
        self.find(OrderKind::Payout, instruction_id.as_str(), read).await
    }

    async fn find_payout_return(
        &self,
        return_id: &ReturnId,
        _: Duration,
    ) -> Result<Option<ReturnedPart>, AcquirerError> {
        self.before_read().await;
        Ok(self.state().lone_returns.iter().find(|part| part.return_id == *return_id).cloned())
    }

    async fn send_refund(&self, order: &RefundOrder, _: Duration) -> Result<UpstreamReturn, AcquirerError> {
        match self.answer(Order::Refund(order.clone())).await? {
            Record::Refund(refund) => Ok(refund),
            Record::Charge(_) | Record::Payout(_) | Record::Defense(_) => no_answer(),
        }
    }

    async fn find_refund(
        &self,
        end_to_end_id: &EndToEndId,
        id: RefundId,
        _: Duration,
    ) -> Result<Option<UpstreamReturn>, AcquirerError> {
        self.find(OrderKind::Refund, &id.suffix(), |state| {
            let payment = state.payments().find(|payment| payment.end_to_end_id == *end_to_end_id)?;
            payment.returns.iter().find(|back| back.name == id.suffix()).cloned()
        })
        .await
    }

    async fn list_received(
        &self,
        request: ListRequest,
        _: Duration,
    ) -> Result<UpstreamPage<ReceivedPix>, AcquirerError> {
        let span = request.from..=request.to;
        let page = self.list(List::Received, request, |state| {
            let mut rows = state.received();
            rows.retain(|row| span.contains(&row.payment.paid_at));
            rows.retain(|row| !state.unlisted.contains(&row.payment.end_to_end_id));
            rows
        });
        let page = page.await?;
        let state = self.state();
        let named = state.unreadable.iter().filter(|(at, _)| span.contains(at)).map(|(_, row)| row.clone());
        let unreadable = page.unreadable.iter().cloned().chain(named).collect();
        Ok(UpstreamPage { unreadable, ..page })
    }

    async fn list_sent(
        &self,
        request: ListRequest,
        _: Duration,
    ) -> Result<UpstreamPage<UpstreamPayout>, AcquirerError> {
        let span = request.from..=request.to;
        self.list(List::Sent, request, |state| {
            let asked = state.sent.values().filter(|(at, _)| span.contains(at));
            asked.map(|(_, payout)| payout.clone()).collect()
        })
        .await
    }

    async fn list_payout_returns(
        &self,
        request: ListRequest,
        _: Duration,
    ) -> Result<UpstreamPage<ReturnedPart>, AcquirerError> {
        let span = request.from..=request.to;
        self.list(List::PayoutReturns, request, |state| {
            state.lone_returns.iter().filter(|part| span.contains(&part.at)).cloned().collect()
        })
        .await
    }

    async fn find_received(
        &self,
        end_to_end_id: &EndToEndId,
        _: Duration,
    ) -> Result<Option<ReceivedPix>, AcquirerError> {
        self.before_read().await;
        let state = self.state();
        match state.list_replies.get(&List::Received) {
            Some(ListReply::Silent) => no_answer(),
            Some(ListReply::Down) => no_connection(),
            Some(ListReply::Empty) => Ok(None),
            _ if !state.shows_received => Ok(None),
            _ => Ok(state.received().into_iter().find(|row| row.payment.end_to_end_id == *end_to_end_id)),
        }
    }

    fn reports_infractions(&self) -> bool {
        self.state().reports_infractions
    }

    fn lists_returns(&self) -> bool {
        !self.state().hides_details
    }

    async fn list_infractions(
        &self,
        request: ListRequest,
        _: Duration,
    ) -> Result<UpstreamPage<UpstreamInfraction>, AcquirerError> {
        let span = request.from..=request.to;
        let page = self.list(List::Infractions, request, |state| {
            let is_frozen = state.list_replies.get(&List::Infractions) == Some(&ListReply::Frozen);
            let all = if is_frozen { &state.frozen_infractions } else { &state.infractions };
            let rows = all.iter().filter(|row| span.contains(&row.opened_at));
            rows.map(|row| state.shown_infraction(row)).collect()
        });
        let page = page.await;
        for row in page.iter().flat_map(|page| &page.rows).filter(|row| row.defense.is_none()) {
            self.state().maybe_present.remove(&row.id);
        }
        self.run_hook(Moment::Listed);
        page
    }

    async fn send_defense(&self, order: &DefenseOrder, _: Duration) -> Result<DefenseReceipt, AcquirerError> {
        match self.answer(Order::Defense(order.clone())).await? {
            Record::Defense(receipt) => Ok(receipt),
            Record::Charge(_) | Record::Payout(_) | Record::Refund(_) => no_answer(),
        }
    }

    /// Accepts a callback without the header `x-test-signature`, or with the value `good`.
    fn verify_callback(&self, _: &[u8], signatures: &CallbackSignatures) -> Result<(), AcquirerError> {
        match signatures.get("x-test-signature") {
            None | Some("good") => Ok(()),
            Some(_) => Err(AcquirerError::Refused("the signature is wrong".to_owned())),
        }
    }

    /// Parses a body. Its items are separated by commas, and have these forms:
    ///
    /// - `inf-…`: the id of an infraction;
    /// - `sent:INSTRUCTION_ID`: a payout, where the ids of its returns may follow, each after a slash;
    /// - `back:END_TO_END_ID/RETURN_ID`: a return of a sent Pix;
    /// - `TXID`, `TXID/END_TO_END_ID` or `TXID/END_TO_END_ID/INSTANT`: a received Pix, with the instant of its payment.
    fn callbacks(&self, body: &[u8]) -> Result<Vec<CallbackItem>, AcquirerError> {
        let text = str::from_utf8(body).map_err(|error| unreadable(&error))?;
        text.split(',').map(noticed).collect()
    }

    async fn register_callback(&self, _: &str, _: Duration) -> Result<(), AcquirerError> {
        Ok(())
    }
}

fn charge(record: Record) -> Result<UpstreamCharge, AcquirerError> {
    match record {
        Record::Charge(charge) => Ok(charge),
        Record::Payout(_) | Record::Refund(_) | Record::Defense(_) => no_answer(),
    }
}

fn unreadable(error: &impl ToString) -> AcquirerError {
    AcquirerError::Refused(error.to_string())
}

fn noticed(item: &str) -> Result<CallbackItem, AcquirerError> {
    if item.starts_with("inf-") {
        return Ok(CallbackItem::Infraction(CallbackInfraction { id: item.to_owned() }));
    }
    if let Some((pix, back)) = item.strip_prefix("back:").and_then(|names| names.split_once('/')) {
        let end_to_end_id = EndToEndId::parse(pix).map_err(|error| unreadable(&error))?;
        let return_id = ReturnId::parse(back).map_err(|error| unreadable(&error))?;
        return Ok(CallbackItem::PayoutReturn(CallbackReturn { end_to_end_id, return_id }));
    }
    let (sent, names) = item.strip_prefix("sent:").map_or((false, item), |names| (true, names));
    let mut names = names.split('/');
    let first = names.next().unwrap_or_default();
    if sent {
        let instruction_id = InstructionId::parse(first).map_err(|error| unreadable(&error))?;
        let returns = names.map(|id| ReturnId::parse(id).map_err(|error| unreadable(&error)));
        return Ok(CallbackItem::Sent(CallbackPayout { instruction_id, returns: returns.collect::<Result<_, _>>()? }));
    }
    let txid = Txid::parse(first).map_err(|error| unreadable(&error))?;
    let end_to_end_id = names.next().map(EndToEndId::parse).transpose().map_err(|error| unreadable(&error))?;
    let paid_at = names.next().map(str::parse).transpose().map_err(|error: jiff::Error| unreadable(&error))?;
    Ok(CallbackItem::Received(CallbackPix { txid, end_to_end_id, paid_at }))
}
