use crate::test_site::{TestSite, get, router_of};
use futures_util::FutureExt as _;
use std::time::Duration;
use tokio::time::timeout;

const HTML: (&str, &str) = ("accept", "text/html");

#[tokio::test(start_paused = true)]
async fn a_page_that_takes_too_long_says_so() {
    let site = TestSite::new();
    let router = site.add("stuck", 1, 1, true).open();
    let page = get(&router, "/runs/stuck/items/item%200%2Fa", &[HTML]);
    let page = timeout(Duration::from_secs(3_600), page).await.unwrap();
    assert_eq!((page.status.as_u16(), page.header("retry-after")), (503, "10"));
    assert!(page.body.contains("longer than 30 seconds"), "{}", page.body);
    assert!(page.body.contains("aria-label=\"Pages\""), "{}", page.body);
}

#[tokio::test]
async fn comparisons_stand_in_line_and_beyond_it_are_put_off() {
    let test = TestSite::new();
    let site = test.add("base", 1, 3, true).add("head", 2, 3, true).site();
    let router = router_of(site.clone(), None, None);
    let turns = &site.comparisons.turns;
    let held = [turns.take().await.unwrap(), turns.take().await.unwrap()];
    let mut line: Vec<_> = (0..8).map(|_| Box::pin(turns.take())).collect();
    assert!(line.iter_mut().all(|one| one.as_mut().now_or_never().is_none()));
    let query = "compare?base=base&head=head";
    for (path, headers) in [(format!("/{query}"), &[HTML][..]), (format!("/api/v1/{query}"), &[])] {
        let busy = get(&router, &path, headers).await;
        assert_eq!((busy.status.as_u16(), busy.header("retry-after")), (503, "5"), "{}", busy.body);
        assert!(busy.body.contains("too many runs are being compared"), "{}", busy.body);
    }
    drop((held, line));
    assert_eq!(get(&router, &format!("/{query}"), &[HTML]).await.status, 200);
    // What is kept needs no turn.
    let _held = [turns.take().await.unwrap(), turns.take().await.unwrap()];
    assert_eq!(get(&router, &format!("/api/v1/{query}"), &[]).await.status, 200);
}
