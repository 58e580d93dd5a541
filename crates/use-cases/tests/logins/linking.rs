//! Links that a user can open once: for a new operator, and after a lost password.

use std::time::Duration;

use cais_ports::{Role, Secret, Totp};
use cais_use_cases::logins::invite::{InviteError, create_operator, login_link};
use cais_use_cases::logins::use_link::{SetPasswordError, use_link};
use cais_use_cases::logins::{LoginError, use_link as links};

use crate::bed::{EMAIL, PASSWORD, TestBed, browser, email, operator};

const NEW: &str = "a new long password";

#[tokio::test]
async fn operator_sets_a_password_with_a_link_once() {
    let bed = TestBed::new();
    let ports = &bed.logins.ports;
    let link = create_operator(ports, &operator(), email("ops@cais.example")).await.unwrap().expose();
    assert_eq!(bed.log_in("ops@cais.example", NEW).await.unwrap_err(), LoginError::Refused);
    use_link(&bed.logins, &browser(), &link, &Secret::new(NEW)).await.unwrap();
    let refused = use_link(&bed.logins, &browser(), &link, &Secret::new(NEW)).await.unwrap_err();
    assert_eq!(refused, SetPasswordError::Login(LoginError::Over));
    let begun = bed.log_in("ops@cais.example", NEW).await.unwrap();
    let visitor = bed.found(&begun).await.unwrap();
    assert_eq!((visitor.user.role, visitor.session.account), (Role::Operator, None));
    let twice = create_operator(ports, &operator(), email("ops@cais.example")).await.unwrap_err();
    assert_eq!(twice, InviteError::Exists(email("ops@cais.example")));
}

#[tokio::test]
async fn link_replaces_password_and_authenticator_and_ends_sessions() {
    let bed = TestBed::new();
    let visitor = bed.visitor(EMAIL).await;
    let link = login_link(&bed.logins.ports, &operator(), email(EMAIL)).await.unwrap().expose();
    assert!(bed.log_in(EMAIL, PASSWORD).await.is_ok(), "the old password is valid until the link is used");
    use_link(&bed.logins, &browser(), &link, &Secret::new(NEW)).await.unwrap();
    assert_eq!(bed.user(EMAIL).await.totp, Totp::Missing);
    let open = cais_use_cases::logins::sessions::list(&bed.logins, &visitor).await.unwrap();
    assert_eq!(open, []);
    assert_eq!(bed.log_in(EMAIL, PASSWORD).await.unwrap_err(), LoginError::Refused);
    assert!(bed.log_in(EMAIL, NEW).await.is_ok());
}

#[tokio::test]
async fn account_of_the_command_line_gets_its_first_login_by_link() {
    let bed = TestBed::new();
    let ports = &bed.logins.ports;
    let missing = login_link(ports, &operator(), email(EMAIL)).await.unwrap_err();
    assert_eq!(missing, InviteError::NotFound(email(EMAIL)));
    let command = cais_use_cases::accounts::create::CreateAccount {
        email: email(EMAIL),
        name: crate::bed::name("Shop"),
        document: cais_domain::document::Document::parse("12345678909").unwrap(),
        approve: true,
    };
    let account = cais_use_cases::accounts::create::create(ports, &operator(), command).await.unwrap();
    let link = login_link(ports, &operator(), email(EMAIL)).await.unwrap().expose();
    let again = login_link(ports, &operator(), email(EMAIL)).await.unwrap().expose();
    assert_eq!(links::find(&bed.logins, &link).await.unwrap_err(), LoginError::Over, "a newer link replaces it");
    assert_eq!(links::find(&bed.logins, &again).await.unwrap().role, Role::Merchant(account.id));
}

#[tokio::test]
async fn link_is_over_after_a_day() {
    let bed = TestBed::new();
    let link = create_operator(&bed.logins.ports, &operator(), email("ops@cais.example")).await.unwrap().expose();
    bed.clock.advance(Duration::from_hours(24));
    let refused = use_link(&bed.logins, &browser(), &link, &Secret::new(NEW)).await.unwrap_err();
    assert_eq!(refused, SetPasswordError::Login(LoginError::Over));
}
