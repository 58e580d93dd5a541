//! Tests of the stored form of actions.
#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

use cais_domain::ids::InfractionId;
use cais_domain::review_decision::InfractionDecision;
use uuid::Uuid;

use super::*;

fn payout(key: &str, description: Option<&str>, external_id: Option<&str>) -> PendingAction {
    PendingAction::SendPayout {
        amount: Money::from_centavos(123_456),
        pix_key: PixKey::parse(key).unwrap(),
        description: description.map(|text| Text::parse(text, 140, LineBreaks::Refused).unwrap()),
        external_id: external_id.map(|text| ExternalId::parse(text).unwrap()),
    }
}

#[test]
fn action_is_parsed_back_from_its_kind_and_terms() {
    let name = |text| Text::parse(text, 100, LineBreaks::Refused).unwrap();
    for action in [
        PendingAction::CreateKey {
            name: name("caixa, loja"),
            scopes: Scopes::all(),
            expires_in_days: None,
            allowed_addresses: vec!["203.0.113.0/24".to_owned(), "2001:db8::/32".to_owned()],
        },
        PendingAction::CreateKey {
            name: name(""),
            scopes: Scopes::all(),
            expires_in_days: Some(30),
            allowed_addresses: Vec::new(),
        },
        PendingAction::RevokeKey { prefix: KeyPrefix::parse("ABCdef123456").unwrap() },
        PendingAction::RotateSecret { endpoint: EndpointId::new(Uuid::nil()), grace_s: 3_600 },
        PendingAction::MoveEndpoint {
            endpoint: EndpointId::new(Uuid::nil()),
            url: WebhookUrl::parse("https://shop.example/hooks?a=1,2").unwrap(),
            subscription: Subscription::parse(["charge.paid", "payout.failed"]).unwrap(),
            description: Some(Text::parse("a\n\nb", 100, LineBreaks::Allowed).unwrap()),
        },
        PendingAction::MoveEndpoint {
            endpoint: EndpointId::new(Uuid::nil()),
            url: WebhookUrl::parse("https://shop.example/hooks").unwrap(),
            subscription: Subscription::parse(["*"]).unwrap(),
            description: None,
        },
        PendingAction::RenewRecoveryCodes,
        payout("ana@bank.example", Some("nota 7"), Some("order-7")),
        payout("+5511987654321", None, Some("order-7")),
        payout("12345678909", Some("nota 7"), None),
        payout("123e4567-e89b-12d3-a456-426655440000", None, None),
        PendingAction::SendWithdrawal {
            amount: Money::from_centavos(10_001),
            address: Address::parse(Currency::UsdtErc20, "0x52908400098527886E0F7030069857D2E4169EE7").unwrap(),
            description: None,
            external_id: Some(ExternalId::parse("w-1").unwrap()),
        },
        PendingAction::SendRefund {
            charge: ChargeId::new(Uuid::nil()),
            payment: None,
            amount: Money::from_centavos(1),
            reason: None,
        },
        PendingAction::SendRefund {
            charge: ChargeId::new(Uuid::nil()),
            payment: Some(EndToEndId::parse("E00416968202401011234abcdefghijk").unwrap()),
            amount: Money::from_centavos(250),
            reason: Some(Text::parse("cold\n\ncoffee", 140, LineBreaks::Allowed).unwrap()),
        },
        PendingAction::ChangeAccount { account: AccountId::new(Uuid::nil()), seen: 1, change: AccountChange::Suspend },
        PendingAction::ChangeAccount {
            account: AccountId::new(Uuid::nil()),
            seen: 7,
            change: AccountChange::ReleaseDelay(60),
        },
        PendingAction::Decide {
            decision: ReviewDecision::Infraction {
                id: InfractionId::new(Uuid::nil()),
                seen: 2,
                decision: InfractionDecision::Lost(None),
            },
            note: name("asked the acquirer"),
        },
    ] {
        assert_eq!(PendingAction::parse(action.kind(), &action.terms()), Some(action));
    }
    for (kind, terms) in [
        ("key.create", "all"),
        ("key.create", "all\nx\n\nname"),
        ("key.create", "all\n30\nname"),
        ("key.revoke", "-"),
        ("refund.send", "chg_00000000000000000000000000\n\n1.00"),
        ("refund.send", "chg_00000000000000000000000000\nx\n1.00\n"),
        ("payout.send", "10.00\nemail\nana@bank.example\n"),
        ("payout.send", "10.00\nemail\nana@bank.example\n\n\nmore"),
        ("payout.send", "10.00\ncpf\nana@bank.example\n\n"),
        ("crypto_withdrawal.send", "10.00\nusdttrc20\nx\n\n"),
        ("crypto_payment.resolve", "p\n1\n1\ndismiss"),
        ("crypto_payment.resolve", "p\n1\n1\ndismiss\n"),
        ("user.renew_recovery_codes", "x"),
        ("x", ""),
    ] {
        assert_eq!(PendingAction::parse(kind, terms), None, "{kind} {terms}");
    }
}
