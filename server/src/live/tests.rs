use super::*;
use juror_types::outcome::Outcome;
use progress::{FinishedResult, MAX_RECENT};

fn finished(number: u64) -> FinishedResult {
    FinishedResult {
        number,
        screenshot_id: format!("item{number}"),
        repeat: 0,
        outcome: Outcome::Scored,
        score: Some(0.9),
        cost_usd: juror_types::usage::Money::ZERO,
        error: None,
        simulated: false,
    }
}

fn state(results: u64) -> Arc<LiveState> {
    let first = results.saturating_sub(MAX_RECENT as u64) + 1;
    let recent = (first..=results).map(finished).collect();
    Arc::new(LiveState { is_read: true, results, recent, ..LiveState::default() })
}

fn follower(seen: Option<u64>, first: LiveState) -> (watch::Sender<Arc<LiveState>>, Follower) {
    let (sender, states) = watch::channel(Arc::new(first));
    (sender, Follower { states, seen, has_received: false })
}

#[tokio::test]
async fn a_new_follower_receives_the_state_and_then_updates() {
    let (sender, mut follower) = follower(None, LiveState::default());
    sender.send_replace(state(3));
    let update = follower.next().await.unwrap();
    assert_eq!((update.state.results, update.new, update.missed), (3, 0, 0));
    sender.send_replace(state(5));
    let update = follower.next().await.unwrap();
    assert_eq!((update.state.results, update.new, update.missed), (5, 2, 0));
    drop(sender);
    assert!(follower.next().await.is_none(), "the run has ended");
}

#[tokio::test]
async fn a_reconnected_follower_receives_what_it_has_not_seen() {
    let (_sender, mut follower) = follower(Some(2), LiveState::clone(&state(5)));
    let update = follower.next().await.unwrap();
    assert_eq!((update.new, update.missed), (3, 0));
}

#[tokio::test]
async fn a_slow_follower_skips_states_and_counts_missed_results() {
    let (sender, mut follower) = follower(Some(0), LiveState::default());
    for results in 1..=1_000 {
        sender.send_replace(state(results));
    }
    let update = follower.next().await.unwrap();
    assert_eq!((update.new, update.missed), (MAX_RECENT, 1_000 - MAX_RECENT as u64));
    let first_new = &update.state.recent[update.state.recent.len() - update.new];
    assert_eq!(first_new.number, update.missed + 1);
}

#[tokio::test]
async fn the_last_state_is_received_after_the_watcher_has_ended() {
    let (sender, mut follower) = follower(None, LiveState::default());
    sender.send_replace(state(1));
    drop(sender);
    assert_eq!(follower.next().await.unwrap().state.results, 1);
    assert!(follower.next().await.is_none());
}
