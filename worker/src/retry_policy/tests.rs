//! Every row of the error table, and the attempts that each counts.

use super::*;
use crate::vision::Completion;

const USAGE: Usage = Usage { input_tokens: 9, cached_input_tokens: 0, output_tokens: 1 };
const PAUSE: Duration = Duration::from_secs(7);

fn unavailable(status: u16) -> CallEnd {
    CallEnd::Unavailable { status, message: "busy".to_owned() }
}

fn refused(status: u16, usage: Option<Usage>) -> CallEnd {
    CallEnd::Refused { status, message: "no".to_owned(), usage }
}

fn account(problem: AccountProblem) -> CallEnd {
    CallEnd::Account { problem, message: "no".to_owned() }
}

fn rate_limited(retry_after: Option<Duration>) -> CallEnd {
    CallEnd::RateLimited { retry_after, message: "slow down".to_owned() }
}

fn bad(usage: Option<Usage>) -> CallEnd {
    CallEnd::UnusableReply { message: "torn".to_owned(), usage }
}

fn answer(usage: Option<Usage>) -> CallEnd {
    CallEnd::Completed(Completion { usage, ..Completion::default() })
}

fn kind(next: &NextStep) -> &'static str {
    match next {
        NextStep::Accept => "accept",
        NextStep::RetryAfter(_) => "retry",
        NextStep::Retry => "ask again",
        NextStep::RetryLonger => "ask longer",
        NextStep::Cooldown(_) => "cooldown",
        NextStep::AwaitPermit => "await permit",
        NextStep::PauseRun(_) => "pause",
        NextStep::Requeue => "give back",
        NextStep::Fail(ErrorKind::Api, _) => "fail api",
        NextStep::Fail(ErrorKind::Request, _) => "fail request",
        NextStep::Fail(..) => "fail otherwise",
        NextStep::Unscorable(_) => "unscorable",
    }
}

/// Each row: the repeated event, the billing, and the decision for each attempt.
#[test]
fn error_table_is_implemented() {
    use AccountProblem::{Address, Funds, Key, Model, Permission};
    use LeaseEnd::{PresumeSpent, Release, Settle};
    let lost = CallEnd::Lost("cut".to_owned());
    let bounded = &["retry", "retry", "retry", "retry", "fail api"];
    let retried = &["ask again", "ask again", "unscorable"];
    let cooldown = rate_limited(None);
    let rows: Vec<(CallEnd, Option<&str>, LeaseEnd, &[&str])> = vec![
        (CallEnd::NotSent("dns".to_owned()), None, Release, bounded),
        (cooldown, None, Release, &["cooldown"; 20]),
        (account(Key), None, Release, &["pause"; 9]),
        (account(Funds), None, Release, &["pause"; 9]),
        (account(Permission), None, Release, &["pause"; 9]),
        (account(Model), None, Release, &["pause"; 9]),
        (account(Address), None, Release, &["pause"; 9]),
        (refused(400, None), None, Release, &["fail request"]),
        (refused(413, None), None, Release, &["fail request"]),
        (refused(400, Some(USAGE)), None, Settle(Some(USAGE)), &["fail request"]),
        (unavailable(408), None, Release, bounded),
        (unavailable(529), None, Release, bounded),
        (lost, None, PresumeSpent, &["retry", "fail api"]),
        (bad(Some(USAGE)), None, Settle(Some(USAGE)), retried),
        (bad(None), None, Settle(None), retried),
        (answer(Some(USAGE)), Some("score 11"), Settle(Some(USAGE)), retried),
        (answer(None), Some("refused"), Settle(None), retried),
        (answer(Some(USAGE)), None, Settle(Some(USAGE)), &["accept"]),
        (CallEnd::Cancelled { sent: false }, None, Release, &["give back"; 9]),
        (CallEnd::Cancelled { sent: true }, None, PresumeSpent, &["give back"; 9]),
    ];
    for (end, problem, lease_end, expected) in rows {
        let mut tally = AttemptTally::default();
        for (position, expected) in expected.iter().enumerate() {
            let step = decide(&end, problem, &mut tally, |_| PAUSE);
            assert_eq!(
                (step.lease_end, kind(&step.next)),
                (lease_end, *expected),
                "{end:?} {position}"
            );
        }
    }
}

#[test]
fn truncated_reply_is_retried_once_and_only_with_a_larger_limit() {
    let cut = CallEnd::Completed(Completion { finish: Finish::Length, ..Completion::default() });
    let next = |tally: &mut AttemptTally, end: &CallEnd| {
        kind(&decide(end, Some("cut"), tally, |_| PAUSE).next)
    };
    let mut tally = AttemptTally { larger_output: true, ..AttemptTally::default() };
    assert_eq!((next(&mut tally, &cut), next(&mut tally, &cut)), ("ask longer", "unscorable"));
    let mut tally = AttemptTally::default();
    assert_eq!(next(&mut tally, &cut), "unscorable", "the model allows no larger limit");
    let mut tally = AttemptTally { larger_output: true, ..AttemptTally::default() };
    assert_eq!((next(&mut tally, &cut), next(&mut tally, &bad(None))), ("ask longer", "ask again"));
    assert_eq!(next(&mut tally, &cut), "unscorable");
}

#[test]
fn refusals_and_cancellation_use_no_attempt() {
    let mut tally =
        AttemptTally { transport_attempts: 4, answers: 2, lost: 1, ..AttemptTally::default() };
    let before = tally;
    decide(&CallEnd::Cancelled { sent: true }, None, &mut tally, |_| PAUSE);
    decide(&account(AccountProblem::Key), None, &mut tally, |_| PAUSE);
    let requested = Some(Duration::from_millis(5));
    let step = decide(&rate_limited(requested), None, &mut tally, |_| PAUSE);
    assert_eq!(step.next, NextStep::Cooldown(Duration::from_millis(5)));
    assert_eq!(tally, AttemptTally { refusals: 1, ..before });
}

#[test]
fn refusals_without_a_wait_back_off_exponentially() {
    let mut tally = AttemptTally::default();
    let silent = rate_limited(None);
    let mut repetitions = Vec::new();
    for end in [&silent, &silent, &silent, &bad(None), &silent] {
        decide(end, None, &mut tally, |repetition| {
            repetitions.push(repetition);
            PAUSE
        });
    }
    assert_eq!(repetitions, [0, 1, 2, 0]);
}

#[test]
fn failure_kinds_share_the_attempt_limit() {
    let mut tally = AttemptTally::default();
    let not_sent = CallEnd::NotSent("dns".to_owned());
    let lost = CallEnd::Lost("cut".to_owned());
    let mut slower = Vec::new();
    let mut last = NextStep::Accept;
    for end in [&not_sent, &lost, &unavailable(500), &not_sent, &unavailable(503)] {
        last = decide(end, None, &mut tally, |_| PAUSE).next;
        slower.push(tally.slower());
    }
    assert_eq!(kind(&last), "fail api");
    assert_eq!(slower, [false, true, true, true, true]);
}

#[test]
fn html_page_instead_of_a_completion_costs_nothing_and_is_retried() {
    let mut tally = AttemptTally::default();
    let page = CallEnd::NotCompletion("a log-in page".to_owned());
    for _ in 1..MAX_TRANSPORT_ATTEMPTS {
        let step = decide(&page, None, &mut tally, |_| PAUSE);
        assert_eq!(step, Step { lease_end: LeaseEnd::Release, next: NextStep::RetryAfter(PAUSE) });
    }
    let step = decide(&page, None, &mut tally, |_| PAUSE);
    assert!(
        matches!(step.next, NextStep::Fail(ErrorKind::Api, message) if message.contains("log-in"))
    );
}

/// The default accepts contradictions; a second reply is always accepted.
#[test]
fn contradictory_verdict_is_retried_once_if_the_rubric_asks() {
    use juror_types::{contradiction::Contradiction, rubric::builtin_named, rubric::zero};
    let mut rubric = builtin_named("semantic@2").unwrap().parse().unwrap();
    let sound = zero(&rubric, "nothing");
    let contradictions = vec![Contradiction::RepeatedFinding];
    let contradictory = Verdict { contradictions, ..sound.clone() };
    let (first, second) =
        (AttemptTally::default(), AttemptTally { answers: 1, ..AttemptTally::default() });
    assert_eq!(contradiction(&rubric, Some(&contradictory), &first), None);
    rubric.findings.ask_again = true;
    let problem = contradiction(&rubric, Some(&contradictory), &first);
    assert_eq!(problem.as_deref(), Some("the verdict contradicts itself: the same finding twice"));
    let step = decide(&answer(None), problem.as_deref(), &mut first.clone(), |_| PAUSE);
    assert_eq!(step.next, NextStep::Retry);
    assert_eq!(contradiction(&rubric, Some(&contradictory), &second), None);
    assert_eq!(contradiction(&rubric, Some(&sound), &first), None);
    assert_eq!(contradiction(&rubric, None, &first), None);
}
