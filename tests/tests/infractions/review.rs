//! Infractions that an operator decides, because the acquirer acted while the service was down.

use serde_json::json;

use super::{balances, fetch, held};
use crate::support::{Engine, Institution, borrowed, centavos, eventually, id, on_both, own};

on_both! { unexplained_return_waits_for_an_operator }

async fn unexplained_return_waits_for_an_operator(engine: Engine) {
    let psp = Institution::start();
    let environment = psp.environment("main");
    let mut node = own(engine, &borrowed(&environment)).await;
    let shop = node.shop();
    eventually("the callback address is registered", || psp.callback_url()).await;
    let charge = shop.charge("20").await;
    let pix = psp.pay(charge["txid"].as_str().unwrap()).await;
    shop.until_available("20.00").await;
    let upstream = psp.dispute(&pix, &json!({ "valor": "15.00" })).await;
    let opened =
        eventually("the infraction is listed", || async { shop.all("/infractions?limit=200").await.pop() }).await;
    let name = id(&opened);
    let refused = ["infraction", "resolve", &name, "--outcome", "won", "--note", "x"];
    let (code, printed) = node.cais.cli_raw(&refused).unwrap();
    assert!(code == Some(1) && printed.contains("not marked for review"), "{printed}");

    // Money is returned, and the dispute is reopened and rejected, while the service is down.
    node.cais.kill9().unwrap();
    for outcome in ["lost", "reopened", "won"] {
        psp.resolve(&upstream, outcome).await;
    }
    node.cais.launch().await.unwrap();
    let shop = node.again(&shop);
    let marked = eventually("the infraction is marked", || async {
        let listed = node.cli(&["infraction", "list", "--needs-review"]);
        listed["data"].as_array().unwrap().first().cloned()
    })
    .await;
    assert_eq!((id(&marked), &marked["review_reason"]), (id(&opened), &json!("unexplained_return")));
    assert!(node.cais.log().contains("infraction_needs_review"));
    let shown = fetch(&shop, &opened).await;
    assert_eq!((&shown["status"], &shown["resolved_at"]), (&json!("open"), &json!(null)));
    assert_eq!(shown.get("needs_review"), None, "the API shows the contract's fields only");
    assert_eq!((balances(&shop).await, held(&shop, &opened).await), ([500, 0, 1_500], 1_500));

    let decide = |amount: &'static str| {
        ["infraction", "resolve", &name, "--outcome", "lost", "--lost-amount", amount, "--note", "as returned"]
            .map(ToOwned::to_owned)
    };
    let too_much = decide("15.01");
    let (code, printed) = node.cais.cli_raw(&too_much.each_ref().map(String::as_str)).unwrap();
    assert!(code == Some(1) && printed.contains("above the contested amount"), "{printed}");
    let resolved = node.cli(&decide("15").each_ref().map(String::as_str));
    assert_eq!(
        (&resolved["status"], &resolved["needs_review"], centavos(&resolved["held"])),
        (&json!("lost"), &json!(false), 0)
    );
    assert_eq!(balances(&shop).await, [500, 0, 0]);
    assert_eq!(node.cli(&["infraction", "list", "--needs-review"])["data"], json!([]));
    let audit = node.cli(&["audit", "list", "--action", "infraction.resolve"]);
    let rows = audit["data"].as_array().unwrap();
    assert_eq!((rows.len(), rows[0]["subject"].as_str()), (1, Some(id(&opened).as_str())), "{audit}");
    assert_eq!(rows[0]["after"]["note"], "as returned");
    shop.check_statement().await;
    node.verify();
}
