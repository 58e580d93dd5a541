//! Payouts are read back exactly as written, are guarded by their versions, and are found and listed.

use cais_domain::acquirer_name::AcquirerName;
use cais_domain::charge::Origin;
use cais_domain::document::Document;
use cais_domain::external_id::ExternalId;
use cais_domain::ids::{AccountId, PayoutId};
use cais_domain::money::Money;
use cais_domain::payout::{Payout, PayoutState, PayoutStatus, PayoutTerms, Recipient, Sent};
use cais_domain::pix_key::PixKey;
use cais_domain::text::{LineBreaks, Text};
use cais_ports::{CommitError, OpenMoney, Page, PageRequest, Write};
use jiff::Timestamp;

use super::Harness;
use super::due::AT_S;
use super::harness::{after_s, commit_concurrently, walk};
use super::probe::refused_without_a_trace;
use crate::builders::{a_payout, an_end_to_end_id, fresh, payout_in_status, payout_terms, steps};

/// A payout in each state is inserted, and read back with version 1 by its id and by its instruction id.
pub async fn payouts_come_back_in_every_state(h: &mut Harness) {
    let account = h.account().await.id;
    for status in PayoutStatus::ALL {
        let written = h.payout(payout_in_status(a_payout(account), status)).await;
        assert_reads(h, &written).await;
    }
}

/// The payouts have every kind of key, the greatest amounts, the longest texts, many scripts, and very early and
/// late instants. Some payouts have no optional values.
pub async fn extreme_payouts_come_back(h: &mut Harness) {
    let account = h.account().await.id;
    for (terms, created_at) in extreme_terms() {
        for status in [PayoutStatus::Pending, PayoutStatus::Completed, PayoutStatus::Reversed] {
            // An external id identifies a single payout.
            let external_id = terms.external_id.clone().filter(|_| status == PayoutStatus::Completed);
            let terms = PayoutTerms { external_id, ..terms.clone() };
            let payout = payout_in_status(Payout { terms, created_at, ..a_payout(account) }, status);
            let written = h.payout(payout).await;
            assert_reads(h, &written).await;
        }
    }
}

/// Each optional fact of a state is read back with that state and the next version.
pub async fn payouts_come_back_after_every_update(h: &mut Harness) {
    let account = h.account().await.id;
    for changed in shapes(account) {
        let inserted = h.payout(a_payout(account)).await;
        let changed = Payout { id: inserted.id, version: 1, ..changed };
        h.commit_ok(steps::update_payout(&changed, after_s(1))).await;
        let read = Payout { version: 2, ..changed };
        assert_reads(h, &read).await;

        let failed = Payout { version: 2, ..payout_in_status(inserted, PayoutStatus::Failed) };
        h.commit_ok(steps::update_payout(&failed, after_s(2))).await;
        assert_reads(h, &Payout { version: 3, ..failed }).await;
    }
    for inserted in shapes(account) {
        let written = h.payout(inserted).await;
        assert_reads(h, &written).await;
    }
}

/// Updates from another version, and updates of a payout that was never stored, are refused.
pub async fn stale_payout_leaves_nothing(h: &mut Harness) {
    let account = h.account().await.id;
    let payout = h.payout(a_payout(account)).await;
    for version in [0, 2, i64::MAX] {
        let stale = Payout { version, ..payout_in_status(payout.clone(), PayoutStatus::Completed) };
        let refused = refused_without_a_trace(h, account, |change| {
            change.writes.push(Write::update(stale));
        });
        assert_eq!(refused.await, CommitError::Stale);
    }
    let never = Payout { version: 1, ..a_payout(account) };
    assert_eq!(h.commit(steps::update_payout(&never, after_s(1))).await, Err(CommitError::Stale));
    assert_reads(h, &payout).await;
    assert_eq!(h.store.find_payout(account, never.id).await.unwrap(), None);
    assert_eq!(h.store.find_payout_by_instruction_id(&never.instruction_id()).await.unwrap(), None);
}

/// Invisible payouts and payouts of other accounts are not listed and do not set `has_more`. By its id, an invisible
/// payout is found with its own account only.
pub async fn invisible_and_foreign_payouts_are_not_listed(h: &mut Harness) {
    let (account, other) = (h.account().await.id, h.account().await.id);
    let mut visible = Vec::new();
    for status in PayoutStatus::ALL {
        let payout = h.payout(payout_in_status(a_payout(account), status)).await;
        let foreign = h.payout(payout_in_status(a_payout(other), status)).await;
        assert_eq!(h.store.find_payout(account, foreign.id).await.unwrap(), None);
        assert_reads(h, &payout).await;
        if status.is_visible() {
            visible.push(payout);
        }
    }
    let first = h.payout(a_payout(account)).await;
    visible.reverse();
    let limit = u32::try_from(visible.len()).unwrap();
    let page = payouts(h, account, PageRequest { limit, starting_after: None }).await;
    assert_eq!(page, Page { rows: visible, has_more: false });

    h.commit_ok(steps::update_payout(&payout_in_status(first.clone(), PayoutStatus::Processing), after_s(1))).await;
    let page = payouts(h, account, PageRequest { limit: 1, starting_after: None }).await;
    let seen: Vec<PayoutId> = page.rows.iter().map(|payout| payout.id).collect();
    assert_eq!((seen, page.has_more), (vec![first.id], true), "the payout is listed after it was sent");
}

/// The pages contain each row once, even while new rows are stored.
pub async fn pages_of_payouts_are_complete_and_stable(h: &mut Harness) {
    let account = h.account().await.id;
    let written = fill(h, account, 13).await;
    for limit in [1, 4, 12, 13, 14] {
        let walked = walk(limit, |payout: &Payout| payout.id, async |page| payouts(h, account, page).await);
        assert!(walked.await.iter().eq(written.iter().rev()), "limit {limit}");
    }
    let walked = walk(
        3,
        |payout: &Payout| payout.id,
        async |page| {
            let read = payouts(h, account, page).await;
            fill(h, account, 2).await;
            read
        },
    );
    assert!(walked.await.iter().eq(written.iter().rev()));
    let unknown = payouts(h, fresh(), PageRequest { limit: 5, starting_after: None }).await;
    assert_eq!(unknown, Page { rows: Vec::new(), has_more: false });
}

/// The list has the open payouts of all accounts. A poll without an outcome postpones a payout. An outcome removes the
/// payout from the list.
pub async fn due_payouts_come_longest_overdue_first(h: &mut Harness) {
    let accounts = [h.account().await.id, h.account().await.id];
    let mut open = Vec::new();
    for (due_s, account) in [40, 10, 30, 50, 20].into_iter().zip(accounts.into_iter().cycle()) {
        for status in PayoutStatus::ALL {
            let mut payout = payout_in_status(a_payout(account), status);
            payout.due_at = payout.due_at.map(|_| after_s(due_s));
            let payout = h.payout(payout).await;
            if status == PayoutStatus::Processing {
                open.push((due_s, payout));
            }
        }
    }
    open.sort_unstable_by_key(|(due_s, _)| *due_s);
    let open: Vec<Payout> = open.into_iter().map(|(_, payout)| payout).collect();
    for (now_s, limit, skipped, expected) in AT_S {
        let due = h.store.list_due_payouts(after_s(now_s), limit).await.unwrap();
        assert!(due.iter().eq(open.iter().skip(skipped).take(expected)), "after {now_s} s, at most {limit}");
    }
    let (first, second) = (open.first().unwrap(), open.get(1).unwrap());
    let polled = first.clone().schedule_next_poll(after_s(100));
    h.commit_ok(steps::update_payout(&polled, after_s(100))).await;
    let completed = payout_in_status(second.clone(), PayoutStatus::Completed);
    h.commit_ok(steps::update_payout(&completed, after_s(100))).await;
    let due = h.store.list_due_payouts(after_s(60), 50).await.unwrap();
    assert!(due.iter().eq(open.iter().skip(2)));
    let due = h.store.list_due_payouts(after_s(1_000), 50).await.unwrap();
    assert_eq!(due.last(), Some(&Payout { version: 2, ..polled }));
    let oldest = due.iter().map(|payout| payout.created_at).min();
    assert_eq!(h.store.count_open_payouts().await.unwrap(), OpenMoney { count: 4, oldest });
}

/// A payout is found by its instruction id, which is case-sensitive.
pub async fn payouts_are_found_by_instruction_id(h: &mut Harness) {
    let account = h.account().await.id;
    let written = fill(h, account, 3).await;
    for payout in &written {
        let found = h.store.find_payout_by_instruction_id(&payout.instruction_id()).await.unwrap();
        assert_eq!(found.as_ref(), Some(payout));
        let upper = payout.instruction_id().as_str().to_uppercase();
        let upper = cais_domain::instruction_id::InstructionId::parse(&upper).unwrap();
        assert_eq!(h.store.find_payout_by_instruction_id(&upper).await.unwrap(), None);
    }
    let foreign = cais_domain::instruction_id::InstructionId::parse("otherSystem1").unwrap();
    assert_eq!(h.store.find_payout_by_instruction_id(&foreign).await.unwrap(), None);
}

async fn assert_reads(h: &Harness, payout: &Payout) {
    let by_id = h.store.find_payout(payout.account, payout.id).await.unwrap();
    assert_eq!(by_id.as_ref(), Some(payout));
    let by_name = h.store.find_payout_by_instruction_id(&payout.instruction_id()).await.unwrap();
    assert_eq!(by_name.as_ref(), Some(payout));
}

async fn payouts(h: &Harness, account: AccountId, page: PageRequest<PayoutId>) -> Page<Payout> {
    h.store.list_payouts(account, page).await.unwrap()
}

/// Stores that many sent payouts. Returns the payouts as stored, with version 1, oldest first.
async fn fill(h: &Harness, account: AccountId, count: usize) -> Vec<Payout> {
    let sent = || payout_in_status(a_payout(account), PayoutStatus::Processing);
    let payouts: Vec<_> = (0..count).map(|_| sent()).collect();
    let write = |payout: &Payout| {
        let open = steps::open_payout(payout);
        cais_ports::ChangeSet { transfers: Vec::new(), ..open }
    };
    let outcomes = commit_concurrently(&h.store, payouts.iter().map(write).collect()).await;
    assert!(outcomes.iter().all(Result::is_ok), "{outcomes:?}");
    payouts.into_iter().map(|payout| Payout { version: 1, ..payout }).collect()
}

/// Returns payouts in every state but `Pending`, with and without each optional fact.
fn shapes(account: AccountId) -> Vec<Payout> {
    let acquirer = || AcquirerName::parse("the-other-1").unwrap();
    let sent = |end_to_end_id| Sent { acquirer: acquirer(), recorded_at: after_s(3), end_to_end_id };
    let named = || sent(Some(an_end_to_end_id()));
    let known = |name: Option<&str>, document: Option<&str>| Recipient {
        name: name.map(str::to_owned),
        document: document.map(str::to_owned),
    };
    let payout = |state, recipient| Payout { state, recipient, ..a_payout(account) };
    let failed = |sent, reason: &str| PayoutState::Failed { sent, reason: reason.to_owned(), at: after_s(9) };
    let in_part = |centavos| Payout {
        returned: Money::from_centavos(centavos),
        ..payout(PayoutState::Completed { sent: named(), at: after_s(9) }, known(None, Some("12ABC34501DE35")))
    };
    vec![
        payout(PayoutState::Abandoned { acquirer: named().acquirer, at: after_s(9) }, Recipient::default()),
        Payout {
            due_at: Some(after_s(4)),
            attempts: 0,
            ..payout(PayoutState::Processing(sent(None)), Recipient::default())
        },
        Payout {
            due_at: Some(after_s(4)),
            attempts: 2_000_000_000,
            ..payout(PayoutState::Processing(named()), known(Some("\u{1F980} 'Ana' \"Lima\" 漢字"), None))
        },
        Payout { attempts: 7, ..in_part(0) },
        in_part(999),
        payout(failed(sent(None), ""), Recipient::default()),
        payout(failed(named(), &"não é \u{1F980}, ' \" \\ ".repeat(90)), known(Some(""), Some(""))),
        Payout {
            returned: Money::from_centavos(1_000),
            ..payout(
                PayoutState::Reversed { sent: named(), completed_at: after_s(5), at: after_s(9) },
                known(Some("Ana"), Some("***.456.789-**")),
            )
        },
    ]
}

fn extreme_terms() -> Vec<(PayoutTerms, Timestamp)> {
    let text = |text: &str| Some(Text::parse(text, 140, LineBreaks::Allowed).unwrap());
    let key = |key: &str| PixKey::parse(key).unwrap();
    let longest = "\u{1F980}".repeat(120);
    let full = PayoutTerms {
        amount: Money::from_centavos(i64::MAX - 1),
        fee: Money::from_centavos(1),
        pix_key: key(&format!("ana.{}@bank.example", "a".repeat(57))),
        recipient_document: Some(Document::parse("12ABC34501DE35").unwrap()),
        description: text("linha 1\r\nlinha 2\n'\"\\ -- \u{202E}\u{0301} çãé 漢字 \u{10FFFF}"),
        external_id: Some(ExternalId::parse(&longest).unwrap()),
        origin: Origin::Manual,
    };
    let empty = PayoutTerms {
        amount: Money::from_centavos(1),
        fee: Money::ZERO,
        pix_key: key("123e4567-e89b-12d3-a456-426614174000"),
        recipient_document: Some(Document::parse("12345678909").unwrap()),
        description: text(""),
        external_id: Some(ExternalId::parse(" ").unwrap()),
        origin: Origin::Api,
    };
    let to = |pix_key| PayoutTerms { pix_key, ..payout_terms() };
    let early = Timestamp::from_microsecond(1).unwrap();
    let late: Timestamp = "9999-12-01T23:59:59.999999Z".parse().unwrap();
    let keys = ["12345678909", "12ABC34501DE35", "+5511987654321"].map(|text| (to(key(text)), after_s(0)));
    [(full, late), (empty, early)].into_iter().chain(keys).collect()
}

/// A payout is found by the end-to-end id of its Pix.
pub async fn payouts_are_found_by_their_pix(h: &mut Harness) {
    let account = h.account().await.id;
    let written = h.payout(payout_in_status(a_payout(account), PayoutStatus::Completed)).await;
    h.payout(payout_in_status(a_payout(account), PayoutStatus::Completed)).await;
    let pix = written.state.end_to_end_id().unwrap();
    assert_eq!(h.store.find_payout_by_pix(pix).await.unwrap().as_ref(), Some(&written));
    assert_eq!(h.store.find_payout_by_pix(&an_end_to_end_id()).await.unwrap(), None);
}
