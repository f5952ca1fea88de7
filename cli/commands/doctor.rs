//! `juror doctor`: checks the requirements of a run, at no cost.

mod endpoint;
mod fleet;
mod renderer;

use crate::{
    args::DoctorArguments,
    exit::{AppError, Exit},
    terminal,
};
use juror_analysis::format::dollars;
use juror_app::{
    budgets::BudgetState,
    environment::Environment,
    judge,
    local_ledger::open_local_ledger,
    rubrics,
    run::{
        inspection::inspect_files,
        run_setup::{RunSetup, absolute},
    },
    settings::{BaseLayers, Settings},
};
use juror_types::{budget_label::BudgetLabel, model::Models, rubric::Rubric, usage::Money};
use serde::Serialize;
use std::{fmt, path::Path};

/// Free bytes below which the disk is reported; a run's journal and ledger need less.
const MIN_FREE_BYTES: u64 = 500 << 20;

/// Runs `juror doctor`: exits with 0 if nothing is bad, otherwise with 1.
pub async fn run(arguments: &DoctorArguments, base: &BaseLayers) -> Result<Exit, AppError> {
    let DoctorArguments { judging, calling, fleet, .. } = arguments;
    let flags = judging.layer().overlaid_with(calling.layer()).overlaid_with(fleet.layer());
    // Checks what judging needs, even if the settings have the judge off.
    let flags = flags.with("run.enable_llm_judge", Some(true));
    let settings = base.resolve(flags)?;
    let environment = &base.environment;
    let mut checks = vec![good("settings", "every key is known")];
    let rubric = rubrics::from_settings(&settings);
    checks.push(checked(
        "rubric",
        rubric.as_ref().map(|(rubric, _)| {
            good("rubric", format!("{}, {} criteria", rubric.name(), rubric.criteria.len()))
        }),
    ));
    if let Ok((rubric, _)) = &rubric {
        checks.push(checked("model", model(&settings, rubric)));
        checks.extend(endpoint::checks(&settings, environment, rubric).await);
    }
    let labels = labels(&settings, arguments.dataset.as_deref());
    let ledger = ledger(&settings, &labels).await;
    checks.extend(ledger.unwrap_or_else(|failure| vec![bad("ledger", failure)]));
    checks.push(space(&settings.run.runs_dir));
    checks.push(renderer::check(&settings).await);
    checks.extend(fleet::checks(&settings, &labels).await);
    if let (Some(dataset), Ok(rubric)) = (&arguments.dataset, rubric) {
        let check = dataset_check(settings, environment, rubric, dataset, arguments).await;
        checks.push(checked("dataset", check));
    }
    let is_bad = checks.iter().any(|check| check.health == Health::Bad);
    terminal::print_result(&checks, || text(&checks))?;
    Ok(if is_bad { Exit::Error } else { Exit::Done })
}

/// Result of one check.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
enum Health {
    Good,
    Warning,
    Bad,
}

#[derive(Debug, Serialize)]
struct Check {
    name: &'static str,
    health: Health,
    #[serde(rename = "says")]
    message: String,
}

impl Check {
    /// Appends to the message.
    fn and(mut self, more: &str) -> Self {
        self.message = format!("{}; {more}", self.message);
        self
    }
}

fn good(name: &'static str, message: impl fmt::Display) -> Check {
    Check { name, health: Health::Good, message: message.to_string() }
}

fn warning(name: &'static str, message: impl fmt::Display) -> Check {
    Check { name, health: Health::Warning, message: message.to_string() }
}

fn bad(name: &'static str, message: impl fmt::Display) -> Check {
    Check { name, health: Health::Bad, message: message.to_string() }
}

/// A check that was made, or the failure to make it.
fn checked(name: &'static str, check: Result<Check, impl fmt::Display>) -> Check {
    check.unwrap_or_else(|failure| bad(name, failure))
}

fn model(settings: &Settings, rubric: &Rubric) -> Result<Check, AppError> {
    let name = &settings.judge.model;
    let priced_judge = judge::priced(settings, rubric)?;
    let prices = judge::prices(settings);
    let like = settings.models.get(name).map(|alias| alias.like.as_str());
    let price = prices.find(name).or_else(|| prices.find(like?));
    let price = price.ok_or_else(|| AppError::invalid(format!("{name} has no price")))?;
    let per_million = |pico: u64| format!("${:.2}", pico as f64 / 1e6);
    let message = format!(
        "{name}: {} a million tokens in, {} out ({})",
        per_million(priced_judge.terms.prices.price.input),
        per_million(priced_judge.terms.prices.price.output),
        price.origin
    );
    Ok(if let Some(day) = &price.retires {
        let remedy = format!("the provider retires it on {day}: choose its successor");
        warning("model", message).and(&remedy)
    } else if Models::builtin().find(like.unwrap_or(name)).is_none() {
        warning("model", message).and("its limits are unknown, so the bound of a call is generous")
    } else {
        good("model", message)
    })
}

/// Labels of a run by these settings.
fn labels(settings: &Settings, dataset: Option<&Path>) -> Vec<BudgetLabel> {
    let dataset = dataset.map(absolute);
    settings.budget.labels(dataset.as_deref().map(Path::new))
}

async fn ledger(settings: &Settings, labels: &[BudgetLabel]) -> Result<Vec<Check>, AppError> {
    let backend = open_local_ledger(settings)?;
    let budgets = BudgetState::current(&backend, &[]).await;
    backend.close().await;
    let ledger = good("ledger", "juror.db can be written");
    Ok(vec![ledger, budget(settings, labels, budgets?)])
}

/// Check of the budgets of day and month, of all runs and of these labels, under the caps that a
/// run with these settings would set.
fn budget(settings: &Settings, labels: &[BudgetLabel], recorded: Vec<BudgetState>) -> Check {
    let given = settings.budget.shared_caps();
    let counts = |state: &BudgetState| {
        let label = state.scope.shared().and_then(|budget| budget.label.as_ref());
        label.is_none_or(|label| labels.contains(label))
    };
    let states = recorded.into_iter().filter(counts).map(|state| {
        let shared = state.scope.shared();
        let given = given.iter().find(|(budget, _)| Some(budget) == shared);
        match given {
            Some((_, cap)) => state.with_cap(*cap),
            None => state,
        }
    });
    let states: Vec<_> = states.filter(|state| state.cap_usd.is_some()).collect();
    let figures = states.iter().map(|state| {
        let shown = |amount: Option<Money>| dollars(amount.unwrap_or_default());
        let (left, cap) = (shown(state.left_usd), shown(state.cap_usd));
        format!("{}: {left} of {cap} left", state.scope)
    });
    let message = figures.collect::<Vec<_>>().join("; ");
    let used_up = states.iter().find(|state| state.is_used_up());
    match used_up.and_then(|state| state.scope.shared()) {
        Some(budget) => bad(
            "budget",
            format!(
                "{message}: no call is admitted; raise the cap by {} (or {} where the settings have it), \
                 or wait for the next {}",
                budget.command(),
                budget.setting(),
                budget.period.budget_key()
            ),
        ),
        None if states.is_empty() => good("budget", "day and month have no cap"),
        None => good("budget", message),
    }
}

fn space(folder: &Path) -> Check {
    // A run creates its folders; until then the nearest existing one has their disk.
    let existing = folder.ancestors().find(|ancestor| ancestor.exists());
    match rustix::fs::statvfs(existing.unwrap_or(Path::new("."))) {
        Err(error) => {
            bad("disk", format!("free space of {} cannot be read: {error}", folder.display()))
        }
        Ok(disk) => {
            let free = disk.f_bavail.saturating_mul(disk.f_frsize);
            let message = format!("{} MB are free for {}", free >> 20, folder.display());
            if free < MIN_FREE_BYTES {
                bad("disk", format!("{message}: free space first"))
            } else {
                good("disk", message)
            }
        }
    }
}

async fn dataset_check(
    settings: Settings,
    environment: &Environment,
    rubric: (Rubric, String),
    dataset: &Path,
    arguments: &DoctorArguments,
) -> Result<Check, AppError> {
    let selection = arguments.judging.selection();
    let (environment, path) = (environment.clone(), dataset.to_owned());
    let setup = RunSetup::open(settings, environment, rubric, path, selection, &mut |_| ())?;
    inspect_files(&setup).await?;
    let message = format!("{} items, {} jobs", setup.plan.items, setup.plan.jobs);
    Ok(match setup.plan.warnings.as_slice() {
        [] => good("dataset", message),
        warnings => warning("dataset", message).and(&warnings.join("; ")),
    })
}

fn text(checks: &[Check]) -> String {
    let mut text = String::new();
    for check in checks {
        let mark = match check.health {
            Health::Good => "ok  ",
            Health::Warning => "warn",
            Health::Bad => "BAD ",
        };
        text.push_str(&format!("{mark}  {:10}{}\n", check.name, check.message));
    }
    let problems = checks.iter().filter(|check| check.health == Health::Bad).count();
    text.push_str(&match problems {
        0 => "\nNo problems found: a run can start.\n".to_owned(),
        1 => "\n1 problem to fix.\n".to_owned(),
        count => format!("\n{count} problems to fix.\n"),
    });
    text
}
