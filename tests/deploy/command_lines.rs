//! Command lines in `deploy/` and its page, compared with the help of the command.

use crate::{repository, text_of};
use std::{collections::BTreeSet, fs, process::Command};

/// Command line: its location, and its words after `juror`.
type Line = (String, Vec<String>);

/// The files that name the command, from the root.
fn files() -> Vec<String> {
    let mut files = vec!["docs/deploy.md".to_owned()];
    let mut folders = vec!["deploy".to_owned()];
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(repository(&folder)).unwrap().map(Result::unwrap) {
            let name = format!("{folder}/{}", entry.file_name().to_string_lossy());
            if entry.path().is_dir() { folders.push(name) } else { files.push(name) }
        }
    }
    files
}

/// Commands in a file: text in backquotes, fenced or inline, and the `Exec` lines of units.
fn code(file: &str) -> Vec<String> {
    let text = text_of(file).replace("\\\n", " ");
    let is_start = |line: &&str| line.starts_with("ExecStart=");
    let mut parts: Vec<String> = text.lines().filter(is_start).map(str::to_owned).collect();
    let blocks = text.split("```").skip(1).step_by(2);
    parts.extend(blocks.flat_map(str::lines).map(str::to_owned));
    for prose in text.split("```").step_by(2) {
        parts.extend(prose.split('`').skip(1).step_by(2).map(str::to_owned));
    }
    parts
}

fn command_lines() -> Vec<Line> {
    let mut lines = Vec::new();
    for file in files() {
        for part in code(&file) {
            let words: Vec<String> = part.split_whitespace().map(str::to_owned).collect();
            let is_juror = |word: &String| word == "juror" || word.ends_with("/bin/juror");
            if let Some(place) = words.iter().position(is_juror) {
                lines.push((file.clone(), words[place + 1..].to_vec()));
            }
        }
    }
    lines
}

/// Help of a command; `None` for an unknown command.
fn help(command: &[&str]) -> Option<String> {
    let output = Command::new(env!("CARGO_BIN_EXE_juror")).args(command).arg("--help").output();
    let output = output.unwrap();
    output.status.success().then(|| String::from_utf8(output.stdout).unwrap())
}

fn flags(help: &str) -> BTreeSet<&str> {
    let words = help.split(|letter: char| !letter.is_ascii_alphanumeric() && letter != '-');
    words.filter(|word| word.starts_with("--")).collect()
}

/// Asserts that the command line names an existing command and existing flags.
#[track_caller]
pub fn assert_known(place: &str, words: &[String]) {
    let is_name = |word: &&String| word.starts_with(|letter: char| letter.is_ascii_lowercase());
    let names = words.iter().take_while(is_name).map(String::as_str).collect::<Vec<_>>();
    let of_one = names.first().and_then(|name| help(&[name]));
    let one = of_one.unwrap_or_else(|| panic!("{place}: there is no `juror {}`", words.join(" ")));
    let help = match &names[..] {
        [name, further, ..] if one.contains("\nCommands:") => help(&[name, further]),
        _ => Some(one),
    };
    let help = help.unwrap_or_else(|| panic!("{place}: there is no `juror {}`", words.join(" ")));
    for flag in words.iter().filter(|word| word.starts_with("--")) {
        let name = flag.split('=').next().unwrap_or_default();
        assert!(flags(&help).contains(name), "{place}: `juror {}` has no {name}", names.join(" "));
    }
}

#[test]
fn command_lines_parse() {
    let lines = command_lines();
    let starts_a_command =
        |words: &[String]| words.first().is_some_and(|word| word.starts_with(char::is_alphabetic));
    let commands: Vec<Line> =
        lines.into_iter().filter(|(_, words)| starts_a_command(words)).collect();
    for (file, words) in &commands {
        assert_known(file, words);
    }
    for role in ["worker", "aggregate", "serve", "enqueue", "run"] {
        assert!(commands.iter().any(|(_, words)| words[0] == role), "no command starts {role}");
    }
}

#[test]
fn every_variable_is_a_setting() {
    for file in files() {
        let text = text_of(&file);
        let is_letter = |letter: char| letter.is_ascii_alphanumeric() || letter == '_';
        let words = text.split(|letter| !is_letter(letter));
        for name in words.filter(|word| word.starts_with("JUROR_") && word.len() > 6) {
            assert!(name == "JUROR_CONFIG" || is_setting(name), "{file} names {name}");
        }
    }
}

/// True if the settings manual has the key, set or commented out.
fn is_setting(variable: &str) -> bool {
    let mut section = "";
    for line in juror_app::settings::DEFAULTS.lines() {
        if let Some(name) = line.strip_prefix('[').and_then(|rest| rest.strip_suffix(']')) {
            section = name;
        }
        let key = line.trim_start_matches("# ").split(" = ").next().unwrap_or_default();
        if variable == format!("JUROR_{section}_{key}").to_uppercase() {
            return true;
        }
    }
    false
}
