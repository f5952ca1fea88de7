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
    (sender, Follower { states, seen, has_heard: false })
}

#[tokio::test]
async fn a_newcomer_is_told_how_things_stand_and_then_what_is_new() {
    let (sender, mut follower) = follower(None, LiveState::default());
    sender.send_replace(state(3));
    let news = follower.news().await.unwrap();
    assert_eq!((news.state.results, news.new, news.missed), (3, 0, 0));
    sender.send_replace(state(5));
    let news = follower.news().await.unwrap();
    assert_eq!((news.state.results, news.new, news.missed), (5, 2, 0));
    drop(sender);
    assert!(follower.news().await.is_none(), "the run has ended and all is told");
}

#[tokio::test]
async fn whoever_comes_back_is_told_what_it_has_not_seen() {
    let (_sender, mut follower) = follower(Some(2), LiveState::clone(&state(5)));
    let news = follower.news().await.unwrap();
    assert_eq!((news.new, news.missed), (3, 0));
}

#[tokio::test]
async fn a_slow_follower_skips_states_and_knows_what_it_missed() {
    let (sender, mut follower) = follower(Some(0), LiveState::default());
    for results in 1..=1_000 {
        sender.send_replace(state(results));
    }
    let news = follower.news().await.unwrap();
    assert_eq!((news.new, news.missed), (MAX_RECENT, 1_000 - MAX_RECENT as u64));
    let first_new = &news.state.recent[news.state.recent.len() - news.new];
    assert_eq!(first_new.number, news.missed + 1);
}

#[tokio::test]
async fn the_last_state_is_told_even_after_the_watcher_has_gone() {
    let (sender, mut follower) = follower(None, LiveState::default());
    sender.send_replace(state(1));
    drop(sender);
    assert_eq!(follower.news().await.unwrap().state.results, 1);
    assert!(follower.news().await.is_none());
}
