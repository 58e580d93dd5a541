//! All sent Pix, found by `idEnvio`, end-to-end id or instant of acceptance. The Pix that are not final have an index of their own.

use std::{
    collections::{BTreeSet, HashMap},
    sync::Arc,
};

use jiff::Timestamp;

use super::{
    Inconsistent, between,
    sent::{SendOutcome, Sent, SentReturn},
};

/// All sent Pix.
#[derive(Debug, Default)]
pub struct Sends {
    all: Vec<Sent>,
    by_id: HashMap<Arc<str>, usize>,
    by_e2e: HashMap<Arc<str>, usize>,
    by_time: BTreeSet<(Timestamp, usize)>,
    /// The Pix that are not final: the instant at which the Pix becomes final, and the Pix's position in `all`.
    in_process: BTreeSet<(Timestamp, usize)>,
}

impl Sends {
    /// Returns all sent Pix, in order of acceptance.
    #[must_use]
    pub fn all(&self) -> &[Sent] {
        &self.all
    }

    /// Returns the sent Pix with this `idEnvio`, the client's id.
    #[must_use]
    pub fn find(&self, send_id: &str) -> Option<&Sent> {
        self.all.get(*self.by_id.get(send_id)?)
    }

    /// Returns the sent Pix with this end-to-end id.
    #[must_use]
    pub fn find_by_end_to_end_id(&self, end_to_end_id: &str) -> Option<&Sent> {
        self.all.get(*self.by_e2e.get(end_to_end_id)?)
    }

    /// Returns the return with this `rtrId`, and the sent Pix that was returned.
    #[must_use]
    pub fn find_return(&self, return_id: &str) -> Option<(&Sent, &SentReturn)> {
        let returns = self.all.iter().flat_map(|sent| sent.returns.iter().map(move |back| (sent, back)));
        returns.into_iter().find(|(_, back)| &*back.return_id == return_id)
    }

    /// Returns the sent Pix that were accepted in the period, oldest first. The period includes both ends.
    pub fn between(&self, from: Timestamp, to: Timestamp) -> impl Iterator<Item = &Sent> {
        between(&self.by_time, from, to).filter_map(|position| self.all.get(position))
    }

    /// Returns the instant at which the next sent Pix becomes final; `None` if all are final.
    #[must_use]
    pub fn next_due(&self) -> Option<Timestamp> {
        self.in_process.first().map(|(due, _)| *due)
    }

    /// Returns the first sent Pix whose final outcome is due by `now` and not recorded yet.
    #[must_use]
    pub fn find_due(&self, now: Timestamp) -> Option<&Sent> {
        let (due, position) = self.in_process.first()?;
        (*due <= now).then_some(())?;
        self.all.get(*position)
    }

    pub(super) fn add(&mut self, sent: Sent) -> Result<&Sent, Inconsistent> {
        if self.by_id.contains_key(&sent.send_id) || self.by_e2e.contains_key(&sent.end_to_end_id) {
            return Err(Inconsistent("the id of the sent Pix exists already"));
        }
        let position = self.all.len();
        self.by_id.insert(sent.send_id.clone(), position);
        self.by_e2e.insert(sent.end_to_end_id.clone(), position);
        self.by_time.insert((sent.requested_at, position));
        if sent.outcome == SendOutcome::Processing {
            self.in_process.insert((sent.settles_at, position));
        }
        self.all.push(sent);
        self.all.get(position).ok_or(MISSING)
    }

    pub(super) fn repeat(&mut self, send_id: &str) -> Result<(), Inconsistent> {
        self.sent_mut(send_id)?.1.requests += 1;
        Ok(())
    }

    pub(super) fn end(&mut self, send_id: &str, outcome: SendOutcome) -> Result<&Sent, Inconsistent> {
        let (position, sent) = self.sent_mut(send_id)?;
        if sent.outcome != SendOutcome::Processing {
            return Err(Inconsistent("the sent Pix has ended already"));
        }
        sent.outcome = outcome;
        let due = sent.settles_at;
        self.in_process.remove(&(due, position));
        self.all.get(position).ok_or(MISSING)
    }

    pub(super) fn return_sent(&mut self, send_id: &str, back: SentReturn) -> Result<&Sent, Inconsistent> {
        let (_, sent) = self.sent_mut(send_id)?;
        if sent.returnable().is_none_or(|left| back.amount > left) {
            return Err(Inconsistent("the returns exceed the amount of the sent Pix"));
        }
        sent.returns.push(back);
        Ok(sent)
    }

    fn sent_mut(&mut self, send_id: &str) -> Result<(usize, &mut Sent), Inconsistent> {
        let position = *self.by_id.get(send_id).ok_or(MISSING)?;
        Ok((position, self.all.get_mut(position).ok_or(MISSING)?))
    }
}

const MISSING: Inconsistent = Inconsistent("the sent Pix does not exist");
