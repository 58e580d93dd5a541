//! Tests callbacks of acquirers.

use cais_ports::{ChangeSet, Clock as _, Store as _, Write};
use cais_testkit::builders::a_callback;
use cais_use_cases::callbacks;

use super::bed::TOKEN;
use super::*;

const TXID: &str = "7978c0c97ea847e78e8849634473c1f1";

#[actix_web::test]
async fn callback_is_stored_as_its_ids_and_wakes_the_worker() {
    let bed = TestBed::new().await;
    for path in [format!("/callbacks/main/{TOKEN}"), format!("/callbacks/main/{TOKEN}/pix")] {
        let seen = send(&bed, TestRequest::post().uri(&path).set_payload(TXID)).await;
        assert_eq!((seen.status, seen.body.len()), (200, 0), "{path}");
        // The wait returns at once, because the worker was notified before.
        bed.state.wake.callbacks.notified().await;
    }
    let callbacks = bed.store.callbacks();
    assert_eq!(callbacks.len(), 1, "the second callback is a repeat");
    assert!(callbacks.iter().all(|callback| callback.body == format!("received {TXID} - -").as_bytes()));
}

#[actix_web::test]
async fn malformed_callback_is_rejected_before_it_is_stored() {
    let bed = TestBed::new().await;
    for body in ["", "garbage", "<html>"] {
        let seen = send(&bed, TestRequest::post().uri(&format!("/callbacks/main/{TOKEN}")).set_payload(body)).await;
        assert_eq!(seen.error(), (400, "VALIDATION_ERROR".to_owned()), "{body}");
        let message = seen.at("/error/message").to_string();
        assert!(message.contains("the body is refused: "), "{message}");
    }
    assert!(bed.store.callbacks().is_empty());
}

#[actix_web::test]
async fn callback_with_wrong_signature_is_not_stored() {
    let bed = TestBed::new().await;
    let uri = format!("/callbacks/main/{TOKEN}");
    let signed = |signature: &str| {
        TestRequest::post().uri(&uri).insert_header(("X-Test-Signature", signature)).set_payload(TXID)
    };
    assert_eq!(send(&bed, signed("bad")).await.error(), (400, "VALIDATION_ERROR".to_owned()));
    assert!(bed.store.callbacks().is_empty());
    assert_eq!(send(&bed, signed("good")).await.status, 200);
    assert_eq!(bed.store.callbacks().len(), 1);
}

#[actix_web::test]
async fn wrong_token_is_answered_before_the_body_is_read() {
    let bed = TestBed::new().await;
    let large = vec![b'x'; 1024 * 1024 + 1];
    for (token, status) in [("other", 404), (TOKEN, 413)] {
        let request = TestRequest::post().uri(&format!("/callbacks/main/{token}")).set_payload(large.clone());
        assert_eq!(send(&bed, request).await.status, status, "{token}");
    }
}

#[actix_web::test]
async fn callback_to_unknown_path_is_404() {
    let bed = TestBed::new().await;
    for request in [
        TestRequest::post().uri("/callbacks/main/other"),
        TestRequest::post().uri("/callbacks/other/callback-token"),
        TestRequest::post().uri("/callbacks/main/callback-token/other"),
        TestRequest::get().uri("/callbacks/main/callback-token"),
        TestRequest::put().uri("/callbacks/main/callback-token/pix"),
        TestRequest::post().uri("/callbacks/main"),
    ] {
        assert_eq!(send(&bed, request).await.error(), (404, "not_found".to_owned()));
    }
    assert!(bed.store.callbacks().is_empty());
}

#[actix_web::test]
async fn callback_is_503_while_the_store_is_unreachable() {
    let bed = TestBed::new().await;
    let path = format!("/callbacks/main/{TOKEN}");
    let large = vec![b'x'; 1024 * 1024 + 1];
    assert_eq!(send(&bed, TestRequest::post().uri(&path).set_payload(large)).await.status, 413);
    bed.store.set_unreachable(true);
    assert_eq!(
        send(&bed, TestRequest::post().uri(&path).set_payload(TXID)).await.error(),
        (503, "service_unavailable".to_owned())
    );
}

#[actix_web::test]
async fn callback_beyond_the_limit_of_open_ones_is_503() {
    let bed = TestBed::new().await;
    let mut many = ChangeSet::new(bed.clock.now());
    many.writes.extend((0..100_000).map(|_| Write::insert(a_callback())));
    bed.store.commit(many).await.unwrap();
    callbacks::count(&bed.state.ports).await.unwrap();
    let path = format!("/callbacks/main/{TOKEN}");
    let seen = send(&bed, TestRequest::post().uri(&path).set_payload(TXID)).await;
    assert_eq!(seen.error(), (503, "service_unavailable".to_owned()));
    assert_eq!(seen.at("/error/retry_after"), 60);
    assert_eq!(bed.store.callbacks().len(), 100_000);
}
