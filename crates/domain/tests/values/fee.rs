//! Tests fees: the fixed part and the percentage, the limits, and that a fee is at most the amount.

use cais_domain::fee::{FeeRule, FeeRuleError, FeeSchedule, Operation};
use cais_domain::money::Money;
use proptest::prelude::*;

use crate::rate::percentage;

fn money(centavos: i64) -> Money {
    Money::from_centavos(centavos)
}

#[test]
fn fee_is_fixed_part_plus_percentage_within_limits() {
    let plain = FeeRule::try_new(money(50), percentage(9_900), None, None).unwrap();
    let limited = FeeRule::try_new(Money::ZERO, percentage(10_000), Some(money(100)), Some(money(500))).unwrap();
    for (rule, amount, expected) in [
        (&plain, 10_000, 149),
        (&plain, 5_000, 100),
        (&plain, 30, 30),
        (&plain, 0, 0),
        (&plain, -100, 0),
        (&limited, 200, 100),
        (&limited, 50, 50),
        (&limited, 20_000, 200),
        (&limited, 1_000_000, 500),
    ] {
        assert_eq!(rule.fee(money(amount)), Ok(money(expected)), "{amount}");
    }
    assert_eq!(FeeRule::free().fee(money(10_000)), Ok(Money::ZERO));
}

#[test]
fn contradictory_fee_rule_is_refused() {
    let zero = percentage(0);
    assert_eq!(FeeRule::try_new(money(-1), zero.clone(), None, None), Err(FeeRuleError::Negative));
    assert_eq!(FeeRule::try_new(money(0), zero.clone(), Some(money(-1)), None), Err(FeeRuleError::Negative));
    assert_eq!(FeeRule::try_new(money(0), zero.clone(), None, Some(money(-1))), Err(FeeRuleError::Negative));
    assert_eq!(FeeRule::try_new(money(0), zero, Some(money(2)), Some(money(1))), Err(FeeRuleError::MinAboveMax));
}

#[test]
fn schedule_keeps_one_rule_per_operation() {
    for changed in Operation::ALL {
        let rule = FeeRule::try_new(money(7), percentage(0), None, None).unwrap();
        let schedule = FeeSchedule::default().with(changed, rule.clone());
        for operation in Operation::ALL {
            let expected = if operation == changed { rule.clone() } else { FeeRule::free() };
            assert_eq!(schedule.get(operation), &expected);
        }
        assert_eq!(Operation::parse(changed.as_str()), Some(changed));
    }
    assert_eq!(Operation::parse("PIX_IN"), None);
}

proptest! {
    #[test]
    fn fee_is_never_negative_nor_above_the_amount(
        amount in 0_i64..=99_999_999_999_999,
        fixed in 0_i64..=100_000,
        ten_thousandths in 0_u32..=1_000_000,
        limits in proptest::option::of((0_i64..=100_000, 0_i64..=100_000)),
    ) {
        let (min, max) = limits.map(|(a, b)| (money(a.min(b)), money(a.max(b)))).unzip();
        let fee = FeeRule::try_new(money(fixed), percentage(ten_thousandths), min, max).unwrap().fee(money(amount)).unwrap();
        prop_assert!(!fee.is_negative() && fee <= money(amount));
        prop_assert!(max.is_none_or(|max| fee <= max));
        prop_assert!(min.is_none_or(|min| fee >= min.min(money(amount))));
    }

    #[test]
    fn fee_never_falls_when_the_amount_rises(amount in 0_i64..=1_000_000, more in 0_i64..=1_000_000, ten_thousandths in 0_u32..=1_000_000) {
        let rule = FeeRule::try_new(money(50), percentage(ten_thousandths), None, None).unwrap();
        prop_assert!(rule.fee(money(amount)).unwrap() <= rule.fee(money(amount + more)).unwrap());
    }
}
