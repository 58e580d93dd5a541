//! Lists: newest first, complete, and stable while rows arrive.

use cais_domain::charge::{Charge, ChargeStatus, ChargeTerms};
use cais_domain::ids::{AccountId, ChargeId};
use cais_domain::merchant::account::{Account, Kyc};
use cais_domain::text::{LineBreaks, Text};
use cais_ports::{ApiKeyRecord, Page, PageRequest, Write};

use super::Harness;
use super::harness::commit_concurrently;
use crate::builders::{a_charge, a_key, fresh, in_status, pending_charge, start, steps};

/// The pages contain each row once.
pub async fn pages_are_newest_first_and_complete(h: &mut Harness) {
    let account = h.account().await.id;
    let written = fill(h, account, 23).await;
    for limit in [1, 7, 22, 23, 24] {
        let mut walked = Vec::new();
        let mut cursor = None;
        loop {
            let page = charges(h, account, limit, cursor).await;
            cursor = page.rows.last().map(|charge| charge.id);
            walked.extend(page.rows);
            if !page.has_more {
                break;
            }
        }
        assert!(walked.iter().eq(written.iter().rev()), "limit {limit}");
    }
    let end = written.first().map(|charge| charge.id);
    let past_the_end = charges(h, account, 5, end).await;
    assert_eq!(past_the_end, Page { rows: Vec::new(), has_more: false });
}

/// Tests lists with one row fewer than the limit, with exactly as many, and with one more.
pub async fn has_more_is_exact_at_every_limit(h: &mut Harness) {
    for limit in [1_u32, 50, 200] {
        let account = h.account().await.id;
        let count = usize::try_from(limit).unwrap();
        let none = charges(h, account, limit, None).await;
        assert_eq!(none, Page { rows: Vec::new(), has_more: false });
        fill(h, account, count - 1).await;
        for (rows, has_more) in [(count - 1, false), (count, false), (count, true)] {
            let page = charges(h, account, limit, None).await;
            assert_eq!((page.rows.len(), page.has_more), (rows, has_more), "limit {limit}");
            fill(h, account, 1).await;
        }
    }
}

/// New rows that are stored between two pages do not change the pages of older rows.
pub async fn walk_is_stable_while_rows_arrive(h: &mut Harness) {
    let account = h.account().await.id;
    let written = fill(h, account, 20).await;
    let mut walked: Vec<Charge> = Vec::new();
    loop {
        let page = charges(h, account, 3, walked.last().map(|charge| charge.id)).await;
        walked.extend(page.rows);
        fill(h, account, 2).await;
        if !page.has_more {
            break;
        }
    }
    assert!(walked.iter().eq(written.iter().rev()));
}

/// Invisible charges and charges of other accounts are not listed, and do not set `has_more`.
pub async fn invisible_and_foreign_charges_are_not_listed(h: &mut Harness) {
    let (account, other) = (h.account().await.id, h.account().await.id);
    let mut visible = Vec::new();
    for status in ChargeStatus::ALL {
        let charge = h.charge(in_status(a_charge(account), status)).await;
        h.charge(in_status(a_charge(other), status)).await;
        if status.is_visible() {
            visible.push(charge);
        }
    }
    let first = h.charge(a_charge(account)).await;
    visible.reverse();
    let limit = u32::try_from(visible.len()).unwrap();
    let page = charges(h, account, limit, None).await;
    assert_eq!(page, Page { rows: visible, has_more: false });

    let issued = in_status(first, ChargeStatus::Pending);
    h.commit_ok(steps::update_charge(&issued, issued.created_at)).await;
    let page = charges(h, account, 1, None).await;
    let seen: Vec<ChargeId> = page.rows.iter().map(|charge| charge.id).collect();
    assert_eq!((seen, page.has_more), (vec![issued.id], true), "the charge is listed once it was issued");
}

/// The list has the visible charges of the account with exactly that payer document, newest first, up to the limit.
pub async fn charges_of_a_payer_are_listed(h: &mut Harness) {
    let (account, other) = (h.account().await.id, h.account().await.id);
    let document = |text: &str| Text::parse(text, 20, LineBreaks::Allowed).ok();
    let mut own = Vec::new();
    for (owner, text) in [(account, "12345678909"), (other, "12345678909"), (account, "123.456.789-09")] {
        for status in [ChargeStatus::Creating, ChargeStatus::Paid, ChargeStatus::Pending] {
            let charge = a_charge(owner);
            let terms = ChargeTerms { payer_document: document(text), ..charge.terms.clone() };
            let charge = h.charge(in_status(Charge { terms, ..charge }, status)).await;
            if owner == account && text == "12345678909" && status.is_visible() {
                own.push(charge);
            }
        }
    }
    h.pending_charge(account).await;
    own.reverse();
    assert_eq!(h.store.list_charges_of_payer(account, "12345678909", 50).await.unwrap(), own);
    assert_eq!(h.store.list_charges_of_payer(account, "12345678909", 1).await.unwrap(), own.get(..1).unwrap());
    assert_eq!(h.store.list_charges_of_payer(account, "1234567890", 50).await.unwrap(), []);
}

/// A cursor marks a place in the order of ids. A row with that id need not exist.
pub async fn cursor_need_not_exist(h: &mut Harness) {
    let account = h.account().await.id;
    let older = h.pending_charge(account).await;
    let between: ChargeId = fresh();
    let newer = h.pending_charge(account).await;
    let page = charges(h, account, 5, Some(between)).await;
    assert_eq!(page, Page { rows: vec![older.clone()], has_more: false });
    let page = charges(h, account, 1, Some(fresh())).await;
    assert_eq!(page, Page { rows: vec![newer], has_more: true });
}

/// The list has all accounts, or those with one KYC status.
pub async fn accounts_are_listed_newest_first(h: &mut Harness) {
    let mut written = Vec::new();
    for _ in 0..5 {
        written.push(h.account().await);
    }
    written.reverse();
    let mut walked = Vec::new();
    for has_more in [true, true, false] {
        let starting_after = walked.last().map(|account: &Account| account.id);
        let page = PageRequest { limit: 2, starting_after };
        let page = h.store.list_accounts(None, page).await.unwrap();
        assert_eq!(page.has_more, has_more);
        walked.extend(page.rows);
    }
    assert_eq!(walked, written);
    let rejected = Account { kyc: Kyc::Rejected, ..h.account().await };
    let all = PageRequest { limit: 6, starting_after: None };
    h.commit_ok(steps::write(Write::update(rejected.clone()), start())).await;
    let found = h.store.list_accounts(Some(Kyc::Rejected), all).await.unwrap();
    assert_eq!(found.rows, [Account { version: rejected.version + 1, ..rejected }]);
    assert_eq!(h.store.list_accounts(Some(Kyc::Approved), all).await.unwrap().rows, written);
}

/// The list has the newest 200 API keys of the account, and no keys of other accounts.
pub async fn newest_keys_are_listed(h: &mut Harness) {
    let (account, other) = (h.account().await.id, h.account().await.id);
    h.commit_ok(steps::add_key(&a_key(other))).await;
    let keys: Vec<_> = (0..201).map(|_| a_key(account)).collect();
    let added = commit_concurrently(&h.store, keys.iter().map(steps::add_key).collect()).await;
    assert!(added.iter().all(Result::is_ok), "{added:?}");
    let listed = h.store.list_keys(account).await.unwrap();
    let as_stored = |key: &ApiKeyRecord| ApiKeyRecord { version: 1, ..key.clone() };
    assert!(listed.into_iter().eq(keys.iter().rev().take(200).map(as_stored)));
}

async fn charges(h: &Harness, account: AccountId, limit: u32, starting_after: Option<ChargeId>) -> Page<Charge> {
    let page = PageRequest { limit, starting_after };
    h.store.list_charges(account, page).await.unwrap()
}

/// Stores that many new charges. Returns the charges as stored, with version 1, oldest first.
async fn fill(h: &Harness, account: AccountId, count: usize) -> Vec<Charge> {
    let charges: Vec<_> = (0..count).map(|_| pending_charge(account)).collect();
    let outcomes = commit_concurrently(&h.store, charges.iter().map(steps::open_charge).collect()).await;
    assert!(outcomes.iter().all(Result::is_ok), "{outcomes:?}");
    charges.into_iter().map(|charge| Charge { version: 1, ..charge }).collect()
}
