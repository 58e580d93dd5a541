//! Infractions are read back exactly as written, are guarded by their versions, and are found and listed.

use cais_domain::acquirer_name::AcquirerName;
use cais_domain::charge::Charge;
use cais_domain::external_id::ExternalId;
use cais_domain::ids::{AccountId, InfractionId};
use cais_domain::infraction::{
    Defense, Infraction, InfractionState, InfractionStatus, MAX_DEFENSE_TEXT, MAX_EVIDENCE_URL, Review, ReviewReason,
    Situation,
};
use cais_domain::money::Money;
use cais_domain::text::{LineBreaks, Text};
use cais_ports::{CommitError, InfractionFilter, Page, PageRequest, PollPosition, UpstreamList, Write};
use jiff::Timestamp;

use super::Harness;
use super::due::AT_S;
use super::harness::{after_s, commit_concurrently, count_accepted, walk};
use super::probe::refused_without_a_trace;
use crate::builders::{
    a_defense, a_position, an_end_to_end_id, an_infraction, fresh, infraction_in_status, pending_charge, start, steps,
};

/// Instants in seconds, in an order that no list returns.
const ORDER_S: [i64; 5] = [40, 10, 30, 50, 20];

/// An infraction is found with its own account and its id. Operators find it by its id alone.
pub async fn infractions_come_back_in_every_state(h: &mut Harness) {
    let (charge, other) = (charge(h).await, h.account().await.id);
    for status in InfractionStatus::ALL {
        let written = stored(h, infraction_in_status(an_infraction(&charge, 500), status)).await;
        assert_reads(h, &written).await;
        assert_eq!(h.store.find_infraction(other, written.id).await.unwrap(), None);
    }
    assert_eq!(h.store.find_infraction(charge.account, fresh()).await.unwrap(), None);
    assert_eq!(h.store.find_infraction_of_any(fresh()).await.unwrap(), None);
}

/// The infractions have the longest texts, many scripts, every situation, the greatest amounts, and very early and late
/// instants. Some infractions have no optional values.
pub async fn extreme_infractions_come_back(h: &mut Harness) {
    for infraction in extremes(&charge(h).await) {
        let written = stored(h, infraction).await;
        assert_reads(h, &written).await;
    }
    let charge = charge(h).await;
    for situation in Situation::ALL {
        let written = stored(h, Infraction { situation, ..an_infraction(&charge, 1) }).await;
        assert_reads(h, &written).await;
    }
}

/// All changeable fields change, and no others.
pub async fn infractions_come_back_changed(h: &mut Harness) {
    let charge = charge(h).await;
    let mut infraction = stored(h, an_infraction(&charge, 500)).await;
    let states = InfractionStatus::ALL.map(|status| infraction_in_status(an_infraction(&charge, 700), status));
    for now in states.into_iter().chain(extremes(&charge)) {
        let never = Infraction { id: infraction.id, version: infraction.version, ..now.clone() };
        h.commit_ok(steps::update_infraction(&never, after_s(1))).await;
        infraction = Infraction {
            reason: now.reason,
            situation: now.situation,
            amount: now.amount,
            limit: now.limit,
            state: now.state,
            review: now.review,
            defense: now.defense,
            deadline_at: now.deadline_at,
            alerted_h: now.alerted_h,
            due_at: now.due_at,
            attempts: now.attempts,
            version: infraction.version + 1,
            ..infraction
        };
        assert_reads(h, &infraction).await;
    }
}

/// Updates from another version, and of an infraction that was never stored, are refused.
pub async fn stale_infraction_leaves_nothing(h: &mut Harness) {
    let charge = charge(h).await;
    let infraction = stored(h, an_infraction(&charge, 500)).await;
    for version in [0, 2, i64::MAX] {
        let stale = Infraction { version, attempts: 7, ..infraction.clone() };
        let refused = refused_without_a_trace(h, charge.account, |change| {
            change.writes.push(Write::update(stale));
        });
        assert_eq!(refused.await, CommitError::Stale);
    }
    assert_reads(h, &infraction).await;
    let never = Infraction { version: 1, ..an_infraction(&charge, 500) };
    assert_eq!(h.commit(steps::update_infraction(&never, start())).await, Err(CommitError::Stale));
}

/// The list has the infractions of one account or of all, in one status or in any, page by page.
pub async fn infractions_are_listed_newest_first(h: &mut Harness) {
    let (first, second) = (charge(h).await, charge(h).await);
    let charges = [&first, &second];
    let mut written = Vec::new();
    for _ in 0..3 {
        for status in InfractionStatus::ALL {
            for charge in charges {
                written.push(stored(h, infraction_in_status(an_infraction(charge, 500), status)).await);
            }
        }
    }
    written.reverse();
    let accounts = charges.iter().map(|charge| Some(charge.account)).chain([None]);
    let statuses = InfractionStatus::ALL.map(Some).into_iter().chain([None]);
    for (account, status) in accounts.flat_map(|account| statuses.clone().map(move |status| (account, status))) {
        let filter = InfractionFilter { account, status };
        let wanted = |infraction: &&Infraction| {
            account.is_none_or(|account| account == infraction.account)
                && status.is_none_or(|status| status == infraction.state.status())
        };
        let expected: Vec<&Infraction> = written.iter().filter(wanted).collect();
        for limit in [1, 2, 3, 200] {
            let read = async |page| h.store.list_infractions(filter, page).await.unwrap();
            let walked = walk(limit, |infraction: &Infraction| infraction.id, read).await;
            assert!(walked.iter().eq(expected.iter().copied()), "{filter:?}, limit {limit}");
        }
    }
    let between: InfractionId = fresh();
    let newest = stored(h, an_infraction(&first, 1)).await;
    let own = InfractionFilter { account: Some(first.account), status: Some(InfractionStatus::Open) };
    let page = |starting_after| PageRequest { limit: 1, starting_after };
    let first = h.store.list_infractions(own, page(None)).await.unwrap();
    assert_eq!(first, Page { rows: vec![newest], has_more: true });
    let older = h.store.list_infractions(own, page(Some(between))).await.unwrap();
    assert_eq!((older.rows.len(), older.has_more), (1, true));
    assert!(older.rows.iter().all(|older| older.id < between));
}

/// The list has the unresolved infractions in review, of all accounts, newest first.
pub async fn infractions_for_review_are_walked_by_their_ids(h: &mut Harness) {
    let charges = [charge(h).await, charge(h).await];
    let mut expected = Vec::new();
    for status in InfractionStatus::ALL.into_iter().chain(InfractionStatus::ALL) {
        for charge in &charges {
            stored(h, infraction_in_status(an_infraction(charge, 500), status)).await;
            for reason in ReviewReason::ALL {
                let review = Some(Review { reason, since: after_s(3) });
                let marked = Infraction { review, ..an_infraction(charge, 500) };
                let written = stored(h, infraction_in_status(marked, status)).await;
                expected.extend(status.is_open().then_some(written));
            }
        }
    }
    expected.reverse();
    for limit in [1, 5, 200] {
        let read = async |page| h.store.list_infractions_for_review(page).await.unwrap();
        let walked = walk(limit, |infraction: &Infraction| infraction.id, read).await;
        let walked: Vec<_> =
            walked.into_iter().filter(|one| charges.iter().any(|of| of.account == one.account)).collect();
        assert_eq!(walked, expected, "limit {limit}");
    }
}

/// The list is oldest first, has infractions in any state, and has none of another account or another Pix.
pub async fn infractions_of_a_pix_are_found(h: &mut Harness) {
    let (one, other) = (charge(h).await, charge(h).await);
    let pix = an_end_to_end_id();
    let mut expected = Vec::new();
    for status in InfractionStatus::ALL {
        let on_it = |charge| Infraction { end_to_end_id: pix.clone(), ..an_infraction(charge, 100) };
        expected.push(stored(h, infraction_in_status(on_it(&one), status)).await);
        stored(h, infraction_in_status(on_it(&other), status)).await;
        stored(h, infraction_in_status(an_infraction(&one, 100), status)).await;
    }
    assert_eq!(h.store.list_infractions_of_pix(one.account, &pix).await.unwrap(), expected);
    let unknown = an_end_to_end_id();
    assert_eq!(h.store.list_infractions_of_pix(one.account, &unknown).await.unwrap(), []);
}

/// The list has the acquirer's unresolved infractions in the order of their openings. Infractions with the same instant
/// of opening are in the order of their ids. A cursor need not be an existing infraction.
pub async fn open_infractions_are_walked_by_their_beginning(h: &mut Harness) {
    let charge = charge(h).await;
    let mut open = Vec::new();
    for opened_s in ORDER_S.into_iter().chain([30, 30]) {
        for status in InfractionStatus::ALL {
            let began = Infraction { opened_at: after_s(opened_s), ..an_infraction(&charge, 100) };
            let written = stored(h, infraction_in_status(began, status)).await;
            if status.is_open() {
                open.push(written);
            }
        }
        let elsewhere = AcquirerName::parse("other").unwrap();
        stored(h, Infraction { acquirer: elsewhere, opened_at: after_s(opened_s), ..an_infraction(&charge, 9) }).await;
    }
    let place = |infraction: &Infraction| (infraction.opened_at, infraction.id);
    open.sort_by_key(place);
    let acquirer = &open.first().unwrap().acquirer;
    for limit in [1, 3, 14, 15] {
        let mut walked: Vec<Infraction> = Vec::new();
        loop {
            let after = walked.last().map(place);
            let rows = h.store.list_open_infractions(acquirer, after, limit).await.unwrap();
            if rows.is_empty() {
                break;
            }
            assert!(rows.len() <= usize::try_from(limit).unwrap());
            walked.extend(rows);
        }
        assert_eq!(walked, open, "limit {limit}");
    }
    let stranger = AcquirerName::parse("unknown").unwrap();
    assert_eq!(h.store.list_open_infractions(&stranger, None, 50).await.unwrap(), []);
    let early = Some((start(), fresh()));
    assert_eq!(h.store.list_open_infractions(acquirer, early, 50).await.unwrap(), open);
}

/// The list has the infractions of all accounts, at most the limit. Infractions without a due time are absent.
pub async fn due_infractions_come_longest_overdue_first(h: &mut Harness) {
    let charges = [charge(h).await, charge(h).await];
    let mut due = Vec::new();
    for (due_s, charge) in ORDER_S.into_iter().zip(charges.iter().cycle()) {
        let submitted = Infraction {
            due_at: Some(after_s(due_s)),
            attempts: 3,
            defense: Some(a_defense()),
            ..an_infraction(charge, 100)
        };
        due.push(stored(h, submitted).await);
        stored(h, an_infraction(charge, 100)).await;
    }
    due.sort_by_key(|infraction| infraction.due_at);
    for (now_s, limit, skipped, expected) in AT_S {
        let found = h.store.list_due_infractions(after_s(now_s), limit).await.unwrap();
        assert!(found.iter().eq(due.iter().skip(skipped).take(expected)), "after {now_s} s, at most {limit}");
    }
    let first = due.remove(0);
    h.commit_ok(steps::update_infraction(&Infraction { due_at: None, ..first }, after_s(1))).await;
    assert_eq!(h.store.list_due_infractions(after_s(1_000), 50).await.unwrap(), due);
}

/// The list has open infractions without a defense whose deadline is after `from` and before `until`. The nearest
/// deadline comes first.
pub async fn undefended_infractions_come_nearest_deadline_first(h: &mut Harness) {
    let charges = [charge(h).await, charge(h).await];
    let mut waiting = Vec::new();
    for (deadline_s, charge) in ORDER_S.into_iter().zip(charges.iter().cycle()) {
        let until = |infraction| Infraction { deadline_at: Some(after_s(deadline_s)), ..infraction };
        waiting.push(stored(h, until(an_infraction(charge, 100))).await);
        stored(h, until(Infraction { defense: Some(a_defense()), ..an_infraction(charge, 100) })).await;
        for status in InfractionStatus::ALL.into_iter().filter(|status| *status != InfractionStatus::Open) {
            let settled = infraction_in_status(an_infraction(charge, 100), status);
            stored(h, until(Infraction { defense: None, ..settled })).await;
        }
        stored(h, Infraction { deadline_at: None, ..an_infraction(charge, 100) }).await;
    }
    waiting.sort_by_key(|infraction| infraction.deadline_at);
    for (from_s, until_s, limit, skipped, expected) in [
        (0, 1_000, 50, 0, 5),
        (0, 1_000, 2, 0, 2),
        (10, 50, 50, 1, 3),
        (9, 51, 50, 0, 5),
        (30, 30, 50, 0, 0),
        (29, 31, 50, 2, 1),
        (50, 60, 50, 0, 0),
    ] {
        let found = h.store.list_undefended(after_s(from_s), after_s(until_s), limit).await.unwrap();
        let expected = waiting.iter().skip(skipped).take(expected);
        assert!(found.iter().eq(expected), "from {from_s} s until {until_s} s, at most {limit}: {found:?}");
    }
}

/// Each list of each acquirer has its own position. Of many concurrent updates of a position, a single one succeeds.
pub async fn positions_move_on(h: &mut Harness) {
    let mut position = a_position();
    let other = PollPosition { acquirer: AcquirerName::parse("other").unwrap(), ..a_position() };
    let find = async |h: &Harness, of: &PollPosition| h.store.find_position(&of.acquirer, of.list).await.unwrap();
    assert_eq!(find(h, &position).await, None);
    let insert = |position: &PollPosition| steps::write(Write::insert(position.clone()), start());
    let update = |position: &PollPosition| steps::write(Write::update(position.clone()), start());
    for list in UpstreamList::ALL {
        h.commit_ok(insert(&PollPosition { list, ..position.clone() })).await;
    }
    h.commit_ok(insert(&other)).await;
    position.version = 1;
    assert_eq!(find(h, &position).await, Some(position.clone()));
    let late: Timestamp = "9999-12-01T23:59:59.999999Z".parse().unwrap();
    for seen_until in [after_s(60), after_s(30), late, Timestamp::from_microsecond(1).unwrap()] {
        position.seen_until = seen_until;
        let outcomes = commit_concurrently(&h.store, vec![update(&position); 16]).await;
        assert_eq!(count_accepted(&outcomes, |refused| *refused == CommitError::Stale), 1);
        position.version += 1;
        assert_eq!(find(h, &position).await, Some(position.clone()));
    }
    let untouched = [UpstreamList::Received, UpstreamList::Sent, UpstreamList::Returns].map(|list| PollPosition {
        list,
        version: 1,
        ..a_position()
    });
    for untouched in untouched.into_iter().chain([PollPosition { version: 1, ..other }]) {
        assert_eq!(find(h, &untouched).await, Some(untouched));
    }
    let unknown = PollPosition { acquirer: AcquirerName::parse("third").unwrap(), version: 1, ..position };
    assert_eq!(h.commit(update(&unknown)).await, Err(CommitError::Stale));
}

/// Stores a charge for infractions. The infractions of these tests do not change the charge.
async fn charge(h: &Harness) -> Charge {
    let account: AccountId = h.account().await.id;
    h.charge(pending_charge(account)).await
}

/// Stores the infraction without a block. Returns the infraction as stored, with version 1.
async fn stored(h: &Harness, infraction: Infraction) -> Infraction {
    let write = Write::insert(infraction.clone());
    h.commit_ok(steps::write(write, infraction.created_at)).await;
    Infraction { version: 1, ..infraction }
}

async fn assert_reads(h: &Harness, infraction: &Infraction) {
    let found = h.store.find_infraction(infraction.account, infraction.id).await.unwrap();
    assert_eq!(found.as_ref(), Some(infraction));
    let found = h.store.find_infraction_of_any(infraction.id).await.unwrap();
    assert_eq!(found.as_ref(), Some(infraction));
}

fn extremes(charge: &Charge) -> [Infraction; 3] {
    let text = |text: &str, most| Some(Text::parse(text, most, LineBreaks::Allowed).unwrap());
    let late: Timestamp = "9999-12-01T23:59:59.999999Z".parse().unwrap();
    let early = Timestamp::from_microsecond(1).unwrap();
    let greatest = Money::from_centavos(i64::MAX);
    let longest = "\u{1F980}".repeat(MAX_DEFENSE_TEXT);
    let url = "\u{10FFFF}".repeat(MAX_EVIDENCE_URL);
    let defense = Defense {
        text: text(&longest, MAX_DEFENSE_TEXT),
        evidence_url: text(&url, MAX_EVIDENCE_URL),
        sent_at: late,
        submitted_at: Some(late),
    };
    let greatest = Infraction {
        external_id: Some(ExternalId::parse(&"\u{1F980}".repeat(120)).unwrap()),
        upstream_id: "é".repeat(200),
        reason: Some("linha 1\r\nlinha 2\n'\"\\ -- \u{202E} 漢字".repeat(40)),
        amount: greatest,
        limit: greatest,
        state: InfractionState::Lost { returned: greatest, refunded: greatest, at: late },
        review: Some(Review { reason: ReviewReason::UnexplainedReturn, since: late }),
        defense: Some(defense.clone()),
        deadline_at: Some(late),
        alerted_h: Some(u8::MAX),
        due_at: Some(late),
        attempts: 2_000_000_000,
        opened_at: late,
        created_at: late,
        ..an_infraction(charge, 1)
    };
    let theirs = Infraction {
        reason: Some(String::new()),
        state: InfractionState::UnderReview { at: early },
        review: Some(Review { reason: ReviewReason::MissingReturn, since: early }),
        defense: Some(Defense { text: None, evidence_url: None, sent_at: early, submitted_at: None }),
        opened_at: early,
        created_at: early,
        ..an_infraction(charge, 1)
    };
    let least = Infraction {
        upstream_id: " ".to_owned(),
        reason: None,
        situation: Situation::Unknown,
        amount: Money::from_centavos(1),
        limit: Money::ZERO,
        deadline_at: None,
        ..an_infraction(charge, 1)
    };
    [greatest, theirs, least]
}
