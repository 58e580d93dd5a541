//! The book of infractions: by id, by the time of their opening, and how each changes.

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

/// One step of an infraction.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum InfractionStep {
    /// It was defended.
    Defended(Defense),
    /// A request for a defence was refused.
    DefenseRefused,
    /// It was decided or withdrawn.
    Ended {
        /// As what.
        status: InfractionStatus,
        /// When.
        #[serde(with = "wire::micros")]
        at: Timestamp,
    },
    /// It was opened again, and its analysis begins anew.
    Reopened {
        /// When.
        #[serde(with = "wire::micros")]
        at: Timestamp,
    },
}

/// Every infraction.
#[derive(Debug, Default)]
pub struct Infractions {
    all: Vec<Infraction>,
    by_id: HashMap<Arc<str>, usize>,
    by_opening: BTreeSet<(Timestamp, usize)>,
}

impl Infractions {
    /// Every one, in the order in which they came into being.
    #[must_use]
    pub fn all(&self) -> &[Infraction] {
        &self.all
    }

    /// The one with this id, and its position.
    #[must_use]
    pub fn find(&self, id: &str) -> Option<(usize, &Infraction)> {
        let position = *self.by_id.get(id)?;
        Some((position, self.all.get(position)?))
    }

    /// Those opened between both instants, inclusive, oldest first, each with its position.
    pub fn between(&self, from: Timestamp, to: Timestamp) -> impl Iterator<Item = (usize, &Infraction)> {
        between(&self.by_opening, from, to)
            .filter_map(|position| self.all.get(position).map(|infraction| (position, infraction)))
    }

    pub(super) fn add(&mut self, infraction: Infraction) -> Result<(), Inconsistent> {
        if self.by_id.contains_key(&infraction.id) {
            return Err(Inconsistent("id of an infraction twice"));
        }
        let position = self.all.len();
        self.by_id.insert(infraction.id.clone(), position);
        self.by_opening.insert((infraction.opened_at, position));
        self.all.push(infraction);
        Ok(())
    }

    /// Carries out a step; `refund` is the return that it made. The infraction after it.
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

const MISSING: Inconsistent = Inconsistent("no such infraction");
