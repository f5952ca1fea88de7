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
use std::path::Path;

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
    let mut checks = vec![good("settings", "every key is known".to_owned())];
    let rubric = match rubrics::from_settings(&settings) {
        Ok((rubric, text)) => {
            let message = format!("{}, {} criteria", rubric.name(), rubric.criteria.len());
            checks.push(good("rubric", message));
            Some((rubric, text))
        }
        Err(failure) => {
            checks.push(bad("rubric", failure.to_string()));
            None
        }
    };
    if let Some((rubric, _)) = &rubric {
        checks.push(model(&settings, rubric));
        checks.extend(endpoint::checks(&settings, environment, rubric).await);
    }
    let labels = labels(&settings, arguments.dataset.as_deref());
    checks.extend(backend(&settings, &labels).await);
    checks.push(space(&settings.run.runs_dir));
    checks.push(renderer::check(&settings).await);
    checks.extend(fleet::checks(&settings, &labels).await);
    if let (Some(dataset), Some(rubric)) = (&arguments.dataset, rubric) {
        checks.push(dataset_check(settings, environment, rubric, dataset, arguments).await);
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

fn good(name: &'static str, message: String) -> Check {
    Check { name, health: Health::Good, message }
}

fn warning(name: &'static str, message: String) -> Check {
    Check { name, health: Health::Warning, message }
}

fn bad(name: &'static str, message: String) -> Check {
    Check { name, health: Health::Bad, message }
}

fn model(settings: &Settings, rubric: &Rubric) -> Check {
    let name = &settings.judge.model;
    let priced_judge = match judge::priced(settings, rubric) {
        Ok(priced_judge) => priced_judge,
        Err(failure) => return bad("model", failure.to_string()),
    };
    let prices = judge::prices(settings);
    let like = settings.models.get(name).map(|alias| alias.like.as_str());
    let Some(price) = prices.find(name).or_else(|| prices.find(like?)) else {
        return bad("model", format!("{name} has no price"));
    };
    let per_million = |pico: u64| format!("${:.2}", pico as f64 / 1e6);
    let message = format!(
        "{name}: {} a million tokens in, {} out ({})",
        per_million(priced_judge.terms.prices.price.input),
        per_million(priced_judge.terms.prices.price.output),
        price.origin
    );
    if let Some(day) = &price.retires {
        return warning(
            "model",
            format!("{message}; the provider retires it on {day}: choose its successor"),
        );
    }
    if Models::builtin().find(like.unwrap_or(name)).is_none() {
        return warning(
            "model",
            format!("{message}; its limits are unknown, so the bound of a call is generous"),
        );
    }
    good("model", message)
}

/// Labels of a run by these settings.
fn labels(settings: &Settings, dataset: Option<&Path>) -> Vec<BudgetLabel> {
    let dataset = dataset.map(absolute);
    settings.budget.labels(dataset.as_deref().map(Path::new))
}

async fn backend(settings: &Settings, labels: &[BudgetLabel]) -> Vec<Check> {
    let backend = match open_local_ledger(settings) {
        Ok(backend) => backend,
        Err(failure) => return vec![bad("ledger", failure.to_string())],
    };
    let budgets = BudgetState::current(&backend, &[]).await;
    backend.close().await;
    match budgets {
        Err(failure) => vec![bad("ledger", failure.to_string())],
        Ok(budgets) => {
            let ledger = good("ledger", "juror.db can be written".to_owned());
            vec![ledger, budget(settings, labels, budgets)]
        }
    }
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
        None if states.is_empty() => good("budget", "day and month have no cap".to_owned()),
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
) -> Check {
    let selection = arguments.judging.selection();
    let (environment, path) = (environment.clone(), dataset.to_owned());
    let opened = match RunSetup::open(settings, environment, rubric, path, selection, &mut |_| ()) {
        Ok(setup) => inspect_files(&setup).await.map(|()| setup),
        Err(failure) => Err(failure),
    };
    match opened {
        Err(failure) => bad("dataset", failure.to_string()),
        Ok(setup) => {
            let message = format!("{} items, {} jobs", setup.plan.items, setup.plan.jobs);
            match setup.plan.warnings.as_slice() {
                [] => good("dataset", message),
                warnings => warning("dataset", format!("{message}; {}", warnings.join("; "))),
            }
        }
    }
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
