//! Examples and exit codes at the end of each command's help.

use super::Arguments;
use clap::{Command, CommandFactory as _};

/// The command line with examples and exit codes in the help of every command.
pub fn command() -> Command {
    Arguments::command().mut_subcommands(with_help_ending)
}

fn with_help_ending(command: Command) -> Command {
    let text = help_ending(command.get_name());
    match command.get_after_long_help().map(ToString::to_string) {
        Some(long) => command.after_long_help(format!("{long}\n\n{text}")).after_help(text),
        None => command.after_help(text),
    }
}

fn help_ending(command: &str) -> String {
    let is_of_command = |line: &str| line.split(' ').nth(1) == Some(command);
    let mut text = String::from("Examples:\n");
    for (line, meaning) in EXAMPLES.iter().filter(|(line, _)| is_of_command(line)) {
        text.push_str(&format!("  {line}\n      {meaning}\n"));
    }
    text + "\nExit codes: " + exit_codes(command)
}

fn exit_codes(command: &str) -> &'static str {
    match command {
        "run" | "report" | "retry" | "enqueue" => RUN_EXIT_CODES,
        "demo" => DEMO_EXIT_CODES,
        "compare" => COMPARISON_EXIT_CODES,
        "bless" => BLESS_EXIT_CODES,
        "doctor" => CHECK_EXIT_CODES,
        _ => OTHER_EXIT_CODES,
    }
}

const RUN_EXIT_CODES: &str = "0 done and gate met; 1 error; 2 usage or settings; 3 finished incomplete \
(jobs without a score); 4 inconclusive comparison, only with --strict; 100 gate not met, or worse \
than the baseline.";
const COMPARISON_EXIT_CODES: &str = "0 same, better or inconclusive; 1 error; 2 usage or settings; \
4 inconclusive, only with --strict; 100 worse.";
const CHECK_EXIT_CODES: &str =
    "0 nothing to fix; 1 problems to fix, or an error; 2 usage or settings.";
const DEMO_EXIT_CODES: &str =
    "0 done; 1 error; 2 usage or settings; 3 finished incomplete (jobs without a score).";
const BLESS_EXIT_CODES: &str = "0 done; 1 error; 2 usage or settings, no such run, or a run with lost \
jobs (without --force).";
const OTHER_EXIT_CODES: &str = "0 done; 1 error; 2 usage or settings.";

/// Command lines with their explanations.
const EXAMPLES: &[(&str, &str)] = &[
    ("juror init quality", "Write settings and a small dataset into the folder quality"),
    ("juror demo", "Judge 27 interface components against the simulator"),
    ("juror demo --acrue -o demo.html", "Judge restyled photographs, and write an HTML report"),
    ("juror run shots.jsonl", "Run the free stages: tokens, retrieval, compilation"),
    (
        "juror run shots.jsonl --enable-llm-judge --budget-usd 5",
        "Let a vision model judge, for at most $5",
    ),
    (
        "juror run shots.jsonl --enable-llm-judge --budget-usd 5 --gate production --baseline main -o report.html",
        "Exit with 100 if the gate is missed or the run is worse than the run blessed as main",
    ),
    ("juror run --resume 20261123-010203-ab12", "Resume a run"),
    ("juror report nightly", "Print the report again"),
    ("juror report nightly -o report.html -o report.junit.xml", "Write HTML and JUnit XML"),
    ("juror compare main nightly", "Compare the run nightly with the run main"),
    ("juror compare main nightly --strict -o comparison.md", "Exit with 4 if inconclusive"),
    ("juror bless nightly-2026-11-22", "Make this run the baseline main, for --baseline main"),
    ("juror bless nightly-2026-11-22 --name gpt-4.1", "Name it gpt-4.1 instead"),
    ("juror bless --list", "List the blessed runs"),
    ("juror bless --remove gpt-4.1", "Remove a name"),
    ("juror calibrate nightly --labels labels.csv", "Compare the judge's scores with people's"),
    ("juror estimate shots.jsonl", "Cost, tokens and time with the model of the settings"),
    ("juror estimate shots.jsonl --all-models", "The same for every model with a price"),
    (
        "juror retry nightly --budget-usd 8",
        "Retry the jobs without a score, for at most $8 in total",
    ),
    (
        "juror enqueue shots.jsonl --enable-llm-judge --budget-usd 50 --run-id nightly --wait",
        "Publish the jobs to a fleet and follow the run to its end",
    ),
    ("juror cancel nightly", "Skip the jobs that are not judged yet"),
    ("juror dead-letters list", "List the dead letters"),
    ("juror dead-letters replay --all --run nightly", "Replay all of a run"),
    ("juror worker --data-root /srv/shots -j 32", "Judge jobs of the fleet, 32 calls at once"),
    ("juror aggregate --runs-dir /srv/runs", "Write the fleet's results into /srv/runs"),
    ("juror runs list", "List the runs, newest first"),
    ("juror runs trend --last 30", "Show how the metrics changed over 30 runs"),
    ("juror rubric show semantic --file > mine.toml", "Copy a rubric to write another one"),
    ("juror rubric check mine.toml", "Check it"),
    ("juror rubric show mine.toml", "Print the prompt"),
    ("juror cache stats", "Count the cached replies and the kept pictures of rendered code"),
    ("juror cache clear --only renders", "Render all code again in the next run"),
    ("juror budget show", "Show the remainder of the caps of day and month"),
    ("juror budget set month 60", "Let all runs of a month cost at most $60 together"),
    ("juror budget set day unlimited", "Lift the cap of the day"),
    ("juror budget history --days 30", "Show what each of the last 30 days cost"),
    ("juror doctor shots.jsonl", "Check settings, key, endpoint, prices, dataset and disk"),
    ("juror serve --data-root datasets", "Serve the dashboard on http://127.0.0.1:8080"),
    (
        "juror simulate --latency-ms 200 --fault rate-limit=0.05",
        "Serve a simulated vision API with a latency of 200 ms that refuses one call in twenty",
    ),
    ("juror settings > juror.toml", "Start a settings file from the defaults"),
    ("juror completions bash > /etc/bash_completion.d/juror", "Install completions for bash"),
    ("juror man /usr/local/share/man/man1", "Write the manual pages, one for each command"),
];

#[cfg(test)]
mod tests {
    use super::*;
    use clap::Parser as _;

    #[test]
    fn every_command_has_examples_that_parse_and_exit_codes() {
        for subcommand in command().get_subcommands_mut() {
            let name = subcommand.get_name().to_owned();
            let help = subcommand.render_long_help().to_string();
            assert!(help.contains("Examples:") && help.contains("Exit codes:"), "{name}: {help}");
        }
        for (line, _) in EXAMPLES {
            let words = line.split_whitespace().take_while(|word| *word != ">");
            Arguments::try_parse_from(words).unwrap_or_else(|error| panic!("{line}: {error}"));
        }
    }
}
