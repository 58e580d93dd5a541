//! Tests splits: the parts are rounded down, the remainder is the creator's, and the sum is the net amount.

use cais_domain::allocate::{Allocation, AllocationError, allocate};
use cais_domain::money::Money;
use proptest::prelude::*;

use crate::rate::percentage;

#[test]
fn parts_are_floored_and_remainder_stays() {
    let money = Money::from_centavos;
    for (net, shares, parts, remainder) in [
        (1_000, vec![333_333, 333_333, 333_333], vec![333, 333, 333], 1),
        (1_001, vec![500_000, 500_000], vec![500, 500], 1),
        (99, vec![10_000], vec![0], 99),
        (10_000, vec![1_000_000], vec![10_000], 0),
        (10_000, vec![], vec![], 10_000),
        (0, vec![500_000], vec![0], 0),
    ] {
        let shares: Vec<_> = shares.into_iter().map(percentage).collect();
        let expected = Allocation { parts: parts.into_iter().map(money).collect(), remainder: money(remainder) };
        assert_eq!(allocate(money(net), &shares), Ok(expected), "{net}");
    }
}

#[test]
fn shares_above_whole_and_negative_net_are_refused() {
    let shares = [percentage(600_000), percentage(400_001)];
    assert_eq!(allocate(Money::from_centavos(1_000), &shares), Err(AllocationError::SharesAboveWhole));
    assert_eq!(allocate(Money::from_centavos(-1), &[]), Err(AllocationError::NegativeNet));
}

#[test]
fn parts_with_another_sum_are_detected() {
    let mut allocation = allocate(Money::from_centavos(1_000), &[percentage(100_000)]).unwrap();
    assert_eq!(allocation.conserves(Money::from_centavos(1_000)), Ok(true));
    assert_eq!(allocation.conserves(Money::from_centavos(1_001)), Ok(false));
    allocation.parts = vec![Money::from_centavos(1_100)];
    allocation.remainder = Money::from_centavos(-100);
    assert_eq!(allocation.conserves(Money::from_centavos(1_000)), Ok(false));
}

proptest! {
    #[test]
    fn conserves_every_centavo(net in 0_i64..=i64::MAX, cuts in proptest::collection::vec(0_u32..=200_000, 0..=5)) {
        let shares: Vec<_> = cuts.into_iter().map(percentage).collect();
        let net = Money::from_centavos(net);
        let Allocation { parts, remainder } = allocate(net, &shares).unwrap();
        prop_assert_eq!(parts.len(), shares.len());
        prop_assert!(parts.iter().all(|part| !part.is_negative()) && !remainder.is_negative());
        prop_assert_eq!(Money::sum(parts.into_iter().chain([remainder])), Ok(net));
    }
}
