//! The newest shares between an account and others: shares of others in its charges, and its shares in their charges.

use std::cmp::Reverse;

use cais_domain::charge::Charge;
use cais_domain::ids::{AccountId, ChargeId};
use cais_domain::ledger::EntryKind;
use cais_domain::txid::Txid;
use cais_ports::{EntryFilter, PageRequest, ReservationKey, StatementEntry};
use cais_use_cases::Ports;
use jiff::Timestamp;

use crate::failure::Failure;
use crate::format::{When, brl};
use crate::pages::charges::shares::{Emails, shares};
use crate::texts::Language;
use crate::texts::operator::OperatorTexts;

/// The number of newest charges that are searched for splits.
const NEWEST_CHARGES: u32 = 200;
/// The largest number of shown charges with a split, and also of shown received shares.
const SHOWN: u32 = 10;

/// A share that the account gave to another account, or received from it.
pub(super) struct ShareRow {
    at: Timestamp,
    pub(super) when: When,
    pub(super) direction: &'static str,
    /// The e-mail of the other account.
    pub(super) other: String,
    pub(super) percentage: String,
    pub(super) amount: Option<String>,
    pub(super) charge: String,
}

/// Returns the given and the received shares of the account, newest first.
pub(super) async fn newest(ports: &Ports, account: AccountId, language: Language) -> Result<Vec<ShareRow>, Failure> {
    let mut emails = Emails::default();
    let mut rows = given(ports, account, &mut emails, language).await?;
    let filter = EntryFilter { kind: Some(EntryKind::Split), ..EntryFilter::default() };
    let page = PageRequest { limit: SHOWN, starting_after: None };
    for entry in ports.queries.list_entries(account, filter, page).await?.rows {
        rows.extend(received(ports, account, &entry, &mut emails, language).await?);
    }
    rows.sort_by_key(|row| Reverse(row.at));
    Ok(rows)
}

/// Returns the shares of others in charges of the account.
async fn given(
    ports: &Ports,
    account: AccountId,
    emails: &mut Emails,
    language: Language,
) -> Result<Vec<ShareRow>, Failure> {
    let page = PageRequest { limit: NEWEST_CHARGES, starting_after: None };
    let charges = ports.queries.list_charges(account, page).await?.rows;
    let split = charges.iter().filter(|charge| !charge.terms.split.is_empty());
    let mut rows = Vec::new();
    for charge in split.take(usize::try_from(SHOWN).unwrap_or(usize::MAX)) {
        let at = charge.state.settlement().map_or(charge.created_at, |settlement| settlement.paid_at);
        for share in shares(ports, charge, emails, language).await? {
            rows.push(ShareRow {
                at,
                when: When::of(at, language),
                direction: OperatorTexts::of(language).share_given,
                other: share.email,
                percentage: share.percentage,
                amount: share.amount,
                charge: charge.id.to_string(),
            });
        }
    }
    Ok(rows)
}

/// Returns the account's share in a charge of another account. `entry` is the entry that credited the share.
async fn received(
    ports: &Ports,
    account: AccountId,
    entry: &StatementEntry,
    emails: &mut Emails,
    language: Language,
) -> Result<Option<ShareRow>, Failure> {
    let Some(charge) = paid_by(ports, entry).await? else { return Ok(None) };
    let share = shares(ports, &charge, emails, language).await?.into_iter().find(|share| share.account == account);
    Ok(Some(ShareRow {
        at: entry.created_at,
        when: When::of(entry.created_at, language),
        direction: OperatorTexts::of(language).share_received,
        other: emails.of(ports, charge.account).await?,
        percentage: share.map(|share| share.percentage).unwrap_or_default(),
        amount: Some(brl(entry.amount, language)),
        charge: charge.id.to_string(),
    }))
}

/// Returns the charge that the Pix of an entry paid.
async fn paid_by(ports: &Ports, entry: &StatementEntry) -> Result<Option<Charge>, Failure> {
    let Some(pix) = entry.end_to_end_id.clone() else { return Ok(None) };
    let owner = ports.queries.find_owner(&ReservationKey::EndToEndId(pix)).await?;
    let Some(id) = owner.and_then(|owner| ChargeId::parse(&owner).ok()) else { return Ok(None) };
    Ok(ports.queries.find_charge_by_txid(&Txid::of_charge(id)).await?)
}
