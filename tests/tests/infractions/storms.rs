//! Infractions during concurrent movements of money: nothing is blocked twice, lent or lost.

use futures_util::future::join_all;
use serde_json::json;

use super::{balances, dispute, held, resolve};
use crate::support::{Engine, eventually, id, on_both, shared};

on_both! { concurrent_payouts_and_block_never_overdraw concurrent_infractions_and_payments_add_up }

async fn concurrent_payouts_and_block_never_overdraw(engine: Engine) {
    let node = shared(engine).await;
    let shop = node.shop();
    let charge = shop.earn("100").await;
    let payouts = join_all((0..64).map(|_| {
        let shop = shop.clone();
        async move { shop.pay_out("2", "ana@example.com").await }
    }));
    let (replies, opened) = tokio::join!(payouts, dispute(&shop, &charge));
    let made: Vec<String> = replies.iter().filter(|reply| reply.status == 201).map(|reply| id(&reply.json())).collect();
    for reply in replies.iter().filter(|reply| reply.status != 201) {
        reply.refused(422, "insufficient_balance");
    }
    for payout in &made {
        shop.until_payout(payout, "completed").await;
    }
    let spent = 200 * i64::try_from(made.len()).unwrap();
    assert_eq!(balances(&shop).await, [0, 0, 10_000 - spent], "the whole rest is held");
    assert_eq!(held(&shop, &opened).await, 10_000 - spent);
    // The rest is blocked from the next credits.
    if spent > 0 {
        shop.pay(&shop.charge_id("200").await, None).await.expect(200);
        eventually("the shortfall is blocked", || async {
            (balances(&shop).await == [20_000 - spent, 0, 10_000]).then_some(())
        })
        .await;
    }
    shop.check_statement().await;
    node.verify();
}

async fn concurrent_infractions_and_payments_add_up(engine: Engine) {
    let node = shared(engine).await;
    let shop = node.shop();
    let charges: Vec<String> = join_all((0..6).map(|_| shop.earn("10"))).await;
    // Each charge is disputed twice and resolved, while money comes in and goes out.
    let disputes = charges.iter().enumerate().map(|(number, charge)| {
        let shop = shop.clone();
        async move {
            let (first, second) = tokio::join!(dispute(&shop, charge), dispute(&shop, charge));
            let outcome = ["won", "lost", "cancelled"][number % 3];
            tokio::join!(resolve(&shop, &first, outcome), resolve(&shop, &second, "cancelled"));
            (first, second)
        }
    });
    let payments = join_all((0..10).map(|_| shop.earn("5")));
    let payouts = join_all((0..10).map(|_| {
        let shop = shop.clone();
        async move { shop.pay_out("3", "fail@sandbox.cais").await.status }
    }));
    let (all, _, _) = tokio::join!(join_all(disputes), payments, payouts);
    eventually("all balances are final", || async {
        // Two infractions were lost, 10 each unless a sibling held a part. All payouts failed.
        let [available, pending, blocked] = balances(&shop).await;
        ((9_000..=11_000).contains(&available) && pending == 0 && blocked == 0).then_some(())
    })
    .await;
    for (first, second) in &all {
        assert_eq!((held(&shop, first).await, held(&shop, second).await), (0, 0));
    }
    assert!(shop.all("/infractions?status=open&limit=200").await.is_empty());
    let settled = shop.all("/infractions?limit=200").await;
    assert_eq!(settled.len(), 12);
    let ends = shop.all("/events?limit=200").await;
    let ends = ends.iter().filter(|event| {
        ["infraction.won", "infraction.lost", "infraction.cancelled"].contains(&event["type"].as_str().unwrap())
    });
    assert_eq!(ends.count(), 12, "each ends once");
    assert_ne!(json!(null), settled[0]["resolved_at"]);
    shop.check_statement().await;
    node.verify();
}
