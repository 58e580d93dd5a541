//! Facts about the installation. The first start records them, and later starts cannot change them.

use cais_ports::QueryError;

use crate::Persistence;
use crate::error::Fault;
use crate::sql::{Query, Session};

/// A fact that has one value for the life of a database.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Fact {
    /// The kind of money: play money of the sandbox, or real money.
    World,
    /// A keyed hash of a constant. A different hash reveals a different master key.
    MasterKeyCheck,
}

impl Fact {
    const fn name(self) -> &'static str {
        match self {
            Self::World => "world",
            Self::MasterKeyCheck => "master_key_check",
        }
    }
}

impl Persistence {
    /// Returns the recorded value of a fact; `None` before the first start recorded one.
    ///
    /// # Errors
    /// [`QueryError`].
    pub async fn find_fact(&self, fact: Fact) -> Result<Option<String>, QueryError> {
        self.pool().read(move |session| recorded(session, fact)).await
    }

    /// Records `value` unless the fact has a value already. Returns the recorded value. If several nodes start at once, the first value is
    /// recorded.
    ///
    /// # Errors
    /// [`QueryError`].
    pub async fn record_fact(&self, fact: Fact, value: String) -> Result<String, QueryError> {
        if let Some(recorded) = self.find_fact(fact).await? {
            return Ok(recorded);
        }
        let engine = self.engine();
        let recording = tokio::task::spawn_blocking(move || {
            let mut session = engine.connect_writer()?;
            let insert = "INSERT INTO installation_facts (name, value) VALUES (?, ?) ON CONFLICT (name) DO NOTHING";
            session.execute(&Query::new(insert).bind(fact.name()).bind(value.as_str()))?;
            let recorded = recorded(&mut *session, fact)?;
            recorded.ok_or_else(|| Fault::Corrupt(format!("the fact {} was not recorded", fact.name())))
        });
        let recorded = recording.await.map_err(|error| QueryError::Unavailable(error.to_string()))?;
        Ok(recorded?)
    }
}

pub(crate) fn recorded(session: &mut dyn Session, fact: Fact) -> Result<Option<String>, Fault> {
    let query = Query::new("SELECT value FROM installation_facts WHERE name = ?").bind(fact.name());
    Ok(session.load(&query)?.pop())
}
