//! What acquirers call.

use super::world::TOKEN;
use super::*;

#[actix_web::test]
async fn a_callback_is_kept_byte_for_byte_and_the_worker_is_woken() {
    let world = World::new().await;
    for path in [format!("/callbacks/main/{TOKEN}"), format!("/callbacks/main/{TOKEN}/pix")] {
        let seen = send(&world, TestRequest::post().uri(&path).set_payload("{\"pix\":[]} ")).await;
        assert_eq!((seen.status, seen.body.len()), (200, 0), "{path}");
        // It returns at once because the bell was rung before.
        world.state.wake.notices.rung().await;
    }
    let notices = world.store.notices();
    assert_eq!(notices.len(), 2);
    assert!(notices.iter().all(|notice| notice.body == b"{\"pix\":[]} "));
}

#[actix_web::test]
async fn whoever_does_not_know_the_path_finds_nothing() {
    let world = World::new().await;
    for request in [
        TestRequest::post().uri("/callbacks/main/other"),
        TestRequest::post().uri("/callbacks/other/callback-token"),
        TestRequest::post().uri("/callbacks/main/callback-token/other"),
        TestRequest::get().uri("/callbacks/main/callback-token"),
        TestRequest::put().uri("/callbacks/main/callback-token/pix"),
        TestRequest::post().uri("/callbacks/main"),
    ] {
        assert_eq!(send(&world, request).await.error(), (404, "not_found".to_owned()));
    }
    assert!(world.store.notices().is_empty());
}

#[actix_web::test]
async fn what_cannot_be_kept_is_called_again() {
    let world = World::new().await;
    let path = format!("/callbacks/main/{TOKEN}");
    let large = vec![b'x'; 1024 * 1024 + 1];
    assert_eq!(send(&world, TestRequest::post().uri(&path).set_payload(large)).await.status, 413);
    world.store.set_unreachable(true);
    assert_eq!(send(&world, TestRequest::post().uri(&path)).await.error(), (503, "service_unavailable".to_owned()));
}
