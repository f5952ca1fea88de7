//! Layout of the money and the time that a run took.

use crate::{
    document::{Block, Topic},
    phrasing::spent_text,
};
use juror_analysis::{
    format::{counted, decimals, dollars, duration, grouped},
    run_facts::Cost,
    run_report::Report,
};
use juror_types::usage::Money;

/// Topic of costs; `None` without a judge and a known time.
pub fn topic(report: &Report) -> Option<Topic> {
    let cost = &report.cost;
    let mut pairs: Vec<(&str, Option<String>)> = Vec::new();
    if report.run.judge.is_some() {
        pairs.extend([
            ("Cost", Some(cost_text(cost))),
            ("All runs", month_text(cost)),
            ("Estimate", estimate_text(cost)),
            ("Tokens", Some(tokens_text(cost))),
            ("Calls", Some(calls_text(cost))),
        ]);
    }
    pairs.push(("Time", time_text(report)));
    let pairs = pairs.into_iter().filter_map(|(label, text)| Some((label.to_owned(), text?)));
    let pairs: Vec<_> = pairs.collect();
    (!pairs.is_empty())
        .then(|| Topic::new("cost", "Cost and time", false, vec![Block::Pairs(pairs)]))
}

/// `$0.19 of a budget of $1.00`, and what else a reader must know of the money.
fn cost_text(cost: &Cost) -> String {
    let mut text = spent_text(cost.total_usd, cost.budget_usd);
    if cost.presumed_usd > Money::ZERO {
        text.push_str(&format!(
            ", including {} presumed spent by interrupted calls",
            dollars(cost.presumed_usd)
        ));
        if let Some(probable) = cost.presumed_probable_usd {
            text.push_str(&format!(", which probably cost {}", dollars(probable)));
        }
    }
    if cost.in_flight_usd > Money::ZERO {
        text.push_str(&format!("; up to {} more in flight", dollars(cost.in_flight_usd)));
    }
    if cost.overrun_usd > Money::ZERO {
        text.push_str(&format!("; {} above what was reserved", dollars(cost.overrun_usd)));
    }
    text
}

/// `this month: $41.20 of a budget of $60.00`, over all runs of the ledger; `None` if that is not
/// known.
fn month_text(cost: &Cost) -> Option<String> {
    let month = cost.month?;
    Some(format!("this month: {}", spent_text(month.spent_usd, month.budget_usd)))
}

/// `$0.2189 (the run cost 14.9% less), at worst $0.6565`; `None` without an estimate.
fn estimate_text(cost: &Cost) -> Option<String> {
    let mut text = dollars(cost.estimated_usd?);
    if let Some(error) = cost.estimate_error {
        let percent = decimals(error.abs() * 100.0, 1);
        text.push_str(&match percent.as_str() {
            "0" => " (the run cost as much)".to_owned(),
            _ if error > 0.0 => format!(" (the run cost {percent}% more)"),
            _ => format!(" (the run cost {percent}% less)"),
        });
    }
    if let Some(worst) = cost.worst_case_usd {
        text.push_str(&format!(", at worst {}", dollars(worst)));
    }
    Some(text)
}

fn tokens_text(cost: &Cost) -> String {
    let cached = match cost.cached_input_tokens {
        0 => String::new(),
        tokens => format!(" ({} from the provider's cache)", grouped(tokens)),
    };
    format!("{} in{cached}, {} out", grouped(cost.input_tokens), grouped(cost.output_tokens))
}

/// Text of the number of calls, as in `12, 1,488 verdicts from the cache`.
fn calls_text(cost: &Cost) -> String {
    let calls = grouped(cost.calls);
    match cost.cached_verdicts {
        0 => calls,
        cached => format!("{calls}, {} from the cache", counted(cached, "verdict")),
    }
}

/// `judged in 2 min 3 s in 2 sessions, mean latency 629 ms a screenshot`; `None` if neither is
/// known.
fn time_text(report: &Report) -> Option<String> {
    let each = report.metric("avg_latency_ms").and_then(|metric| metric.value);
    let each = each.map(|mean| format!("mean latency {} a screenshot", duration(mean)));
    let judged = report.run.judging.as_ref().map(|judging| {
        let sessions = match judging.sessions {
            0 | 1 => String::new(),
            count => format!(" in {count} sessions"),
        };
        format!("judged in {}{sessions}", duration(judging.active_ms as f64))
    });
    let times: Vec<String> = judged.into_iter().chain(each).collect();
    (!times.is_empty()).then(|| times.join(", "))
}
