//! An empty store, and users with an authenticator.

use std::sync::Arc;
use std::time::Duration;

use cais_domain::document::Document;
use cais_domain::login::code::step_at;
use cais_domain::text::{LineBreaks, Text};
use cais_ports::{Actor, Clock as _, LoginQueries as _, OneTimeCodes as _, Secret, SigningSecret, Totp, User};
use cais_testkit::builders::an_account;
use cais_testkit::{ManualClock, MemoryStore, PlainCodes, PlainPasswords};
use cais_use_cases::accounts::{AccountEmail, approve};
use cais_use_cases::logins::invite::create_operator;
use cais_use_cases::logins::log_in::{NewSession, log_in};
use cais_use_cases::logins::sign_up::{SignUp, SignUpError, sign_up};
use cais_use_cases::logins::use_link::use_link;
use cais_use_cases::logins::{Browser, LoginError, Logins, Visitor, enrol, sessions};

pub const EMAIL: &str = "ana@shop.example";
pub const PASSWORD: &str = "correct horse battery";

pub struct TestBed {
    pub logins: Logins,
    /// The acquirers and the balance of the account.
    pub base: cais_testkit::TestBed,
    pub store: Arc<MemoryStore>,
    pub clock: Arc<ManualClock>,
    pub passwords: Arc<PlainPasswords>,
}

impl TestBed {
    pub fn new() -> Self {
        let base = cais_testkit::TestBed::empty(an_account());
        let passwords = Arc::new(PlainPasswords::default());
        let logins = Logins::new(base.ports.clone(), passwords.clone(), Arc::new(PlainCodes));
        let (store, clock) = (base.store.clone(), base.clock.clone());
        Self { logins, base, store, clock, passwords }
    }

    pub async fn sign_up(&self, email: &str, password: &str) -> Result<(), SignUpError> {
        let command = SignUp {
            email: self::email(email),
            name: name("Shop"),
            document: Document::parse("11.222.333/0001-81").unwrap(),
            password: Secret::new(password),
        };
        sign_up(&self.logins, &browser(), command).await
    }

    pub async fn log_in(&self, email: &str, password: &str) -> Result<NewSession, LoginError> {
        log_in(&self.logins, &browser(), email, &Secret::new(password)).await
    }

    /// Returns a user who signed up, enrolled an authenticator and is logged in.
    pub async fn visitor(&self, email: &str) -> Visitor {
        self.sign_up(email, PASSWORD).await.unwrap();
        self.enrolled(email).await
    }

    /// Returns an operator who enrolled an authenticator and is logged in.
    pub async fn operator(&self, email: &str) -> Visitor {
        let link = create_operator(&self.logins.ports, &operator(), self::email(email)).await.unwrap().expose();
        use_link(&self.logins, &browser(), &link, &Secret::new(PASSWORD)).await.unwrap();
        self.enrolled(email).await
    }

    async fn enrolled(&self, email: &str) -> Visitor {
        let first = self.log_in(email, PASSWORD).await.unwrap();
        let visitor = self.found(&first).await.unwrap();
        let code = self.code(&visitor.user, 0);
        let enrolled = enrol::confirm(&self.logins, &browser(), &visitor, &code).await.unwrap();
        self.clock.advance(Duration::from_secs(30));
        self.found(&enrolled.created).await.unwrap()
    }

    /// Returns the visitor and the environment of the visitor's account. The account is approved and has R$ 10,000.00.
    pub async fn shop(&self, email: &str) -> (Visitor, cais_testkit::TestBed) {
        let visitor = self.visitor(email).await;
        let account = approve::approve(&self.logins.ports, &operator(), &self::email(email)).await.unwrap();
        let base = cais_testkit::TestBed { account, ..self.base.clone() };
        base.adjust_available(1_000_000).await;
        (visitor, base)
    }

    pub async fn found(&self, session: &NewSession) -> Option<Visitor> {
        sessions::find(&self.logins, &session.token.expose(), false).await.unwrap()
    }

    pub async fn user(&self, email: &str) -> User {
        self.store.find_user_by_email(email).await.unwrap().unwrap()
    }

    /// Returns the code of the user's authenticator `ahead` steps from now.
    pub fn code(&self, user: &User, ahead: i64) -> String {
        let secret = self.secret(user);
        format!("{:06}", PlainCodes.code(&secret, step_at(self.clock.now()) + ahead).0)
    }

    fn secret(&self, user: &User) -> SigningSecret {
        let sealed = match &user.totp {
            Totp::Missing => panic!("the user has no authenticator"),
            Totp::Enrolling { secret } | Totp::Enrolled { secret, .. } => secret,
        };
        self.logins.ports.secret_cipher.decrypt(&user.id.to_string(), sealed).unwrap()
    }
}

pub fn browser() -> Browser {
    Browser { address: Some("192.0.2.7".parse().unwrap()), agent: "Test\u{1b}/1".to_owned() }
}

pub fn email(text: &str) -> AccountEmail {
    AccountEmail::parse(text).unwrap()
}

pub fn name(text: &str) -> Text {
    Text::parse(text, 200, LineBreaks::Refused).unwrap()
}

pub fn operator() -> Actor {
    Actor { name: "ana".to_owned(), source: "cli".to_owned(), host: "node-1".to_owned() }
}
