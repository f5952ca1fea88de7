//! Examples and exit codes at the end of each command's help.

use super::Arguments;
use clap::{Command, CommandFactory as _};

/// The command line with examples and exit codes in the help of every command.
pub fn command() -> Command {
    HELP_ENDINGS.iter().fold(Arguments::command(), |command, ending| {
        command.mut_subcommand(ending.command, |subcommand| ending.add_to(subcommand))
    })
}

/// The end of one command's help.
struct HelpEnding {
    command: &'static str,
    /// Command lines with what each does.
    examples: &'static [(&'static str, &'static str)],
    exit_codes: &'static str,
}

impl HelpEnding {
    fn add_to(&self, command: Command) -> Command {
        let text = self.text();
        match command.get_after_long_help().map(ToString::to_string) {
            Some(long) => command.after_long_help(format!("{long}\n\n{text}")).after_help(text),
            None => command.after_help(text),
        }
    }

    fn text(&self) -> String {
        let mut text = String::from("Examples:\n");
        for (line, meaning) in self.examples {
            text.push_str(&format!("  {line}\n      {meaning}\n"));
        }
        text.push_str("\nExit codes: ");
        text.push_str(self.exit_codes);
        text
    }
}

const OF_A_RUN: &str = "0 done and gate met; 1 error; 2 usage or settings; 3 finished incomplete \
(jobs without a score); 4 inconclusive comparison, only with --strict; 100 gate not met, or worse \
than the baseline.";
const OF_A_COMPARISON: &str = "0 same, better or inconclusive; 1 error; 2 usage or settings; \
4 inconclusive, only with --strict; 100 worse.";
const OF_A_CHECK: &str = "0 nothing to fix; 1 problems to fix, or an error; 2 usage or settings.";
const OF_OTHERS: &str = "0 done; 1 error; 2 usage or settings.";

const HELP_ENDINGS: &[HelpEnding] = &[
    HelpEnding {
        command: "init",
        examples: &[(
            "juror init quality",
            "Write settings and a small dataset into the folder quality",
        )],
        exit_codes: OF_OTHERS,
    },
    HelpEnding {
        command: "demo",
        examples: &[
            ("juror demo", "Judge 27 interface components against the simulator"),
            (
                "juror demo --acrue -o demo.html",
                "Judge restyled photographs, with a page to look at",
            ),
        ],
        exit_codes: "0 done; 1 error; 2 usage or settings; 3 finished incomplete (jobs without a \
            score).",
    },
    HelpEnding {
        command: "run",
        examples: &[
            ("juror run shots.jsonl", "Run the free stages: tokens, retrieval, compilation"),
            (
                "juror run shots.jsonl --enable-llm-judge --budget-usd 5",
                "Let a vision model judge, for at most $5",
            ),
            (
                "juror run shots.jsonl --enable-llm-judge --budget-usd 5 --gate production --baseline main -o report.html",
                "Exit with 100 if the gate is missed or the run is worse than the run blessed as main",
            ),
            ("juror run --resume 20261123-010203-ab12", "Go on where a run stopped"),
        ],
        exit_codes: OF_A_RUN,
    },
    HelpEnding {
        command: "report",
        examples: &[
            ("juror report nightly", "Print the report again"),
            (
                "juror report nightly -o report.html -o report.junit.xml",
                "Write a page and JUnit XML",
            ),
        ],
        exit_codes: OF_A_RUN,
    },
    HelpEnding {
        command: "compare",
        examples: &[
            ("juror compare main nightly", "Compare the run nightly with the run main"),
            ("juror compare main nightly --strict -o comparison.md", "Exit with 4 if inconclusive"),
        ],
        exit_codes: OF_A_COMPARISON,
    },
    HelpEnding {
        command: "bless",
        examples: &[
            (
                "juror bless nightly-2026-11-22",
                "Make this run the baseline main, for --baseline main",
            ),
            ("juror bless nightly-2026-11-22 --name gpt-4.1", "Name it gpt-4.1 instead"),
            ("juror bless --list", "List the blessed runs"),
            ("juror bless --remove gpt-4.1", "Take a name away"),
        ],
        exit_codes: "0 done; 1 error; 2 usage or settings, no such run, or a run with lost jobs \
            (without --force).",
    },
    HelpEnding {
        command: "calibrate",
        examples: &[(
            "juror calibrate nightly --labels labels.csv",
            "Compare scores with people's",
        )],
        exit_codes: OF_OTHERS,
    },
    HelpEnding {
        command: "estimate",
        examples: &[
            ("juror estimate shots.jsonl", "Cost, tokens and time with the model of the settings"),
            ("juror estimate shots.jsonl --all-models", "The same for every model with a price"),
        ],
        exit_codes: OF_OTHERS,
    },
    HelpEnding {
        command: "retry",
        examples: &[(
            "juror retry nightly --budget-usd 8",
            "Judge again what has no score, for at most $8 in all",
        )],
        exit_codes: OF_A_RUN,
    },
    HelpEnding {
        command: "enqueue",
        examples: &[(
            "juror enqueue shots.jsonl --enable-llm-judge --budget-usd 50 --run-id nightly --wait",
            "Publish the jobs to a fleet and follow the run to its end",
        )],
        exit_codes: OF_A_RUN,
    },
    HelpEnding {
        command: "cancel",
        examples: &[("juror cancel nightly", "Skip what is not judged yet")],
        exit_codes: OF_OTHERS,
    },
    HelpEnding {
        command: "dead-letters",
        examples: &[
            ("juror dead-letters list", "List the jobs that were set aside"),
            ("juror dead-letters replay --all --run nightly", "Send all of a run's again"),
        ],
        exit_codes: OF_OTHERS,
    },
    HelpEnding {
        command: "worker",
        examples: &[(
            "juror worker --data-root /srv/shots -j 32",
            "Judge jobs of the fleet, 32 calls at once",
        )],
        exit_codes: OF_OTHERS,
    },
    HelpEnding {
        command: "aggregate",
        examples: &[(
            "juror aggregate --runs-dir /srv/runs",
            "Write the fleet's results into /srv/runs",
        )],
        exit_codes: OF_OTHERS,
    },
    HelpEnding {
        command: "runs",
        examples: &[
            ("juror runs list", "List the runs, newest first"),
            ("juror runs trend --last 30", "Show how the metrics changed over 30 runs"),
        ],
        exit_codes: OF_OTHERS,
    },
    HelpEnding {
        command: "rubric",
        examples: &[
            ("juror rubric show semantic --file > mine.toml", "Copy a rubric to write another one"),
            ("juror rubric check mine.toml", "Check it"),
            ("juror rubric show mine.toml", "Print the question as it goes out"),
        ],
        exit_codes: OF_OTHERS,
    },
    HelpEnding {
        command: "cache",
        examples: &[
            (
                "juror cache stats",
                "Count the cached verdicts and the kept pictures of rendered code",
            ),
            ("juror cache clear --only renders", "Draw all code anew at the next run"),
        ],
        exit_codes: OF_OTHERS,
    },
    HelpEnding {
        command: "budget",
        examples: &[
            ("juror budget show", "Show what is left of the caps of day and month"),
            ("juror budget set month 60", "Let all runs of a month cost at most $60 together"),
            ("juror budget set day unlimited", "Lift the cap of the day"),
            ("juror budget history --days 30", "Show what each of the last 30 days cost"),
        ],
        exit_codes: OF_OTHERS,
    },
    HelpEnding {
        command: "doctor",
        examples: &[(
            "juror doctor shots.jsonl",
            "Check settings, key, endpoint, prices, dataset and disk",
        )],
        exit_codes: OF_A_CHECK,
    },
    HelpEnding {
        command: "serve",
        examples: &[(
            "juror serve --data-root datasets",
            "Serve the dashboard on http://127.0.0.1:8080",
        )],
        exit_codes: OF_OTHERS,
    },
    HelpEnding {
        command: "simulate",
        examples: &[(
            "juror simulate --latency-ms 200 --fault rate-limit=0.05",
            "Serve a free vision API that answers in 200 ms and refuses one call in twenty",
        )],
        exit_codes: OF_OTHERS,
    },
    HelpEnding {
        command: "settings",
        examples: &[("juror settings > juror.toml", "Start a settings file from the defaults")],
        exit_codes: OF_OTHERS,
    },
    HelpEnding {
        command: "completions",
        examples: &[(
            "juror completions bash > /etc/bash_completion.d/juror",
            "Install completions for bash",
        )],
        exit_codes: OF_OTHERS,
    },
    HelpEnding {
        command: "man",
        examples: &[(
            "juror man /usr/local/share/man/man1",
            "Write the manual pages, one for each command",
        )],
        exit_codes: OF_OTHERS,
    },
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
        for (line, _) in HELP_ENDINGS.iter().flat_map(|ending| ending.examples) {
            let words = line.split_whitespace().take_while(|word| *word != ">");
            Arguments::try_parse_from(words).unwrap_or_else(|error| panic!("{line}: {error}"));
        }
    }
}
