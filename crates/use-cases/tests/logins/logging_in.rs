//! A login needs the password and a new code. Its session ends in time.

use std::time::Duration;

use cais_ports::{LoginQueries as _, Secret, SessionStage, Totp};
use cais_use_cases::logins::use_link::SetPasswordError;
use cais_use_cases::logins::{Browser, LoginError, code, enrol, log_in, password, sessions};

use crate::bed::{EMAIL, PASSWORD, TestBed, browser};

#[tokio::test]
async fn unknown_email_is_refused_like_a_wrong_password() {
    let bed = TestBed::new();
    bed.sign_up(EMAIL, PASSWORD).await.unwrap();
    let mut work = Vec::new();
    for (email, password) in [(EMAIL, "wrong password"), ("no@shop.example", PASSWORD), ("not an e-mail", PASSWORD)] {
        let before = bed.passwords.hashed();
        assert_eq!(bed.log_in(email, password).await.unwrap_err(), LoginError::Refused, "{email}");
        work.push(bed.passwords.hashed() - before);
    }
    assert_eq!(work, [1, 1, 1]);
}

#[tokio::test]
async fn attempts_are_limited_for_known_and_unknown_emails() {
    let bed = TestBed::new();
    bed.sign_up("other@shop.example", PASSWORD).await.unwrap();
    bed.visitor(EMAIL).await;
    for email in [EMAIL, "no@shop.example"] {
        for _ in 0..10 {
            assert_eq!(bed.log_in(email, "wrong password").await.unwrap_err(), LoginError::Refused);
        }
        assert_eq!(bed.log_in(email, PASSWORD).await.unwrap_err(), LoginError::Throttled, "{email}");
    }
    assert!(bed.log_in("other@shop.example", PASSWORD).await.is_ok(), "other e-mails are free");
    bed.clock.advance(Duration::from_mins(5));
    assert!(bed.log_in(EMAIL, PASSWORD).await.is_ok());
}

#[tokio::test]
async fn attempts_from_one_address_are_limited() {
    let bed = TestBed::new();
    let attempt = async |number: u32, address: &str| {
        let browser = Browser { address: Some(address.parse().unwrap()), agent: String::new() };
        let email = format!("{number}@shop.example");
        log_in::log_in(&bed.logins, &browser, &email, &Secret::new(PASSWORD)).await.unwrap_err()
    };
    for number in 0..60 {
        assert_eq!(attempt(number, "198.51.100.1").await, LoginError::Refused);
    }
    assert_eq!(attempt(60, "198.51.100.1").await, LoginError::Throttled);
    assert_eq!(attempt(60, "198.51.100.2").await, LoginError::Refused);
}

#[tokio::test]
async fn password_alone_opens_no_complete_session() {
    let bed = TestBed::new();
    let visitor = bed.visitor(EMAIL).await;
    let begun = bed.log_in(EMAIL, PASSWORD).await.unwrap();
    let half = bed.found(&begun).await.unwrap();
    assert_eq!(half.session.stage, SessionStage::Password);
    let code = bed.code(&visitor.user, 0);
    let complete = code::enter(&bed.logins, &browser(), &half, &code).await.unwrap();
    assert_eq!(bed.found(&begun).await, None, "the first session ended");
    assert_ne!(complete.token.expose(), begun.token.expose());
    let found = bed.found(&complete).await.unwrap();
    assert_eq!((found.session.stage, found.session.agent.as_str()), (SessionStage::Complete, "Test/1"));
}

#[tokio::test]
async fn used_code_is_refused_at_the_next_login() {
    let bed = TestBed::new();
    let visitor = bed.visitor(EMAIL).await;
    let code = bed.code(&visitor.user, 0);
    for expected in [Ok(()), Err(LoginError::Refused)] {
        let half = bed.found(&bed.log_in(EMAIL, PASSWORD).await.unwrap()).await.unwrap();
        let entered = code::enter(&bed.logins, &browser(), &half, &code).await;
        assert_eq!(entered.map(drop), expected);
    }
    // The code of the enrolment is older.
    let half = bed.found(&bed.log_in(EMAIL, PASSWORD).await.unwrap()).await.unwrap();
    let older = bed.code(&visitor.user, -1);
    assert_eq!(code::enter(&bed.logins, &browser(), &half, &older).await.map(drop), Err(LoginError::Refused));
}

#[tokio::test]
async fn fifth_wrong_code_ends_the_login() {
    let bed = TestBed::new();
    let visitor = bed.visitor(EMAIL).await;
    let begun = bed.log_in(EMAIL, PASSWORD).await.unwrap();
    let half = bed.found(&begun).await.unwrap();
    for expected in
        [LoginError::Refused, LoginError::Refused, LoginError::Refused, LoginError::Refused, LoginError::LastCode]
    {
        let refused = code::enter(&bed.logins, &browser(), &half, "999999").await.unwrap_err();
        assert_eq!(refused, expected);
    }
    let code = bed.code(&visitor.user, 0);
    let refused = code::enter(&bed.logins, &browser(), &half, &code).await.unwrap_err();
    assert_eq!(refused, LoginError::Over);
    assert_eq!(bed.found(&begun).await, None);
}

#[tokio::test]
async fn wrong_codes_of_many_logins_are_limited() {
    let bed = TestBed::new();
    bed.visitor(EMAIL).await;
    let mut tried = 0;
    'logins: for _ in 0..20 {
        let Ok(begun) = bed.log_in(EMAIL, PASSWORD).await else { break };
        let half = bed.found(&begun).await.unwrap();
        for _ in 0..5 {
            let half = bed.found(&begun).await.unwrap_or(half.clone());
            let refused = code::enter(&bed.logins, &browser(), &half, "999999").await.unwrap_err();
            if refused == LoginError::Throttled {
                break 'logins;
            }
            tried += 1;
            if refused == LoginError::LastCode {
                break;
            }
        }
    }
    assert!((1..=15).contains(&tried), "{tried} codes");
}

#[tokio::test]
async fn recovery_code_replaces_the_authenticator_once() {
    let bed = TestBed::new();
    bed.sign_up(EMAIL, PASSWORD).await.unwrap();
    let half = bed.found(&bed.log_in(EMAIL, PASSWORD).await.unwrap()).await.unwrap();
    let code = bed.code(&half.user, 0);
    let enrolled = enrol::confirm(&bed.logins, &browser(), &half, &code).await.unwrap();
    assert_eq!(enrolled.recovery_codes.len(), 10);
    let recovery = enrolled.recovery_codes.first().unwrap().to_uppercase();
    for expected in [Ok(()), Err(LoginError::Refused)] {
        let half = bed.found(&bed.log_in(EMAIL, PASSWORD).await.unwrap()).await.unwrap();
        let entered = code::enter(&bed.logins, &browser(), &half, &recovery).await;
        assert_eq!(entered.map(drop), expected);
    }
    let Totp::Enrolled { recovery, .. } = bed.user(EMAIL).await.totp else { panic!("not enrolled") };
    assert_eq!(recovery.len(), 9);
}

#[tokio::test]
async fn enrolment_needs_a_code_of_the_latest_secret() {
    let bed = TestBed::new();
    bed.sign_up(EMAIL, PASSWORD).await.unwrap();
    let first = bed.found(&bed.log_in(EMAIL, PASSWORD).await.unwrap()).await.unwrap();
    let old = bed.code(&first.user, 0);
    let half = bed.found(&bed.log_in(EMAIL, PASSWORD).await.unwrap()).await.unwrap();
    let refused = enrol::confirm(&bed.logins, &browser(), &half, &old).await.unwrap_err();
    assert_eq!(refused, LoginError::Refused);
    let code = bed.code(&half.user, 0);
    enrol::confirm(&bed.logins, &browser(), &half, &code).await.unwrap();
    let again = bed.found(&bed.log_in(EMAIL, PASSWORD).await.unwrap()).await.unwrap();
    assert_eq!(enrol::pending_secret(&bed.logins, &again.user).unwrap_err(), LoginError::Over);
    let refused = enrol::confirm(&bed.logins, &browser(), &again, &code).await.unwrap_err();
    assert_eq!(refused, LoginError::Over, "the authenticator is not replaced");
}

#[tokio::test]
async fn session_ends_when_idle_and_after_its_longest_life() {
    let bed = TestBed::new();
    bed.visitor(EMAIL).await;
    let half = bed.found(&bed.log_in(EMAIL, PASSWORD).await.unwrap()).await.unwrap();
    let code = bed.code(&half.user, 0);
    let session = code::enter(&bed.logins, &browser(), &half, &code).await.unwrap();
    for _ in 0..13 {
        bed.clock.advance(Duration::from_mins(50));
        assert!(bed.found(&session).await.is_some(), "each use keeps the session");
    }
    bed.clock.advance(Duration::from_hours(1));
    assert_eq!(bed.found(&session).await, None, "idle for an hour");
    bed.clock.set(session.session.created_at);
    bed.store.find_session(session.session.id).await.unwrap().unwrap();
    bed.clock.set(session.session.expires_at);
    assert_eq!(bed.found(&session).await, None, "twelve hours old");
}

#[tokio::test]
async fn cookie_without_the_right_secret_names_no_session() {
    let bed = TestBed::new();
    bed.visitor(EMAIL).await;
    let begun = bed.log_in(EMAIL, PASSWORD).await.unwrap();
    let whole = begun.token.expose();
    let (id, secret) = whole.split_once('.').unwrap();
    let wrong = format!("{id}.{}", "0".repeat(secret.len()));
    for cookie in [wrong.as_str(), id, secret, "", ".", "ses_x.y", &whole[..whole.len() - 1]] {
        assert_eq!(sessions::find(&bed.logins, cookie, false).await.unwrap(), None, "{cookie}");
    }
    assert!(sessions::find(&bed.logins, &whole, false).await.unwrap().is_some());
}

/// A login that verified the old password must fail after the password was changed.
#[tokio::test]
async fn login_changes_the_version_of_the_user() {
    let bed = TestBed::new();
    bed.visitor(EMAIL).await;
    let before = bed.user(EMAIL).await;
    bed.log_in(EMAIL, PASSWORD).await.unwrap();
    let after = bed.user(EMAIL).await;
    assert!(after.version > before.version);
    assert_eq!((after.totp, after.password), (before.totp, before.password));
}

#[tokio::test]
async fn user_lists_and_ends_own_sessions_only() {
    let bed = TestBed::new();
    let (ana, bia) = (bed.visitor(EMAIL).await, bed.visitor("bia@shop.example").await);
    let listed = sessions::list(&bed.logins, &ana).await.unwrap();
    assert_eq!(listed.iter().map(|session| session.id).collect::<Vec<_>>(), [ana.session.id]);
    let refused = sessions::end(&bed.logins, &ana, bia.session.id).await.unwrap_err();
    assert_eq!(refused, LoginError::Over);
    for _ in 0..2 {
        sessions::end(&bed.logins, &ana, ana.session.id).await.unwrap();
    }
    assert_eq!(sessions::list(&bed.logins, &ana).await.unwrap(), []);
    assert_eq!(sessions::list(&bed.logins, &bia).await.unwrap().len(), 1);
}

#[tokio::test]
async fn changed_password_ends_other_sessions() {
    let bed = TestBed::new();
    let visitor = bed.visitor(EMAIL).await;
    let other = bed.log_in(EMAIL, PASSWORD).await.unwrap();
    let change = async |present: &str, new: &str| {
        let (present, new) = (Secret::new(present), Secret::new(new));
        password::change(&bed.logins, &browser(), &visitor, &present, &new).await
    };
    let refused = change("wrong password", "a new long password").await.unwrap_err();
    assert_eq!(refused, SetPasswordError::Login(LoginError::Refused));
    change(PASSWORD, "a new long password").await.unwrap();
    assert_eq!(bed.found(&other).await, None);
    assert_eq!(sessions::list(&bed.logins, &visitor).await.unwrap().len(), 1);
    assert_eq!(bed.log_in(EMAIL, PASSWORD).await.unwrap_err(), LoginError::Refused);
    assert!(bed.log_in(EMAIL, "a new long password").await.is_ok());
}
