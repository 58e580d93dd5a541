//! An empty store, and a second operator who always makes a change first.

use cais_domain::document::Document;
use cais_domain::merchant::account::{Account, Features};
use cais_domain::text::{LineBreaks, Text};
use cais_ports::acquirers::MockAcquirers;
use cais_ports::{AccountQueries as _, ChangeSet, Clock as _, Store as _, Write};
use cais_testkit::builders::an_account;
pub use cais_testkit::builders::an_operator as operator;
use cais_use_cases::Ports;
use cais_use_cases::accounts::AccountEmail;
use cais_use_cases::accounts::create::{CreateAccount, CreateAccountError, create};
use futures_util::FutureExt as _;

pub const EMAIL: &str = "shop@example.com";

cais_testkit::test_bed!();

impl TestBed {
    pub fn new() -> Self {
        // The mock expects no call. So a request to an acquirer makes the test fail.
        Self(cais_testkit::TestBed::empty(an_account()).with_acquirers(MockAcquirers::new()))
    }

    /// Creates a test bed with one account.
    pub async fn with_account() -> Self {
        let bed = Self::new();
        bed.create(EMAIL, true).await.unwrap();
        bed
    }

    pub async fn create(&self, email: &str, approve: bool) -> Result<Account, CreateAccountError> {
        let command = CreateAccount {
            email: self::email(email),
            name: name("Shop"),
            document: Document::parse("11.222.333/0001-81").unwrap(),
            approve,
        };
        create(&self.ports, &operator(), command).await
    }

    pub async fn stored(&self) -> Account {
        self.store.find_account_by_email(EMAIL).await.unwrap().unwrap()
    }

    /// Returns ports with a second operator. This operator changes the account just before each of the next `times`
    /// commits.
    pub fn raced(&self, times: u32) -> Ports {
        let (bed, mut left) = (self.0.clone(), times);
        let other = move || {
            let Some(still) = left.checked_sub(1) else { return };
            left = still;
            let account = bed.store.find_account_by_email(EMAIL).now_or_never().unwrap().unwrap().unwrap();
            let features = account.features.union(Features::parse("split").unwrap());
            let mut change = ChangeSet::new(bed.clock.now());
            change.writes.push(Write::update(Account { features, ..account }));
            bed.store.commit(change).now_or_never().unwrap().unwrap();
        };
        self.before_commits(other).ports
    }
}

pub fn email(text: &str) -> AccountEmail {
    AccountEmail::parse(text).unwrap()
}

pub fn name(text: &str) -> Text {
    Text::parse(text, 200, LineBreaks::Refused).unwrap()
}
