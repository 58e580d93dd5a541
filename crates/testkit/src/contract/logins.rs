//! Users, sessions and confirmations are read back exactly as written, and change only in their changeable fields.

use cais_domain::merchant::api_key::{KeyPrefix, Scopes};
use cais_domain::merchant::webhook::SealedSecret;
use cais_domain::money::Money;
use cais_domain::text::{LineBreaks, Text};
use cais_ports::{
    CommitError, Confirmation, ConfirmationState, Invitation, PasswordHash, PendingAction, PruneBefore, Role,
    SecretHash, Session, SessionStage, Totp, User, Write,
};

use super::Harness;
use super::harness::after_s;
use crate::builders::{fresh, start, steps};

fn a_user(role: Role) -> User {
    let id = fresh();
    User {
        id,
        email: format!("{}@shop.example", id.suffix()),
        role,
        password: None,
        totp: Totp::Missing,
        invitation: None,
        created_at: start(),
        version: 0,
    }
}

fn a_session(user: &User) -> Session {
    Session {
        id: fresh(),
        user: user.id,
        account: user.role.account(),
        keyed_hash: SecretHash([9; 32]),
        stage: SessionStage::Complete,
        address: "2001:db8::1".to_owned(),
        agent: "Mozilla/5.0 (X11) 'é'".to_owned(),
        created_at: start(),
        expires_at: after_s(1_000),
        seen_at: start(),
        wrong_codes: 0,
        sent_without_code: Money::from_centavos(99_999),
        ended_at: None,
        version: 0,
    }
}

fn a_confirmation(session: &Session, action: PendingAction) -> Confirmation {
    Confirmation {
        id: fresh(),
        user: session.user,
        account: session.account,
        session: session.id,
        action,
        created_at: start(),
        expires_at: after_s(600),
        state: ConfirmationState::Open,
        wrong_codes: 0,
        version: 0,
    }
}

async fn insert(h: &mut Harness, write: Write) {
    h.commit_ok(steps::write(write, start())).await;
}

/// Merchants and operators are read back with every state of the authenticator and of the invitation.
pub async fn users_come_back_in_every_state(h: &mut Harness) {
    let account = h.account().await;
    let secret = || SealedSecret(vec![0, 255, 7]);
    for role in [Role::Merchant(account.id), Role::Operator] {
        let mut user = a_user(role);
        insert(h, Write::insert(user.clone())).await;
        user.version = 1;
        for (totp, invitation) in [
            (Totp::Enrolling { secret: secret() }, None),
            (Totp::Enrolled { secret: secret(), last_step: i64::MAX, recovery: Vec::new() }, None),
            (
                Totp::Enrolled {
                    secret: secret(),
                    last_step: 0,
                    recovery: vec![SecretHash([1; 32]), SecretHash([2; 32])],
                },
                Some(Invitation { hash: SecretHash([3; 32]), expires_at: after_s(5) }),
            ),
            (Totp::Missing, None),
        ] {
            assert_eq!(h.store.find_user(user.id).await.unwrap().as_ref(), Some(&user));
            assert_eq!(h.store.find_user_by_email(&user.email).await.unwrap().as_ref(), Some(&user));
            user = User { totp, invitation, password: Some(PasswordHash("$argon2id$x".to_owned())), ..user };
            insert(h, Write::update(user.clone())).await;
            user.version += 1;
        }
        let stale = h.commit(steps::write(Write::update(User { version: 1, ..user }), start())).await;
        assert_eq!(stale.unwrap_err(), CommitError::Stale);
    }
    assert_eq!(h.store.find_user(fresh()).await.unwrap(), None);
    assert_eq!(h.store.find_user_by_email("no@shop.example").await.unwrap(), None);
}

/// The list has the open sessions of one user, newest first. An ended or expired session is found by its id only.
pub async fn sessions_come_back_and_are_listed(h: &mut Harness) {
    let user = a_user(Role::Merchant(h.account().await.id));
    let mut open = Vec::new();
    for stage in SessionStage::ALL {
        let session = Session { stage, ..a_session(&user) };
        insert(h, Write::insert(session.clone())).await;
        open.insert(0, Session { version: 1, ..session });
    }
    insert(h, Write::insert(a_session(&a_user(Role::Operator)))).await;
    assert_eq!(h.store.list_sessions(user.id, after_s(999)).await.unwrap(), open);
    assert_eq!(h.store.list_sessions(user.id, after_s(1_000)).await.unwrap(), []);
    let newest = open.remove(0);
    let ended = Session {
        seen_at: after_s(60),
        wrong_codes: 5,
        sent_without_code: Money::ZERO,
        ended_at: Some(after_s(61)),
        ..newest
    };
    insert(h, Write::update(ended.clone())).await;
    assert_eq!(h.store.list_sessions(user.id, start()).await.unwrap(), open);
    let found = h.store.find_session(ended.id).await.unwrap();
    assert_eq!(found.as_ref(), Some(&Session { version: 2, ..ended.clone() }));
    let stale = h.commit(steps::write(Write::update(ended), start())).await;
    assert_eq!(stale.unwrap_err(), CommitError::Stale);
}

/// Confirmations are read back with every action in every state.
pub async fn confirmations_come_back(h: &mut Harness) {
    let session = a_session(&a_user(Role::Merchant(h.account().await.id)));
    let name = Text::parse("caixa 1, \u{1F980}", 50, LineBreaks::Refused).unwrap();
    let create = |expires_in_days| PendingAction::CreateKey {
        name: name.clone(),
        scopes: Scopes::all(),
        expires_in_days,
        allowed_addresses: vec!["10.0.0.0/8".to_owned()],
    };
    let revoke = PendingAction::RevokeKey { prefix: KeyPrefix::parse("ABCdef123456").unwrap() };
    for action in [create(None), create(Some(30)), revoke] {
        let mut confirmation = a_confirmation(&session, action);
        insert(h, Write::insert(confirmation.clone())).await;
        confirmation.version = 1;
        for state in ConfirmationState::ALL {
            confirmation = Confirmation { state, wrong_codes: confirmation.wrong_codes + 1, ..confirmation };
            insert(h, Write::update(confirmation.clone())).await;
            confirmation.version += 1;
            let found = h.store.find_confirmation(confirmation.id).await.unwrap();
            assert_eq!(found.as_ref(), Some(&confirmation));
        }
        let stale = h.commit(steps::write(Write::update(Confirmation { version: 1, ..confirmation }), start())).await;
        assert_eq!(stale.unwrap_err(), CommitError::Stale);
    }
}

/// Pruning removes sessions and confirmations that have expired.
pub async fn old_sessions_and_confirmations_are_removed(h: &mut Harness) {
    let session = a_session(&a_user(Role::Operator));
    let confirmation =
        a_confirmation(&session, PendingAction::RevokeKey { prefix: KeyPrefix::parse("ABCdef123456").unwrap() });
    insert(h, Write::insert(session.clone())).await;
    insert(h, Write::insert(confirmation.clone())).await;
    for (marks_s, has_session, has_confirmation) in [(600, true, true), (601, true, false), (1_001, false, false)] {
        let marks = after_s(marks_s);
        let before = PruneBefore { idempotency_records: start(), marks, events: start(), requests: start() };
        h.store.prune(before).await.unwrap();
        assert_eq!(h.store.find_session(session.id).await.unwrap().is_some(), has_session, "{marks_s}");
        assert_eq!(h.store.find_confirmation(confirmation.id).await.unwrap().is_some(), has_confirmation, "{marks_s}");
    }
}
