//! Chaos tests: processes are killed at every step of a job, connections cut and servers restarted;
//! every item ends with exactly one outcome within the budget.

mod checks;
mod disruptions;
mod plan;

use disruptions::Disruptions;
use plan::Plan;

#[test]
fn disrupted_fleet_ends_like_an_undisturbed_one() {
    Disruptions::start(Plan { seed: 20_261_122, jobs: 300, rounds: 1 }).run();
}

/// Runs for minutes; `CHAOS_SEED` and `CHAOS_JOBS` vary it.
#[test]
#[ignore = "takes minutes: cargo test --workspace --test e2e -- --ignored --nocapture large_disrupted_run"]
fn large_disrupted_run_ends_like_an_undisturbed_one() {
    let number = |name: &str, default: u32| {
        std::env::var(name).map_or(default, |text| text.parse().expect("a whole number"))
    };
    let jobs = number("CHAOS_JOBS", 20_000);
    let seed = number("CHAOS_SEED", 1).into();
    Disruptions::start(Plan { seed, jobs, rounds: (jobs / 2_000).max(1) }).run();
}
