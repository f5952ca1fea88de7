//! Flags of the settings, the folders and the fleet in the commands that messages propose, so that
//! these find the same runs.

use crate::args;
use clap::ArgMatches;
use std::{
    borrow::Cow,
    sync::{PoisonError, RwLock},
};

/// Commands on runs and on their ledger. Others (`juror worker`) may run on another machine.
const ON_RUNS: [&str; 12] = [
    "bless",
    "budget",
    "cache",
    "calibrate",
    "cancel",
    "compare",
    "dead-letters",
    "enqueue",
    "report",
    "retry",
    "run",
    "runs",
];

/// Flags of every command.
const GLOBAL: [&str; 3] = ["config", "runs-dir", "state"];
/// Flags of commands on a fleet.
const FLEET: [&str; 4] = ["broker", "redis", "namespace", SWITCH];
/// The only one without a value.
const SWITCH: &str = "allow-volatile-redis";

/// Flags of this process's command line, with their values as a shell takes them.
static GIVEN: RwLock<Vec<(&str, String)>> = RwLock::new(Vec::new());

/// Remembers the flags of this process's command line. An address with a password is left out.
pub fn remember(mut matches: &ArgMatches) {
    while let Some((_, of_command)) = matches.subcommand() {
        matches = of_command;
    }
    let value = |flag: &str| {
        let mut values = matches.try_get_raw(&flag.replace('-', "_")).ok()??;
        values.next().map(|value| value.to_string_lossy().into_owned())
    };
    let given = GLOBAL.iter().chain(&FLEET).filter_map(|flag| match (*flag, value(flag)?) {
        (SWITCH, value) => (value == "true").then_some((SWITCH, String::new())),
        (flag, address) if address.contains('@') && FLEET.contains(&flag) => None,
        (flag, value) => Some((flag, quoted(&value))),
    });
    *GIVEN.write().unwrap_or_else(PoisonError::into_inner) = given.collect();
}

/// Remembers the runs directory of a run that is named by its path.
pub fn remember_runs_dir(runs_dir: &str) {
    let mut given = GIVEN.write().unwrap_or_else(PoisonError::into_inner);
    given.retain(|(flag, _)| *flag != "runs-dir");
    given.push(("runs-dir", quoted(runs_dir)));
}

/// A message with these flags in each command that it proposes.
pub fn add_to_commands(message: &str) -> Cow<'_, str> {
    let given = GIVEN.read().unwrap_or_else(PoisonError::into_inner);
    match given.is_empty() {
        true => Cow::Borrowed(message),
        false => Cow::Owned(with_flags(message, &given)),
    }
}

/// A value as a shell takes it.
pub fn quoted(value: &str) -> String {
    let is_plain = |byte: u8| byte.is_ascii_alphanumeric() || b"_./:=@%+,-".contains(&byte);
    match !value.is_empty() && value.bytes().all(is_plain) {
        true => value.to_owned(),
        false => format!("'{}'", value.replace('\'', r"'\''")),
    }
}

fn with_flags(message: &str, given: &[(&str, String)]) -> String {
    let mut parts = message.split("juror ");
    let mut text = parts.next().unwrap_or_default().to_owned();
    for part in parts {
        // A path may contain the program's name.
        let is_command =
            text.chars().next_back().is_none_or(|c| c.is_whitespace() || "`(".contains(c));
        let (command, flags) = match is_command {
            true => flags_of_command(part, given),
            false => ("", String::new()),
        };
        text.push_str(&format!("juror {command}{flags}"));
        text.push_str(part.strip_prefix(command).unwrap_or_default());
    }
    text
}

/// The names of the command at the start of a text, and its flags; both empty where there is none.
fn flags_of_command<'text>(text: &'text str, given: &[(&str, String)]) -> (&'text str, String) {
    let root = args::command();
    let name_length = |text: &str| {
        text.bytes().take_while(|byte| byte.is_ascii_lowercase() || *byte == b'-').count()
    };
    let first = text.get(..name_length(text)).unwrap_or_default();
    let Some(mut command) = root.find_subcommand(first).filter(|_| ON_RUNS.contains(&first)) else {
        return ("", String::new());
    };
    let mut names = first;
    if let Some(rest) = text.strip_prefix(first).and_then(|rest| rest.strip_prefix(' '))
        && let Some(inner) =
            command.find_subcommand(rest.get(..name_length(rest)).unwrap_or_default())
    {
        names = text.get(..first.len() + 1 + inner.get_name().len()).unwrap_or(first);
        command = inner;
    }
    let after = text.strip_prefix(names).and_then(|rest| rest.chars().next());
    if after.is_some_and(|c| !c.is_whitespace() && !"`.,;:)".contains(c)) {
        return ("", String::new());
    }
    let takes = |flag: &str| {
        let mut own = command.get_arguments().filter_map(|argument| argument.get_long());
        GLOBAL.contains(&flag) || own.any(|own| own == flag)
    };
    let flags = given.iter().filter(|(flag, _)| takes(flag)).map(|(flag, value)| {
        let value = if value.is_empty() { String::new() } else { format!(" {value}") };
        format!(" --{flag}{value}")
    });
    (names, flags.collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn proposed_commands_get_the_flags_that_they_take() {
        let given = [
            ("runs-dir", quoted("my runs")),
            ("namespace", quoted("night")),
            ("allow-volatile-redis", String::new()),
        ];
        for (message, located) in [
            (
                "resume with: juror retry a; or look at `juror runs`",
                "resume with: juror retry --runs-dir 'my runs' --namespace night \
                 --allow-volatile-redis a; or look at `juror runs --runs-dir 'my runs' --namespace \
                 night --allow-volatile-redis`",
            ),
            ("juror bless a\n", "juror bless --runs-dir 'my runs' a\n"),
            (
                "juror dead-letters list.",
                "juror dead-letters list --runs-dir 'my runs' --namespace night \
                 --allow-volatile-redis.",
            ),
            (
                "another juror process; start juror worker",
                "another juror process; start juror worker",
            ),
            ("runs and juror", "runs and juror"),
            ("report: /srv/juror runs/night", "report: /srv/juror runs/night"),
            ("in '/srv/my juror runs/night'", "in '/srv/my juror runs/night'"),
        ] {
            assert_eq!(with_flags(message, &given), located);
        }
    }
}
