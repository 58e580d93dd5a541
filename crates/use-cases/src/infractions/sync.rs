//! Making an infraction agree with what its acquirer says of it: the only place where upstream's truth becomes ours.

use std::sync::Arc;

use cais_domain::acquirer_name::AcquirerName;
use cais_domain::ids::InfractionId;
use cais_domain::infraction::{Infraction, InfractionStep, NewInfraction};
use cais_domain::money::Money;
use cais_ports::{Acquirer, AcquirerError, CommitError, UpstreamInfraction, alerts};
use jiff::Timestamp;
use uuid::Uuid;

use super::case::Case;
use super::look::{AT_LEISURE, look};
use super::once::first_time;
use super::opening::{Opening, open};
use super::rounds::{is_name, latest};
use super::steps::commit;
use super::unseen::supersede;
use super::verdict::{Verdict, judge, may_be_lost_again, needs_a_fresh_look};
use super::weigh::{Weighed, lost_of, weigh};
use super::weighed;
use crate::ports::Ports;
use crate::trouble::Trouble;
use crate::upstream_text::{long, whole_microseconds};

/// The longest reason that is kept, in characters: as long as DICT's details of a report may be.
const MAX_REASON: usize = 2_000;
/// How many steps one account of an infraction is followed for. Opening, amending, reviewing and ending it are four; each of the
/// others means that somebody else's change of the same Pix, or of what is held for it, became true meanwhile.
const STEPS: usize = 32;

/// Why an infraction could not be made to agree with upstream.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub(crate) enum SyncError {
    /// Upstream has no answer.
    #[error(transparent)]
    Upstream(#[from] AcquirerError),
    /// The store has no answer.
    #[error(transparent)]
    Store(#[from] Trouble),
}

/// What became of an acquirer's account of an infraction.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Applied {
    /// Ours is as the acquirer says.
    Stands {
        /// Ours.
        infraction: Box<Infraction>,
        /// Whether it is so since now.
        changed: bool,
    },
    /// It may be so in a moment: its Pix is not credited yet, or what was read may be outdated.
    NotYet,
    /// It is about no Pix that was ever credited here; an operator was told.
    NotOurs,
    /// It cannot be true together with what we know; ours stays, and an operator was told.
    NotBelieved,
}

/// The acquirer of that name.
pub(super) fn adapter(ports: &Ports, name: &AcquirerName) -> Result<Arc<dyn Acquirer>, AcquirerError> {
    ports.acquirers.named(name).ok_or_else(|| AcquirerError::Unavailable(format!("{name} is not configured")))
}

/// Looks for the infraction of that name in its acquirer's list and applies what that shows; `None` when it shows none.
pub(crate) async fn find(ports: &Ports, name: &AcquirerName, id: &str) -> Result<Option<Applied>, SyncError> {
    let acquirer = adapter(ports, name)?;
    if !acquirer.tells_infractions() || !is_name(id) {
        tracing::error!(acquirer = %name, "an acquirer calls for an infraction that it cannot have");
        return Ok(Some(Applied::NotBelieved));
    }
    let known = latest(ports, name, id).await?;
    let opened_at = known.map(|(_, ours)| ours.opened_at);
    match look(&*acquirer, id, opened_at, ports.clock.now(), AT_LEISURE).await? {
        Some(told) => Ok(Some(apply(ports, name, told).await?)),
        None => Ok(None),
    }
}

/// Applies what `acquirer` says of an infraction: it is opened, amended, reviewed and settled, each once and in its own commit.
pub(crate) async fn apply(
    ports: &Ports,
    acquirer: &AcquirerName,
    mut told: UpstreamInfraction,
) -> Result<Applied, SyncError> {
    if !is_name(&told.id) {
        complain(acquirer, &told, "it has no usable name");
        return Ok(Applied::NotBelieved);
    }
    let mut changed = false;
    // For which state of ours the acquirer's word was read anew.
    let mut looked_for: Option<(InfractionId, i64)> = None;
    // The round that was opened because the acquirer's word, read after the one before had ended, says that it is lost.
    let mut lost_unseen: Option<u32> = None;
    for _ in 0..STEPS {
        let Some((round, ours)) = latest(ports, acquirer, &told.id).await? else {
            match open(ports, acquirer, &told, 1).await? {
                Opening::Opened => changed = true,
                Opening::Again => {}
                Opening::Not(applied) => return Ok(applied),
            }
            continue;
        };
        if ours.end_to_end_id != told.end_to_end_id {
            complain(acquirer, &told, "it was about another Pix before");
            return Ok(Applied::NotBelieved);
        }
        if may_be_lost_again(&ours, &told) && weighed::is_known(ports, &ours, &told, ports.clock.now()) {
            return Ok(Applied::Stands { infraction: Box::new(ours), changed });
        }
        let may_be_older = round > 1 && lost_unseen != Some(round);
        if needs_a_fresh_look(&ours, may_be_older, &told) && looked_for != Some((ours.id, ours.version)) {
            looked_for = Some((ours.id, ours.version));
            let acquirer = adapter(ports, acquirer)?;
            let fresh = look(&*acquirer, &told.id, Some(told.opened_at), ports.clock.now(), AT_LEISURE).await?;
            let Some(fresh) = fresh else { return Ok(Applied::NotYet) };
            told = fresh;
            continue;
        }
        let next = round.saturating_add(1);
        let opening = match advance(ports, &ours, (round, may_be_older), &told).await? {
            Advance::Moved => {
                changed = true;
                continue;
            }
            Advance::Again => continue,
            Advance::Reopens => open(ports, acquirer, &told, next).await?,
            Advance::ReopensUnseen => supersede(ports, &ours, &told, next).await?,
            Advance::LostUnseen(amount) => {
                told.amount = amount;
                let opening = open(ports, acquirer, &told, next).await?;
                if matches!(opening, Opening::Opened) {
                    lost_unseen = Some(next);
                }
                opening
            }
            Advance::Stands => return Ok(Applied::Stands { infraction: Box::new(ours), changed }),
            Advance::TooEarly => return Ok(Applied::NotYet),
        };
        match opening {
            Opening::Opened => changed = true,
            Opening::Again => {}
            Opening::Not(applied) => return Ok(applied),
        }
    }
    Err(Trouble::contended().into())
}

/// What one look at ours led to.
enum Advance {
    /// It took a step.
    Moved,
    /// It, or what it depends on, was changed by somebody else.
    Again,
    /// It ended, and a new one begins.
    Reopens,
    /// It ended, and a new one begins about so much, of which what was taken is lost.
    LostUnseen(Money),
    /// It has to end, and a new one begins.
    ReopensUnseen,
    /// There is no step to take.
    Stands,
    /// What was read may be outdated.
    TooEarly,
}

/// Takes the next step that follows from the acquirer's word, if there is one.
async fn advance(
    ports: &Ports,
    ours: &Infraction,
    (round, may_be_older): (u32, bool),
    told: &UpstreamInfraction,
) -> Result<Advance, SyncError> {
    let now = ports.clock.now();
    let verdict = judge(ours, may_be_older, told, now);
    match &verdict {
        Verdict::Reopened => return Ok(Advance::Reopens),
        Verdict::ReopenedUnseen => return Ok(Advance::ReopensUnseen),
        Verdict::LostUnseen => return Ok(Advance::LostUnseen(told.amount)),
        Verdict::LostAgain => {
            let case = Case::of(ports, ours).await?;
            return Ok(match weigh(ports, &case, ours, told, true).await? {
                Weighed::TooEarly => Advance::TooEarly,
                Weighed::Unaccounted(amount) if amount.is_positive() => Advance::LostUnseen(amount.min(told.amount)),
                Weighed::Unaccounted(_) => {
                    weighed::remember(ports, ours, told, now);
                    Advance::Stands
                }
            });
        }
        Verdict::TooEarly => return Ok(Advance::TooEarly),
        Verdict::Contradicts => complain(&ours.acquirer, told, "the acquirer contradicts what it said before"),
        Verdict::Agrees | Verdict::Defended(_) | Verdict::Won | Verdict::Lost | Verdict::Cancelled => {}
    }
    if !ours.state.status().is_open() {
        return Ok(Advance::Stands);
    }
    let case = Case::of(ports, ours).await?;
    let infraction = case.infraction(ours.id)?;
    if infraction.version != ours.version {
        return Ok(Advance::Again);
    }
    // Of one that was opened again no more is lost than was taken: something may have been lost for the round before already.
    let most = if verdict == Verdict::Lost && round > 1 {
        let Some(most) = lost_of(ports, &case, &infraction, told).await? else { return Ok(Advance::TooEarly) };
        Some(most)
    } else {
        None
    };
    if let amended @ InfractionStep::Taken(_) = amend(&case, &infraction, told, (&verdict, most), now)? {
        return moved(commit(ports, amended, now).await);
    }
    let step = match verdict {
        Verdict::Agrees
        | Verdict::Contradicts
        | Verdict::Reopened
        | Verdict::ReopenedUnseen
        | Verdict::LostUnseen
        | Verdict::LostAgain
        | Verdict::TooEarly => return Ok(Advance::Stands),
        Verdict::Defended(theirs) => {
            if theirs.is_some() && infraction.defense.is_some() {
                complain(&ours.acquirer, told, "the acquirer has another defence than the one that was given here");
            }
            infraction.review(theirs, now)
        }
        Verdict::Won => infraction.win(case.disputed(), held(ports, ours).await?, now),
        Verdict::Cancelled => infraction.cancel(case.disputed(), held(ports, ours).await?, now),
        Verdict::Lost => {
            let held = held(ports, ours).await?;
            let most = most.unwrap_or_else(|| held.max(infraction.limit));
            let step = infraction.lose_at_most(case.disputed(), (held, most), now).map_err(Trouble::from)?;
            let committed = commit(ports, step, now).await;
            if let Ok(lost) = &committed {
                tell_of_a_shortfall(lost, held);
            }
            return moved(committed);
        }
    };
    moved(commit(ports, step.map_err(Trouble::from)?, now).await)
}

/// What the acquirer says of it now. One that is lost has the first claim on its Pix, of at `most` so much.
fn amend(
    case: &Case,
    infraction: &Infraction,
    told: &UpstreamInfraction,
    (verdict, most): (&Verdict, Option<Money>),
    now: Timestamp,
) -> Result<InfractionStep, Trouble> {
    let news = new_infraction(&infraction.acquirer, told, now);
    let amount = most.map_or(news.amount, |most| news.amount.min(most));
    let amount = if amount.is_positive() { amount } else { infraction.amount };
    let (news, infraction) = (NewInfraction { amount, ..news }, infraction.clone());
    let amended = if *verdict == Verdict::Lost && most.is_none_or(Money::is_positive) {
        infraction.claim_first(&news, case.disputed())
    } else {
        infraction.amend(&news, case.disputed())
    };
    Ok(amended?)
}

fn moved(committed: Result<Infraction, CommitError>) -> Result<Advance, SyncError> {
    match committed {
        Ok(infraction) => {
            tracing::info!(infraction = %infraction.id, status = infraction.state.status().as_str(), "an infraction moved");
            Ok(Advance::Moved)
        }
        Err(CommitError::Stale) => Ok(Advance::Again),
        Err(error) => Err(Trouble::from(error).into()),
    }
}

/// Tells an operator what was lost here and not held.
pub(super) fn tell_of_a_shortfall(lost: &Infraction, held: Money) {
    if held < lost.limit {
        tracing::error!(
            alert = alerts::INFRACTION_SHORTFALL, infraction = %lost.id, charge = %lost.charge, %held, limit = %lost.limit,
            "more was lost than was held: what the acquirer returned beyond it has to be settled with the merchant"
        );
    }
}

/// What it holds. A block that has ended meanwhile holds nothing, and the commit that says so is refused.
pub(super) async fn held(ports: &Ports, infraction: &Infraction) -> Result<Money, Trouble> {
    let block = ports.queries.find_block(infraction.account, infraction.id).await?;
    Ok(block.map_or(Money::ZERO, |block| block.held))
}

/// What the acquirer says, as the rules want it; its identifier is for whoever opens it.
pub(super) fn new_infraction(acquirer: &AcquirerName, told: &UpstreamInfraction, now: Timestamp) -> NewInfraction {
    NewInfraction {
        id: InfractionId::new(Uuid::nil()),
        acquirer: acquirer.clone(),
        upstream_id: told.id.clone(),
        reason: told.reason.as_deref().map(|reason| long(reason, MAX_REASON)).filter(|reason| !reason.is_empty()),
        situation: told.situation,
        amount: told.amount,
        opened_at: whole_microseconds(told.opened_at).min(now),
        deadline_at: told.deadline_at.map(whole_microseconds),
    }
}

/// Whether this process has not said that of the infraction yet.
pub(super) fn is_news(acquirer: &AcquirerName, told: &UpstreamInfraction, why: &str) -> bool {
    first_time(acquirer, &told.id, why)
}

/// Tells an operator, once, of what cannot be followed.
pub(super) fn complain(acquirer: &AcquirerName, told: &UpstreamInfraction, why: &'static str) {
    if is_news(acquirer, told, why) {
        tracing::error!(
            alert = alerts::INFRACTION_CONTRADICTED, %acquirer, upstream = told.id, end_to_end_id = %told.end_to_end_id, amount = %told.amount,
            status = ?told.status, why, "what an acquirer says of an infraction is not believed: look at it"
        );
    }
}
