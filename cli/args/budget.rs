//! Arguments of `juror budget`.

use super::FleetFlags;
use clap::{Args, Subcommand, ValueEnum};
use juror_ledger::admission::{Budget, Period};
use juror_types::{
    budget_label::{BudgetLabel, LabelName},
    usage::Money,
};

const LEDGER: &str = "With a fleet's Redis (--redis, JUROR_FLEET_REDIS or fleet.redis) this is the \
fleet's ledger, otherwise this machine's.";

const CAPS: &str = "The cap holds until it is set again: here, or by budget.day_usd, \
budget.month_usd, [budget.per_dataset.NAME] and [budget.per_tag.NAME] in the settings of a later run.";

/// `juror budget`
#[derive(Debug, Subcommand)]
pub enum BudgetCommand {
    /// Show caps, spending, money held by calls in flight, the remainder, and the time of renewal
    #[command(after_help = LEDGER)]
    Show {
        /// Runs to show in addition to today and this month
        runs: Vec<String>,
        #[command(flatten)]
        fleet: FleetFlags,
    },
    /// Set the cap of each day or month, over all runs or those of a dataset or a tag, and print
    /// the cap that it replaces
    #[command(after_help = CAPS)]
    Set {
        /// The budget
        #[arg(value_enum)]
        period: PeriodFlag,
        /// The cap in US dollars, as in 60 or 2.50, or unlimited
        #[arg(value_name = "AMOUNT", allow_negative_numbers = true, value_parser = budget_cap)]
        cap: Budget,
        #[command(flatten)]
        label: LabelFlags,
        #[command(flatten)]
        fleet: FleetFlags,
    },
    /// Show the spending of past days and months, over all runs of the ledger or those of a dataset
    /// or a tag
    #[command(after_help = LEDGER)]
    History {
        /// Number of days, today included
        #[arg(long, value_name = "N", default_value_t = 14, value_parser = clap::value_parser!(u32).range(0..=36_600))]
        days: u32,
        /// Number of months, this one included
        #[arg(long, value_name = "N", default_value_t = 12, value_parser = clap::value_parser!(u32).range(0..=1_200))]
        months: u32,
        #[command(flatten)]
        label: LabelFlags,
        #[command(flatten)]
        fleet: FleetFlags,
    },
}

/// Labels of the runs that a budget is for.
#[derive(Clone, Debug, Default, PartialEq, Eq, Args)]
pub struct LabelFlags {
    /// Only runs over this dataset: its file's name without the extension, or its folder's
    /// for manifest.jsonl
    #[arg(long, value_name = "NAME", conflicts_with = "tag")]
    pub dataset: Option<LabelName>,
    /// Only runs that were started with --budget-tag NAME
    #[arg(long, value_name = "NAME")]
    pub tag: Option<LabelName>,
}

impl LabelFlags {
    /// The label; `None` for all runs.
    pub fn label(&self) -> Option<BudgetLabel> {
        let dataset = self.dataset.clone().map(BudgetLabel::Dataset);
        dataset.or(self.tag.clone().map(BudgetLabel::Tag))
    }
}

/// Period of a budget.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum PeriodFlag {
    /// Each day
    Day,
    /// Each month
    Month,
}

impl From<PeriodFlag> for Period {
    fn from(period: PeriodFlag) -> Self {
        match period {
            PeriodFlag::Day => Self::Day,
            PeriodFlag::Month => Self::Month,
        }
    }
}

/// Parses an amount of a budget, which is never negative.
pub fn budget_amount(text: &str) -> Result<Money, String> {
    let remedy = "give an amount in US dollars, 0 or more";
    match text.parse::<Money>() {
        Ok(amount) if amount >= Money::ZERO => Ok(amount),
        Ok(_) => Err(remedy.to_owned()),
        Err(error) => Err(format!("{error}; {remedy}")),
    }
}

/// Parses the cap of a budget: an amount in US dollars, or `unlimited`.
fn budget_cap(text: &str) -> Result<Budget, String> {
    if let Ok(Budget::Unlimited) = text.parse() {
        return Ok(Budget::Unlimited);
    }
    budget_amount(text).map(Budget::Cap).map_err(|error| format!("{error}, or unlimited"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cap_is_an_amount_or_a_keyword() {
        let cap = |text: &str| budget_cap(text).ok();
        assert_eq!(cap("60"), Some(Budget::Cap("60".parse().unwrap())));
        assert_eq!(cap("unlimited"), Some(Budget::Unlimited));
        for wrong in ["-1", "", "much", "none"] {
            assert_eq!(cap(wrong), None, "{wrong}");
        }
    }
}
