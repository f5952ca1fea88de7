//! Budgets of today and this month, of all runs and of datasets and tags.

use juror_analysis::format::dollars;
use juror_app::budgets::BudgetState;
use juror_ledger::admission::Period;
use juror_types::usage::Money;
use maud::{Markup, html};

/// Card of the budgets; empty if the ledger cannot be read.
pub fn card(budgets: Option<&[BudgetState]>) -> Markup {
    let Some(budgets) = budgets else { return html! {} };
    html! {
        section.card aria-labelledby="budgets" {
            h2 #budgets { "Budgets of all runs" }
            dl.pairs {
                @for budget in budgets {
                    dt { (title(budget)) }
                    dd {
                        (use_of(budget))
                        @if let Some(renewal) = renewal(budget) { " " span.faint { (renewal) } }
                    }
                }
            }
        }
    }
}

/// `This month, tag checkout`
fn title(budget: &BudgetState) -> String {
    let period = match budget.scope.period() {
        Some(Period::Day) => "Today",
        Some(Period::Month) | None => "This month",
    };
    match budget.scope.label() {
        Some(label) => format!("{period}, {} {}", label.kind(), label.name()),
        None => period.to_owned(),
    }
}

/// `$41.20 of $60.00, $0.19 in flight`
fn use_of(budget: &BudgetState) -> String {
    let cap = budget.cap_usd.map(|cap| format!(" of {}", dollars(cap)));
    let held = match budget.held_usd {
        Money::ZERO => String::new(),
        held => format!(", up to {} more in flight", dollars(held)),
    };
    format!("{}{}{held}", dollars(budget.spent_usd), cap.as_deref().unwrap_or(", no cap"))
}

fn renewal(budget: &BudgetState) -> Option<String> {
    Some(format!("renews {}", budget.local_renewal()?))
}

#[cfg(test)]
mod tests {
    use super::*;
    use juror_ledger::admission::Scope;

    #[test]
    fn each_budget_has_its_use_its_cap_and_its_renewal() {
        let budget = |scope: Scope, cap: Option<&str>| BudgetState {
            scope,
            cap_usd: cap.map(|cap| cap.parse().unwrap()),
            spent_usd: "41.2".parse().unwrap(),
            held_usd: Money::ZERO,
            left_usd: None,
            renews_at: "2027-10-31T23:00:00Z".parse().ok(),
            zone: Some("Europe/Berlin".to_owned()),
        };
        let (day, month) = (Scope::Day("2027-10-31".into()), Scope::Month("2027-10".into()));
        let checkout = Scope::LabelMonth("2027-10".into(), "tag:checkout".parse().unwrap());
        let states = [budget(day, None), budget(month, Some("60")), budget(checkout, Some("50"))];
        let page = card(Some(&states)).into_string();
        assert!(page.contains("Today") && page.contains("$41.20, no cap"), "{page}");
        assert!(page.contains("This month") && page.contains("$41.20 of $60.00"), "{page}");
        assert!(page.contains("This month, tag checkout"), "{page}");
        assert!(page.contains("$41.20 of $50.00"), "{page}");
        assert!(page.contains("renews 2027-11-01 00:00 +01:00"), "{page}");
        assert!(card(None).into_string().is_empty());
    }
}
