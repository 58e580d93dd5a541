//! All infractions, with indexes by id and by instant of opening. Steps change an infraction.

use std::{
    collections::{BTreeSet, HashMap},
    sync::Arc,
};

use jiff::Timestamp;
use serde::{Deserialize, Serialize};

use super::{
    Inconsistent, between,
    infraction::{Defense, Infraction, InfractionStatus},
};
use crate::wire;

/// A step of an infraction.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum InfractionStep {
    /// A defense was accepted.
    Defended(Defense),
    /// The client's request to defend the infraction was refused.
    DefenseRefused,
    /// The infraction was resolved or withdrawn.
    Ended {
        /// The new status.
        status: InfractionStatus,
        /// The instant.
        #[serde(with = "wire::micros")]
        at: Timestamp,
    },
    /// The infraction was reopened, and its analysis restarts.
    Reopened {
        /// The instant.
        #[serde(with = "wire::micros")]
        at: Timestamp,
    },
}

/// All infractions.
#[derive(Debug, Default)]
pub struct Infractions {
    all: Vec<Infraction>,
    by_id: HashMap<Arc<str>, usize>,
    by_opening: BTreeSet<(Timestamp, usize)>,
}

impl Infractions {
    /// Returns all infractions in the order of their creation.
    #[must_use]
    pub fn all(&self) -> &[Infraction] {
        &self.all
    }

    /// Returns the infraction with this id, and its position.
    #[must_use]
    pub fn find(&self, id: &str) -> Option<(usize, &Infraction)> {
        let position = *self.by_id.get(id)?;
        Some((position, self.all.get(position)?))
    }

    /// Returns the infractions opened in the inclusive period, oldest first, each with its position.
    pub fn between(&self, from: Timestamp, to: Timestamp) -> impl Iterator<Item = (usize, &Infraction)> {
        between(&self.by_opening, from, to)
            .filter_map(|position| self.all.get(position).map(|infraction| (position, infraction)))
    }

    pub(super) fn add(&mut self, infraction: Infraction) -> Result<(), Inconsistent> {
        if self.by_id.contains_key(&infraction.id) {
            return Err(Inconsistent("the id of the infraction exists already"));
        }
        let position = self.all.len();
        self.by_id.insert(infraction.id.clone(), position);
        self.by_opening.insert((infraction.opened_at, position));
        self.all.push(infraction);
        Ok(())
    }

    /// Applies a step. `refund` is the id of the return that the step causes, if any. Returns the infraction after the step.
    pub(super) fn step(
        &mut self,
        id: &str,
        step: InfractionStep,
        refund: Option<Box<str>>,
    ) -> Result<&Infraction, Inconsistent> {
        let position = *self.by_id.get(id).ok_or(MISSING)?;
        let infraction = self.all.get_mut(position).ok_or(MISSING)?;
        match step {
            InfractionStep::Defended(defense) => {
                infraction.status = InfractionStatus::Defended;
                infraction.defense = Some(defense);
                infraction.defenses += 1;
                infraction.requests += 1;
            }
            InfractionStep::DefenseRefused => infraction.requests += 1,
            InfractionStep::Ended { status, at } => {
                infraction.status = status;
                infraction.ended_at = Some(at);
                infraction.refunds.extend(refund);
            }
            InfractionStep::Reopened { at } => {
                self.by_opening.remove(&(infraction.opened_at, position));
                self.by_opening.insert((at, position));
                infraction.status = InfractionStatus::Open;
                infraction.opened_at = at;
                infraction.defense = None;
                infraction.ended_at = None;
            }
        }
        Ok(infraction)
    }
}

const MISSING: Inconsistent = Inconsistent("the infraction does not exist");
