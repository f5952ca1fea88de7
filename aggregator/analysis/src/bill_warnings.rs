//! Warnings about a run's bill: other models, costs that differ from the price table, calls without
//! usage, a cost above the budget.

use crate::{format::dollars, run_facts::Cost};
use juror_types::{
    outcome::{BatchUsage, JobResult},
    usage::{Money, Usage},
};
use std::collections::BTreeMap;

/// The sums over a run's results.
#[derive(Debug, Default)]
pub(crate) struct Charges {
    /// Results by the model that replied in place of the judge's.
    other_models: BTreeMap<String, u64>,
    /// Cost of the results whose replies reported their cost.
    reported: Money,
    /// Cost of the same results by the price table.
    by_table: Money,
    /// Batches whose rows do not add up to the usage that their provider reports, by shard.
    batches: BTreeMap<u32, BatchUsage>,
}

impl Charges {
    /// Adds a current result.
    pub(crate) fn add(&mut self, result: &JobResult) {
        let other = result.judge.as_ref().and_then(|judge| judge.answered_by.clone());
        if let Some(model) = other {
            *self.other_models.entry(model).or_default() += 1;
        }
        if let Some(by_table) = result.table_cost_usd {
            self.reported += result.cost_usd;
            self.by_table += by_table;
        }
        self.batches.extend(result.batch_usage.map(|usage| (usage.shard, usage)));
    }

    /// The warnings, of a run with this number of calls of unknown usage. Sums that differ by at most
    /// one percent count as equal.
    pub(crate) fn warnings(&self, unmetered_calls: u64) -> Vec<String> {
        let models = self.other_models.iter().map(|(model, count)| {
            format!(
                "model {model} gave {count} of the replies in place of the requested model: they are booked at its price, and their scores are its own"
            )
        });
        let apart = i128::from(self.reported.pico()) - i128::from(self.by_table.pico());
        let differs = apart.abs() * 100 > i128::from(self.by_table.pico());
        let costs = differs.then(|| {
            format!(
                "the vision API charged ${} for replies that cost ${} by the price table: the charged amount is booked; correct the model's price under [prices]",
                self.reported, self.by_table
            )
        });
        let usage = (unmetered_calls > 0).then(|| {
            format!(
                "the vision API did not report the usage of {unmetered_calls} calls: they are booked at their maximum cost, so the run may have cost less"
            )
        });
        models.chain(costs).chain(usage).chain(self.batch_warning()).collect()
    }

    fn batch_warning(&self) -> Option<String> {
        let (mut reported, mut rows) = (Usage::default(), Usage::default());
        for batch in self.batches.values() {
            reported += batch.reported;
            rows += batch.rows;
        }
        let batches = match self.batches.len() {
            1 => "1 batch".to_owned(),
            count => format!("{count} batches"),
        };
        (!self.batches.is_empty()).then(|| {
            format!(
                "the provider reports another usage of {batches} than their rows: {} input and {} \
                 output tokens, and the rows {} and {}, which are booked; compare the provider's bill",
                reported.input_tokens, reported.output_tokens, rows.input_tokens, rows.output_tokens
            )
        })
    }
}

/// Warning about a cost above the budget, with the reason: bills above the reservations of their
/// calls, or costs under another budget.
pub(crate) fn over_budget_warning(cost: &Cost) -> Option<String> {
    let budget = cost.budget_usd.filter(|budget| cost.total_usd > *budget)?;
    let reason = match cost.overrun_usd > Money::ZERO {
        true => format!(
            "the vision API billed {} more than was reserved for its calls; correct the model's \
             price or image formula, or ask the operator of the API",
            dollars(cost.overrun_usd)
        ),
        false => "it was spent under an earlier budget or another ledger, and no further call is \
                  made"
            .to_owned(),
    };
    Some(format!(
        "the run cost {}, {} above its budget of {}: {reason}",
        dollars(cost.total_usd),
        dollars(cost.total_usd - budget),
        dollars(budget)
    ))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::test_fixtures::judged;

    #[test]
    fn cost_above_budget_is_warned_of_with_its_reason() {
        let usd = |text: &str| text.parse::<Money>().unwrap();
        let cost = |budget: &str, overrun: &str| Cost {
            total_usd: usd("8.28"),
            budget_usd: Some(usd(budget)),
            overrun_usd: usd(overrun),
            ..Cost::default()
        };
        let billed = over_budget_warning(&cost("0.2", "8.1")).unwrap();
        assert!(billed.starts_with("the run cost $8.28, $8.08 above its budget of $0.2000: "));
        assert!(billed.contains("billed $8.10 more than"), "{billed}");
        let lowered = over_budget_warning(&cost("0.2", "0")).unwrap();
        assert!(lowered.contains("spent under an earlier budget"), "{lowered}");
        assert_eq!(over_budget_warning(&cost("8.28", "1")), None);
        assert_eq!(over_budget_warning(&Cost { budget_usd: None, ..cost("1", "1") }), None);
    }

    #[test]
    fn expected_cost_has_no_warning() {
        let mut charges = Charges::default();
        let mut result = judged("one", [9; 5], &[], &[]);
        result.table_cost_usd = Some(result.cost_usd);
        charges.add(&result);
        assert_eq!(charges.warnings(0), Vec::<String>::new());
    }

    #[test]
    fn batches_that_disagree_with_their_rows_are_warned_of_once_with_their_sums() {
        let usage =
            |tokens| Usage { input_tokens: tokens, output_tokens: tokens, ..Usage::default() };
        let mut charges = Charges::default();
        for (item, shard) in [("one", 1), ("two", 1), ("three", 2)] {
            let mut result = judged(item, [9; 5], &[], &[]);
            result.batch_usage = BatchUsage::differing(shard, usage(20), usage(10));
            charges.add(&result);
        }
        let [warning] = &charges.warnings(0)[..] else { panic!("{:?}", charges.warnings(0)) };
        assert!(warning.contains("of 2 batches than"), "{warning}");
        assert!(
            warning.contains("40 input and 40 output tokens, and the rows 20 and 20"),
            "{warning}"
        );
        assert_eq!(BatchUsage::differing(1, usage(10), usage(10)), None);
    }

    #[test]
    fn other_models_costs_and_missing_usage_are_each_warned_of_once() {
        let mut charges = Charges::default();
        let mut result = judged("one", [9; 5], &[], &[]);
        if let Some(judge) = &mut result.judge {
            judge.answered_by = Some("gpt-4o-2024-08-06".to_owned());
        }
        result.cost_usd = Money::from_pico(1_050_000_000);
        result.table_cost_usd = Some(Money::from_pico(1_000_000_000));
        charges.add(&result);
        charges.add(&result);
        let warnings = charges.warnings(4);
        assert_eq!(warnings.len(), 3, "{warnings:?}");
        assert!(warnings[0].contains("gpt-4o-2024-08-06 gave 2 of"));
        assert!(warnings[1].contains("$0.002100000") && warnings[1].contains("$0.002000000"));
        assert!(warnings[2].contains("of 4 calls"));
    }
}
