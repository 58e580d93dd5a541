//! Webhook endpoints are read back exactly as written, change only in their changeable fields, and are found only by their own account.

use cais_domain::event::EventType;
use cais_domain::ids::{AccountId, EndpointId};
use cais_domain::merchant::webhook::{
    DisabledReason, Endpoint, EndpointState, MAX_DESCRIPTION, MAX_ENDPOINTS, PreviousSecret, SealedSecret, WebhookUrl,
};
use cais_domain::text::{LineBreaks, Text};
use cais_ports::{CommitError, Page, PageRequest, ReservationKey, Write};
use jiff::Timestamp;

use super::Harness;
use super::harness::{after_s, commit_concurrently, count_accepted, walk};
use super::probe::refused_without_a_trace;
use crate::builders::{a_webhook_url, an_endpoint, fresh, start, steps, subscribed};

/// The number of concurrent callers.
const CALLERS: usize = 64;

/// Endpoints are found by their ids, and by their addresses until they are deleted.
pub async fn endpoints_come_back_in_every_state(h: &mut Harness) {
    let account = h.account().await.id;
    for (slot, state) in (0..).zip(states()) {
        let written = h.stored_endpoint(Endpoint { state, ..an_endpoint(account, slot) }).await;
        assert_reads(h, &written).await;
    }
}

/// The endpoints have the longest and shortest texts, unusual characters, each event type, secrets of arbitrary bytes, and very early and
/// late instants.
pub async fn extreme_endpoints_come_back(h: &mut Harness) {
    let account = h.account().await.id;
    let description = |text: &str| Some(Text::parse(text, MAX_DESCRIPTION, LineBreaks::Allowed).unwrap());
    let late: Timestamp = "9999-12-01T23:59:59.999999Z".parse().unwrap();
    let bytes: Vec<u8> = (0..=u8::MAX).collect();
    let greatest = Endpoint {
        url: WebhookUrl::parse(&"\u{1F980}".repeat(500)).unwrap(),
        subscription: subscribed(&EventType::ALL),
        description: description(&"\u{10FFFF}".repeat(MAX_DESCRIPTION)),
        epoch: i64::MAX - 1,
        secret: SealedSecret(bytes.clone()),
        previous: Some(PreviousSecret { secret: SealedSecret(bytes.into_iter().rev().collect()), until: late }),
        created_at: late,
        ..an_endpoint(account, MAX_ENDPOINTS - 1)
    };
    let odd = Endpoint {
        url: WebhookUrl::parse("https://loja.example/?a='\"\\%20,*&b=\u{301}é").unwrap(),
        description: description("linha 1\r\nlinha 2\n'\"\\ , *"),
        ..an_endpoint(account, 1)
    };
    let least = Endpoint {
        url: WebhookUrl::parse("x").unwrap(),
        description: description(""),
        created_at: Timestamp::from_microsecond(1).unwrap(),
        ..an_endpoint(account, 0)
    };
    for endpoint in [greatest, odd, least] {
        let written = h.stored_endpoint(endpoint).await;
        assert_reads(h, &written).await;
    }
    let account = h.account().await.id;
    for (slot, kind) in (0..).zip(EventType::ALL) {
        let wants = Endpoint { subscription: subscribed(&[kind]), ..an_endpoint(account, slot) };
        let written = h.stored_endpoint(wants).await;
        assert_reads(h, &written).await;
    }
}

/// Endpoints change through every state, with other addresses and secrets. An update does not change account, slot and instant of
/// creation.
pub async fn endpoints_come_back_changed(h: &mut Harness) {
    let account = h.account().await.id;
    let mut endpoint = h.endpoint(account, 3).await;
    for (epoch, state) in (1..).zip(states().into_iter().rev()) {
        let previous = Some(PreviousSecret { secret: endpoint.secret, until: after_s(epoch) });
        endpoint = Endpoint {
            url: a_webhook_url(),
            subscription: subscribed(&[EventType::ChargePaid, EventType::RefundFailed]),
            description: Some(Text::parse(&epoch.to_string(), MAX_DESCRIPTION, LineBreaks::Allowed).unwrap()),
            state,
            epoch,
            secret: SealedSecret(vec![9; 60]),
            previous: previous.filter(|_| epoch % 2 == 0),
            ..endpoint
        };
        let never = Endpoint { slot: 9, created_at: after_s(99), ..endpoint.clone() };
        h.commit_ok(steps::update_endpoint(&never, after_s(1))).await;
        endpoint.version += 1;
        assert_reads(h, &endpoint).await;
    }
}

/// Updates from another version, and of an endpoint that was never stored, are refused.
pub async fn stale_endpoint_leaves_nothing(h: &mut Harness) {
    let account = h.account().await.id;
    let endpoint = h.endpoint(account, 0).await;
    for version in [0, 2, i64::MAX] {
        let stale = Endpoint { version, state: EndpointState::Inactive, ..endpoint.clone() };
        let refused = refused_without_a_trace(h, account, |change| {
            change.writes.push(Write::update(stale));
        });
        assert_eq!(refused.await, CommitError::Stale);
    }
    assert_reads(h, &endpoint).await;
    let never = Endpoint { version: 1, ..an_endpoint(account, 1) };
    assert_eq!(h.commit(steps::update_endpoint(&never, start())).await, Err(CommitError::Stale));
}

/// The list is newest first, without deleted endpoints and endpoints of other accounts.
pub async fn deleted_and_foreign_endpoints_are_not_listed(h: &mut Harness) {
    let (account, other) = (h.account().await.id, h.account().await.id);
    let mut visible = Vec::new();
    for (slot, state) in (0..).zip(states()) {
        let own = h.stored_endpoint(Endpoint { state, ..an_endpoint(account, slot) }).await;
        let foreign = h.stored_endpoint(Endpoint { state, ..an_endpoint(other, slot) }).await;
        assert_eq!(h.store.find_endpoint(account, foreign.id).await.unwrap(), None);
        assert_eq!(h.store.find_endpoint_by_url(account, &foreign.url).await.unwrap(), None);
        if own.is_visible() {
            visible.push(own);
        }
    }
    visible.reverse();
    let read = async |page| list(h, account, page).await;
    for limit in [1, 2, 3, 4, 200] {
        let walked = walk(limit, |endpoint: &Endpoint| endpoint.id, read).await;
        assert_eq!(walked, visible, "limit {limit}");
    }
    let between: EndpointId = fresh();
    let newest = h.endpoint(account, 7).await;
    let older = list(h, account, PageRequest { limit: 200, starting_after: Some(between) }).await;
    assert_eq!(older, Page { rows: visible, has_more: false });
    let first = list(h, account, PageRequest { limit: 1, starting_after: None }).await;
    assert_eq!(first, Page { rows: vec![newest], has_more: true });
}

/// Of many callers, one gets the address, and one gets the last slot. Both are free again after deletion.
pub async fn addresses_and_slots_have_one_owner(h: &mut Harness) {
    let account = h.account().await.id;
    let url = a_webhook_url();
    for same_url in [true, false] {
        let wanted = |caller: usize| {
            let slot = if same_url { u8::try_from(caller % 20).unwrap() } else { 19 };
            let url = if same_url { url.clone() } else { a_webhook_url() };
            Endpoint { url, ..an_endpoint(account, slot) }
        };
        let endpoints: Vec<Endpoint> = (0..CALLERS).map(wanted).collect();
        let outcomes = commit_concurrently(&h.store, endpoints.iter().map(steps::open_endpoint).collect()).await;
        assert_eq!(count_accepted(&outcomes, |refused| matches!(refused, CommitError::Taken { .. })), 1);
        let winner = outcomes.iter().zip(&endpoints).find(|(outcome, _)| outcome.is_ok()).unwrap().1;
        let winner = Endpoint { version: 1, ..winner.clone() };
        let listed = list(h, account, PageRequest { limit: 9, starting_after: None }).await.rows;
        assert_eq!(listed, std::slice::from_ref(&winner));

        let keys = [
            ReservationKey::EndpointUrl(account, winner.url.clone()),
            ReservationKey::EndpointSlot(account, format!("{:02}", winner.slot)),
        ];
        for key in &keys {
            assert_eq!(h.store.find_owner(key).await.unwrap(), Some(winner.id.to_string()));
        }
        h.commit_ok(steps::move_endpoint(winner.clone().delete(after_s(1)), after_s(1))).await;
        for key in &keys {
            assert_eq!(h.store.find_owner(key).await.unwrap(), None);
        }
        let again = Endpoint { url: winner.url.clone(), ..an_endpoint(account, winner.slot) };
        let again = h.stored_endpoint(again).await;
        assert_reads(h, &again).await;
        h.commit_ok(steps::move_endpoint(again.delete(after_s(2)), after_s(2))).await;
    }
}

/// Returns each state once.
fn states() -> [EndpointState; 5] {
    let at = after_s(3);
    [
        EndpointState::Active,
        EndpointState::Inactive,
        EndpointState::Disabled { reason: DisabledReason::Gone, at },
        EndpointState::Disabled { reason: DisabledReason::Failing, at },
        EndpointState::Deleted { at },
    ]
}

async fn assert_reads(h: &Harness, endpoint: &Endpoint) {
    let found = h.store.find_endpoint(endpoint.account, endpoint.id).await.unwrap();
    assert_eq!(found.as_ref(), Some(endpoint));
    let by_url = h.store.find_endpoint_by_url(endpoint.account, &endpoint.url).await.unwrap();
    assert_eq!(by_url.as_ref(), Some(endpoint).filter(|endpoint| endpoint.is_visible()));
    assert_eq!(h.store.find_endpoint_by_url(endpoint.account, &a_webhook_url()).await.unwrap(), None);
}

async fn list(h: &Harness, account: AccountId, page: PageRequest<EndpointId>) -> Page<Endpoint> {
    h.store.list_endpoints(account, page).await.unwrap()
}
