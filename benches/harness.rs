//! Resources of the benchmarks: screenshots, a simulator process, and a process of the real
//! command, whose processor time and peak memory are measured.
//!
//! All traffic is on loopback. Figures of one table come from the same run, so that their ratios
//! hold on slower or busier machines.
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

/// Sizes from the command line, or these defaults; none without `--bench`, as when all targets are
/// built and run as tests.
///
/// A child process for the bare loop runs it here and never returns.
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
