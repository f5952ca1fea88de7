use super::super::conformance::{Harness, Note, every_queue};
use super::*;
use crate::Disposition;
use std::time::Duration;

struct Local;

#[async_trait]
impl Harness for Local {
    type Queue = LocalQueue<Note>;

    async fn fresh(&self) -> Arc<LocalQueue<Note>> {
        Arc::new(LocalQueue::new(100))
    }

    async fn cramped(&self) -> Arc<LocalQueue<Note>> {
        Arc::new(LocalQueue::new(10))
    }

    fn silence(&self) -> Duration {
        Duration::from_millis(1)
    }

    fn delay(&self) -> Duration {
        Duration::from_secs(30)
    }
}

#[tokio::test(start_paused = true)]
async fn queue_conforms() {
    every_queue(&Local).await;
}

async fn publish(queue: &LocalQueue<Note>, name: &str) -> Result<(), QueueError> {
    queue.publish(Note::new(name), Priority::Normal).await
}

async fn next(subscription: &mut Box<dyn Subscription<Note>>) -> Delivery<Note> {
    subscription.next().await.unwrap().unwrap()
}

#[tokio::test(start_paused = true)]
async fn a_closed_queue_refuses_new_messages_and_ends_when_it_is_empty() {
    let queue = LocalQueue::new(100);
    publish(&queue, "last").await.unwrap();
    queue.close();
    let refused = publish(&queue, "late").await;
    assert!(matches!(refused, Err(QueueError::Closed)), "{refused:?}");
    let mut subscription = queue.subscribe(1).await.unwrap();
    next(&mut subscription).await.acknowledge().await.unwrap();
    assert!(subscription.next().await.unwrap().is_none());
    let mut another = queue.subscribe(1).await.unwrap();
    assert!(another.next().await.unwrap().is_none());
}

#[tokio::test(start_paused = true)]
async fn closed_queue_waits_for_delayed_and_unacknowledged_messages() {
    let queue = LocalQueue::new(100);
    publish(&queue, "slow").await.unwrap();
    let mut holder = queue.subscribe(1).await.unwrap();
    let mut idle = queue.subscribe(1).await.unwrap();
    let out = next(&mut holder).await;
    queue.close();
    assert!(by_hand(idle.next()).poll_once().is_none(), "a message that is out may come back");
    out.end(Disposition::RetryAfter(Duration::from_secs(30))).await.unwrap();
    let again = next(&mut idle).await;
    assert_eq!(*again.message, Note::new("slow"));
    drop(again);
    let dead = next(&mut idle).await;
    let (ends, ended) =
        tokio::join!(holder.next(), dead.end(Disposition::DeadLetter("enough".into())));
    ended.unwrap();
    assert!(ends.unwrap().is_none());
    assert!(idle.next().await.unwrap().is_none());
}

#[tokio::test(start_paused = true)]
async fn publishing_to_a_full_queue_waits_for_a_settled_message() {
    let queue = LocalQueue::new(1);
    publish(&queue, "one").await.unwrap();
    let mut subscription = queue.subscribe(1).await.unwrap();
    let out = subscription.next().await.unwrap().unwrap();
    let mut second = by_hand(publish(&queue, "two"));
    assert!(second.poll_once().is_none(), "a message that is out takes room");
    out.end(Disposition::RetryAfter(Duration::from_secs(5))).await.unwrap();
    assert!(second.poll_once().is_none(), "a delayed message takes room");
    subscription.next().await.unwrap().unwrap().acknowledge().await.unwrap();
    assert!(matches!(second.poll_once(), Some(Ok(()))));
    assert_eq!(queue.held(), 1);
}

#[tokio::test(start_paused = true)]
async fn closing_refuses_a_waiting_publisher() {
    let queue = LocalQueue::new(1);
    publish(&queue, "one").await.unwrap();
    let mut second = by_hand(publish(&queue, "two"));
    assert!(second.poll_once().is_none());
    queue.close();
    assert!(matches!(second.poll_once(), Some(Err(QueueError::Closed))));
    assert_eq!(queue.held(), 1);
}

#[tokio::test(start_paused = true)]
async fn cancelled_publisher_leaves_no_message() {
    let queue = LocalQueue::new(1);
    publish(&queue, "one").await.unwrap();
    let mut second = by_hand(publish(&queue, "two"));
    assert!(second.poll_once().is_none());
    drop(second);
    let mut subscription = queue.subscribe(1).await.unwrap();
    subscription.next().await.unwrap().unwrap().acknowledge().await.unwrap();
    queue.close();
    assert!(subscription.next().await.unwrap().is_none());
}

#[tokio::test(start_paused = true)]
async fn cancelled_receiver_takes_no_message_and_no_prefetch_slot() {
    let queue = LocalQueue::new(10);
    let mut subscription = queue.subscribe(1).await.unwrap();
    for name in ["one", "two"] {
        let mut waiting = by_hand(subscription.next());
        assert!(waiting.poll_once().is_none());
        publish(&queue, name).await.unwrap();
        drop(waiting);
        let delivery = subscription.next().await.unwrap().unwrap();
        assert_eq!(*delivery.message, Note::new(name));
        delivery.acknowledge().await.unwrap();
    }
}

#[tokio::test(start_paused = true)]
async fn out_of_range_delay_is_refused_and_the_message_requeued() {
    let queue = LocalQueue::new(10);
    publish(&queue, "one").await.unwrap();
    let mut subscription = queue.subscribe(1).await.unwrap();
    let delivery = subscription.next().await.unwrap().unwrap();
    let refused = delivery.end(Disposition::RetryAfter(Duration::MAX)).await;
    assert!(matches!(refused, Err(QueueError::Refused(_))));
    assert!(subscription.next().await.unwrap().unwrap().redelivered);
}

#[tokio::test(start_paused = true)]
async fn requeued_messages_fit_into_a_full_queue_and_keep_it_open() {
    let queue = LocalQueue::new(1);
    let returns = queue.returns();
    publish(&queue, "one").await.unwrap();
    returns.publish(Note::new("back"), Priority::Normal).await.unwrap();
    assert_eq!(queue.held(), 2);
    let mut subscription = queue.subscribe(2).await.unwrap();
    subscription.next().await.unwrap().unwrap().acknowledge().await.unwrap();
    let mut second = by_hand(publish(&queue, "two"));
    assert!(second.poll_once().is_none(), "the one that came back takes the slot");
    drop(second);
    queue.close();
    let mut drained = by_hand(returns.drained());
    assert!(drained.poll_once().is_none());
    subscription.next().await.unwrap().unwrap().acknowledge().await.unwrap();
    assert!(drained.poll_once().is_some());
    drop(drained);

    let mut end = by_hand(subscription.next());
    assert!(end.poll_once().is_none(), "more may come back");
    returns.publish(Note::new("late"), Priority::Normal).await.unwrap();
    assert!(!returns.is_drained());
    let late = end.poll_once().unwrap().unwrap().unwrap();
    drop(end);
    late.acknowledge().await.unwrap();
    let mut end = by_hand(subscription.next());
    assert!(end.poll_once().is_none());
    drop(returns);
    assert!(end.poll_once().unwrap().unwrap().is_none());
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn no_wake_up_is_lost_under_contention() {
    const MESSAGES: usize = 2_000;
    let queue = LocalQueue::new(3);
    let mut receivers = tokio::task::JoinSet::new();
    for _ in 0..4 {
        let mut subscription = queue.subscribe(1).await.unwrap();
        receivers.spawn(async move {
            let mut acknowledged = 0;
            while let Some(delivery) = subscription.next().await.unwrap() {
                if delivery.redelivered {
                    delivery.acknowledge().await.unwrap();
                    acknowledged += 1;
                } else {
                    let retry = Disposition::RetryAfter(Duration::ZERO);
                    delivery.end(retry).await.unwrap();
                }
            }
            acknowledged
        });
    }
    for number in 0..MESSAGES {
        publish(&queue, &number.to_string()).await.unwrap();
    }
    queue.close();
    assert_eq!(receivers.join_all().await.into_iter().sum::<usize>(), MESSAGES);
}

/// A future that is polled by hand, with a waker that does nothing.
struct ByHand<F>(std::pin::Pin<Box<F>>);

fn by_hand<F: Future>(future: F) -> ByHand<F> {
    ByHand(Box::pin(future))
}

impl<F: Future> ByHand<F> {
    fn poll_once(&mut self) -> Option<F::Output> {
        let mut context = std::task::Context::from_waker(std::task::Waker::noop());
        match self.0.as_mut().poll(&mut context) {
            std::task::Poll::Ready(output) => Some(output),
            std::task::Poll::Pending => None,
        }
    }
}
