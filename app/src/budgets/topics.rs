//! Layout of budgets and of past spending, for the command and the dashboard.

use super::{BudgetHistory, BudgetState, PeriodSpending};
use juror_analysis::format::{counted, dollars};
use juror_ledger::admission::{Period, Scope};
use juror_report::{
    document::{Block, FigureCell, FigureColumn, FigureTable, Level, Topic},
    phrasing::spent_text,
};
use juror_types::usage::Money;

/// Budgets with their spending.
pub fn states(states: &[BudgetState]) -> Topic {
    let pairs = states.iter().map(|state| (title(state), state_text(state))).collect();
    let mut blocks = vec![Block::Pairs(pairs)];
    let zone = states.iter().find_map(|state| state.zone.as_deref());
    blocks.extend(zone.map(|zone| note(format!("days and months begin in the time zone {zone}"))));
    Topic::new("budgets", "Budgets of all runs", false, blocks)
}

/// Spending of the last days and months, a table for each number that is not 0.
pub fn history(history: &BudgetHistory, days: u32, months: u32) -> Topic {
    let tables = [("Day", "day", days, &history.days), ("Month", "month", months, &history.months)];
    let mut blocks: Vec<Block> = tables
        .into_iter()
        .filter(|(.., count, _)| *count > 0)
        .map(|(names, unit, count, rows)| table(names, counted(count.into(), unit), rows))
        .collect();
    blocks.push(note(format!(
        "days and months begin in the time zone {}; those without costs are left out",
        history.zone
    )));
    let label = history.label.as_ref();
    let name = label.map(|label| format!("of {} {}", label.kind(), label.name()));
    let topic = Topic::new("spending", "Spending", false, blocks);
    Topic { name: name.unwrap_or_default(), ..topic }
}

/// `This month, tag checkout`
fn title(state: &BudgetState) -> String {
    let budget = match &state.scope {
        Scope::Run(run) => return format!("Run {run}"),
        Scope::Shared { budget, .. } => budget,
    };
    let period = match budget.period {
        Period::Day => "Today",
        Period::Month => "This month",
    };
    match &budget.label {
        Some(label) => format!("{period}, {} {}", label.kind(), label.name()),
        None => period.to_owned(),
    }
}

/// `$41.20 of a budget of $60.00, $18.61 left, up to $0.19 more in flight; renews 2027-11-01 00:00
/// +01:00`
fn state_text(state: &BudgetState) -> String {
    let mut text = spent_text(state.spent_usd, state.cap_usd);
    if let Some(left) = state.left_usd {
        text.push_str(&format!(", {} left", dollars(left)));
    }
    if state.held_usd > Money::ZERO {
        text.push_str(&format!(", up to {} more in flight", dollars(state.held_usd)));
    }
    if let Some(renewal) = state.local_renewal() {
        text.push_str(&format!("; renews {renewal}"));
    }
    text
}

fn table(names: &'static str, last: String, periods: &[PeriodSpending]) -> Block {
    let columns = ["Spent", "Presumed", "In flight"].map(FigureColumn::new);
    let row = |name: String, amounts: [Money; 3]| {
        (name, Level::Plain, amounts.map(|amount| FigureCell::figure(dollars(amount))).into())
    };
    let amounts =
        |spending: &PeriodSpending| [spending.spent_usd, spending.presumed_usd, spending.held_usd];
    let rows = periods.iter().map(|period| row(period.period.clone(), amounts(period)));
    let sums =
        periods.iter().map(amounts).fold([Money::ZERO; 3], |[a, b, c], [spent, presumed, held]| {
            [a + spent, b + presumed, c + held]
        });
    let rows = rows.chain([row(format!("last {last}"), sums)]);
    Block::Table(FigureTable { title: names, ..FigureTable::new(names, columns, rows) })
}

fn note(text: String) -> Block {
    Block::Sentence(Level::Faint, "", text)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_budget_has_usage_cap_and_renewal() {
        let budget = |scope: Scope, cap: Option<&str>, left: Option<&str>| BudgetState {
            scope,
            cap_usd: cap.map(|cap| cap.parse().unwrap()),
            spent_usd: "41.2".parse().unwrap(),
            held_usd: "0.19".parse().unwrap(),
            left_usd: left.map(|left| left.parse().unwrap()),
            renews_at: "2027-10-31T23:00:00Z".parse().ok(),
            zone: Some("Europe/Berlin".to_owned()),
        };
        let scope = |key: &str| Scope::from_account_key(key).unwrap();
        let topic = states(&[
            budget(scope("day:2027-10-31"), None, None),
            budget(scope("month:2027-10:tag:checkout"), Some("60"), Some("18.61")),
        ]);
        let Block::Pairs(pairs) = &topic.blocks[0] else { panic!() };
        let renewal = "up to $0.1900 more in flight; renews 2027-11-01 00:00 +01:00";
        let pair = |label: &str, text: &str| (label.to_owned(), format!("{text}, {renewal}"));
        assert_eq!(pairs[0], pair("Today", "$41.20, no budget set"));
        let text = "$41.20 of a budget of $60.00, $18.61 left";
        assert_eq!(pairs[1], pair("This month, tag checkout", text));
    }
}
