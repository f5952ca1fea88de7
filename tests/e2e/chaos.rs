//! Chaos tests: processes are killed at every step of a job, connections cut and servers restarted;
//! every item ends with exactly one outcome within the budget.

mod checks;
mod disruptions;
mod plan;

use disruptions::Disruptions;
use plan::Plan;

/// `just chaos` runs it for minutes; `CHAOS_JOBS` and `CHAOS_SEED` select its size and order.
#[test]
fn disrupted_fleet_ends_like_an_undisturbed_one() {
    let number = |name: &str, default: u32| {
        std::env::var(name).map_or(default, |text| text.parse().expect("a whole number"))
    };
    let jobs = number("CHAOS_JOBS", 300);
    let seed = number("CHAOS_SEED", 20_261_122).into();
    Disruptions::start(Plan { seed, jobs, rounds: (jobs / 2_000).max(1) }).run();
}
