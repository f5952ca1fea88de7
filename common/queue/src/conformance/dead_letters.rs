//! Checks of dead letters.

use super::{Harness, expect_next, expect_silence, publish};
use crate::{DeadLetters, Disposition, Priority, Queue};
use std::collections::BTreeSet;

pub(super) async fn dead_letter_keeps_its_reason_until_replayed(harness: &impl Harness) {
    let queue = harness.fresh().await;
    publish(&*queue, "poison", Priority::High).await;
    let mut subscription = queue.subscribe(1).await.unwrap();
    let delivery = expect_next(&mut subscription).await;
    delivery.end(Disposition::DeadLetter("killed five workers".into())).await.unwrap();
    expect_silence(harness, &mut subscription).await;
    let dead = queue.list().await.unwrap();
    let [letter] = dead.as_slice() else { panic!("one dead letter expected: {dead:?}") };
    assert_eq!((letter.message.0.as_str(), letter.priority), ("poison", Priority::High));
    assert_eq!(letter.reason, "killed five workers");
    assert_eq!(queue.replay(&ids("another")).await.unwrap(), 0);
    assert_eq!(queue.replay(&ids("poison")).await.unwrap(), 1);
    assert!(queue.list().await.unwrap().is_empty());
    let again = expect_next(&mut subscription).await;
    assert_eq!((again.message.0.as_str(), again.priority), ("poison", Priority::High));
    again.acknowledge().await.unwrap();
}

pub(super) async fn completed_dead_letter_is_deleted_and_no_other(harness: &impl Harness) {
    let queue = harness.fresh().await;
    let mut subscription = queue.subscribe(1).await.unwrap();
    for name in ["one", "two", "one"] {
        publish(&*queue, name, Priority::Normal).await;
        let delivery = expect_next(&mut subscription).await;
        delivery.end(Disposition::DeadLetter("killed five workers".into())).await.unwrap();
    }
    assert_eq!(queue.remove_dead_letters(&|note| note.0 == "three").await.unwrap(), 0);
    assert_eq!(queue.remove_dead_letters(&|note| note.0 == "one").await.unwrap(), 2);
    let left = queue.list().await.unwrap();
    assert_eq!(left.iter().map(|dead| dead.message.0.as_str()).collect::<Vec<_>>(), ["two"]);
    expect_silence(harness, &mut subscription).await;
}

/// A set of one message id.
fn ids(id: &str) -> BTreeSet<String> {
    BTreeSet::from([id.to_owned()])
}
