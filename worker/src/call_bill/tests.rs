//! Bills of calls by price, lane, version and reported cost.

use super::*;
use crate::vision::Completion;
use juror_types::model::Models;

const USAGE: Usage = Usage { input_tokens: 1_000, cached_input_tokens: 0, output_tokens: 100 };

fn pricing(names: &[&str]) -> CallPricing {
    pricing_of("gpt-4o-mini", names, Lane::Realtime)
}

fn pricing_of(model: &str, names: &[&str], lane: Lane) -> CallPricing {
    let (models, prices) = (Models::builtin(), Prices::builtin());
    let facts = models.facts(model).clone();
    let terms = ModelTerms::new(facts, prices.find(model).unwrap(), lane);
    CallPricing::new(names.iter().map(|name| (*name).to_owned()).collect(), terms, prices)
}

fn bounds() -> Bounds {
    Bounds {
        input_tokens: 5_000,
        max_output_tokens: 1_000,
        worst_cost: Money::from_pico(1_350_000_000),
        worst_job_cost: Money::from_pico(1_350_000_000),
        expected: Usage::default(),
        expected_cost: Money::ZERO,
    }
}

fn answer(model: &str, cost: Option<&str>) -> CallEnd {
    CallEnd::Completed(Completion {
        model: Some(model.to_owned()),
        usage: Some(USAGE),
        cost: cost.map(|cost| cost.parse().unwrap()),
        ..Completion::default()
    })
}

fn bill(end: &CallEnd, usage: Option<Usage>) -> CallBill {
    pricing(&["gpt-4o-mini"]).bill(end, Lane::Realtime, LeaseEnd::Settle(usage), &bounds()).unwrap()
}

#[test]
fn call_is_billed_at_the_price_of_the_responding_model() {
    let own = bill(&answer("gpt-4o-mini-2024-07-18", None), Some(USAGE));
    assert_eq!(own.cost.to_string(), "0.000210000");
    let dearer = bill(&answer("gpt-4o-2024-08-06", None), Some(USAGE));
    assert_eq!(dearer.cost.to_string(), "0.003500000");
    let unknown = bill(&answer("house-model", None), Some(USAGE));
    assert_eq!(unknown.cost, bounds().worst_cost);
    let alias = pricing(&["our-deployment", "gpt-4o"]);
    assert_eq!(alias.other_model(&answer("gpt-4o-2024-08-06", None)), None);
    assert_eq!(alias.other_model(&answer("gpt-4.1", None)), Some("gpt-4.1"));
}

#[test]
fn claude_input_is_booked_as_written_only_where_the_reply_reports_it() {
    let pricing = pricing_of("claude-haiku-4-5", &["claude-haiku-4-5"], Lane::Realtime);
    let cost = |cache_write_tokens| {
        let answer = Completion { usage: Some(USAGE), cache_write_tokens, ..Completion::default() };
        let settled = LeaseEnd::Settle(Some(USAGE));
        pricing.bill(&CallEnd::Completed(answer), Lane::Realtime, settled, &bounds()).unwrap().cost
    };
    assert_eq!(cost(None).to_string(), "0.001500000");
    assert_eq!(cost(Some(1_000)).to_string(), "0.001750000");
    let reserved = pricing.terms.worst_price().worst_cost(1_000, 100);
    assert_eq!(reserved, cost(Some(1_000)), "a gateway may have it written");
}

#[test]
fn version_with_its_own_price_is_booked_at_that_price() {
    let pricing = pricing_of("gpt-4o", &["gpt-4o"], Lane::Realtime);
    let end = answer("gpt-4o-2024-05-13", None);
    let bill =
        pricing.bill(&end, Lane::Realtime, LeaseEnd::Settle(Some(USAGE)), &bounds()).unwrap();
    assert_eq!(bill.cost.to_string(), "0.006500000");
    let warnings = pricing.warnings(&end, &bill);
    assert!(warnings[0].contains("judge.model = \"gpt-4o-2024-05-13\""), "{warnings:?}");
    let usual = answer("gpt-4o-2024-08-06", None);
    let bill =
        pricing.bill(&usual, Lane::Realtime, LeaseEnd::Settle(Some(USAGE)), &bounds()).unwrap();
    assert_eq!(bill.cost.to_string(), "0.003500000");
}

#[test]
fn unpriced_service_tier_is_booked_at_no_less_than_its_bill() {
    let pricing = pricing(&["gpt-4o-mini"]);
    let answer = Completion { dearer_tier: Some("priority".to_owned()), ..Completion::default() };
    let end = CallEnd::Completed(answer);
    let most = Usage { input_tokens: 5_000, cached_input_tokens: 0, output_tokens: 1_000 };
    for (usage, booked) in [(USAGE, "0.001350000"), (most, "0.002700000")] {
        let bill =
            pricing.bill(&end, Lane::Realtime, LeaseEnd::Settle(Some(usage)), &bounds()).unwrap();
        assert_eq!(bill.cost.to_string(), booked);
    }
    let bill =
        pricing.bill(&end, Lane::Realtime, LeaseEnd::Settle(Some(USAGE)), &bounds()).unwrap();
    assert!(pricing.warnings(&end, &bill)[0].contains("service tier priority"));
}

#[test]
fn reported_cost_is_booked_and_reported_zero_is_not_trusted() {
    let reported = bill(&answer("gpt-4o-mini", Some("0.0003")), Some(USAGE));
    assert_eq!(reported.cost.to_string(), "0.000300000");
    assert_eq!(reported.table_cost.unwrap().to_string(), "0.000210000");
    let nothing = bill(&answer("gpt-4o-mini", Some("0")), Some(USAGE));
    assert_eq!((nothing.cost.to_string(), nothing.table_cost), ("0.000210000".to_owned(), None));
    let only_cost = bill(&answer("gpt-4o-mini", Some("0.0003")), None);
    assert!(only_cost.metered && only_cost.table_cost.is_none());
    assert_eq!(only_cost.cost.to_string(), "0.000300000");
}

#[test]
fn call_is_billed_at_the_price_of_the_reported_lane() {
    let pricing = pricing_of("gpt-5.4", &["gpt-5.4"], Lane::Flex);
    let answered = |lane| {
        let end =
            CallEnd::Completed(Completion { lane, usage: Some(USAGE), ..Completion::default() });
        let bill =
            pricing.bill(&end, Lane::Realtime, LeaseEnd::Settle(Some(USAGE)), &bounds()).unwrap();
        (bill.cost, pricing.warnings(&end, &bill))
    };
    let (flex, warnings) = answered(Lane::Flex);
    assert!(warnings.is_empty(), "{warnings:?}");
    // A row of a batch that the run had begun before its lane changed.
    assert!(answered(Lane::Batch).1.is_empty());
    let (ordinary, warnings) = answered(Lane::Realtime);
    assert_eq!(ordinary, flex + flex);
    assert!(warnings[0].contains("realtime in place of flex"), "{warnings:?}");
}

#[test]
fn unusable_reply_of_a_batch_is_billed_at_its_price() {
    let pricing = pricing_of("gpt-5.4", &["gpt-5.4"], Lane::Batch);
    let end = CallEnd::UnusableReply { message: "no choice".to_owned(), usage: Some(USAGE) };
    let cost = |sent_in: Lane| {
        pricing.bill(&end, sent_in, LeaseEnd::Settle(Some(USAGE)), &bounds()).unwrap().cost
    };
    assert_eq!(cost(Lane::Realtime), cost(Lane::Batch) + cost(Lane::Batch));
}

#[test]
fn unknown_usage_is_booked_at_the_bound_and_reported_once() {
    let (end, pricing) = (answer("gpt-4o-mini", None), pricing(&["gpt-4o-mini"]));
    let bill = pricing.bill(&end, Lane::Realtime, LeaseEnd::Settle(None), &bounds()).unwrap();
    assert_eq!((bill.cost, bill.metered), (bounds().worst_cost, false));
    assert!(pricing.warnings(&end, &bill)[0].contains("$0.001350000"));
    assert!(pricing.warnings(&end, &bill).is_empty());
    assert_eq!(pricing.bill(&end, Lane::Realtime, LeaseEnd::PresumeSpent, &bounds()), None);
}

#[test]
fn unknown_usage_of_a_more_expensive_model_is_booked_at_its_own_bound() {
    let dearer = bill(&answer("gpt-4o", None), None);
    assert_eq!(dearer.cost.to_string(), "0.022500000");
}

#[test]
fn billing_differences_name_both_sides() {
    let pricing = pricing(&["gpt-4o-mini"]);
    let end = answer("gpt-4o-2024-08-06", Some("0.0036"));
    let bill =
        pricing.bill(&end, Lane::Realtime, LeaseEnd::Settle(Some(USAGE)), &bounds()).unwrap();
    let warnings = pricing.warnings(&end, &bill).join("\n");
    for part in ["gpt-4o-2024-08-06", "gpt-4o-mini", "$0.003600000", "$0.003500000"] {
        assert!(warnings.contains(part), "{part} in {warnings}");
    }
    assert!(!differs(Money::from_pico(101), Money::from_pico(100)));
    assert!(differs(Money::from_pico(102), Money::from_pico(100)));
}
