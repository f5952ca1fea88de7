//! Resources of every measurement: screenshots, a simulator in a process of its own, and the real
//! command in another one, of which processor time and peak memory are taken.
//!
//! Load goes to loopback only. Figures of one table are taken in the same run, so that their ratios
//! hold on a machine that is slower or busier than another.
#![allow(dead_code, unused_imports, reason = "each measurement uses a part of it")]

mod bare_loop;
mod dataset;
mod enlarged;
mod fleet;
pub mod journal;
mod limit_utilization;
mod measured;
mod process_tree;
mod simulator;
mod table;

pub use bare_loop::bare_loop;
pub use dataset::{Screenshots, write_screenshots};
pub use enlarged::{enlarge_manifest, enlarge_run};
pub use fleet::BenchFleet;
pub use limit_utilization::Enforced;
pub use measured::{Measured, cpu_of_children, juror, measure, measure_beside, peak_mb};
pub use process_tree::ProcessTree;
pub use simulator::{Asking, BenchSimulator};
pub use table::{Mark, MarkTable};

/// The sizes that the command line gives, or else these; none where nobody asked to measure, as
/// when all targets are built and run as tests.
///
/// A child that is to run the bare loop does so here and never returns.
pub fn sizes<const N: usize>(defaults: [usize; N]) -> Option<[usize; N]> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    if let [word, rest @ ..] = arguments.as_slice()
        && word == bare_loop::WORD
    {
        bare_loop::run(rest);
        std::process::exit(0);
    }
    if !arguments.iter().any(|argument| argument == "--bench") {
        println!("to measure, run this by cargo bench");
        return None;
    }
    let mut given = arguments.iter().filter_map(|argument| argument.parse().ok());
    Some(defaults.map(|default| given.next().unwrap_or(default)))
}
