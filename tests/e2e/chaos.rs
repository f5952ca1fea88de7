//! Processes killed at every point of a job's way, connections cut, servers restarted: in the end
//! every item has exactly one outcome, and nobody paid more than was allowed.

mod checks;
mod disruptions;
mod plan;

use disruptions::Disruptions;
use plan::Plan;

#[test]
fn a_fleet_that_is_shaken_ends_as_if_nothing_had_happened() {
    Disruptions::begin(Plan { seed: 20_261_122, jobs: 300, rounds: 1 }).run();
}

/// Takes minutes; `CHAOS_SEED` and `CHAOS_JOBS` make another one of it.
#[test]
#[ignore = "takes minutes: cargo test --test e2e -- --ignored --nocapture shaken_for_long"]
fn a_large_run_that_is_shaken_for_long_ends_as_if_nothing_had_happened() {
    let number = |name: &str, default: u32| {
        std::env::var(name).map_or(default, |text| text.parse().expect("a whole number"))
    };
    let jobs = number("CHAOS_JOBS", 20_000);
    let seed = number("CHAOS_SEED", 1).into();
    Disruptions::begin(Plan { seed, jobs, rounds: (jobs / 2_000).max(1) }).run();
}
