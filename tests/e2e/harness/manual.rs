//! Pages of the manual and execution of their commands.

use super::{ApiServer, CommandHarness, Finished, SimulatorProcess, repository};
use std::{path::Path, process::Command};

/// A page of `docs/`.
pub struct Manual {
    text: String,
}

/// Command of a page.
struct Shown {
    line: String,
    /// Expected exit code: `0`, or the number in the comment after it.
    code: i32,
}

impl Manual {
    pub fn page(name: &str) -> Self {
        let text = std::fs::read_to_string(repository(&format!("docs/{name}.md"))).unwrap();
        Self { text }
    }

    /// The texts of the page's fenced blocks in this language.
    pub fn blocks(&self, language: &str) -> Vec<&str> {
        let fence = format!("```{language}\n");
        let fenced = self.text.split(&fence).skip(1);
        fenced.map(|rest| rest.split("```").next().unwrap_or_default()).collect()
    }

    /// True if the page has this name as code, alone or with a value.
    pub fn names(&self, name: &str) -> bool {
        [format!("`{name}`"), format!("`{name}=")].iter().any(|code| self.text.contains(code))
    }

    /// Runs every command of the page in order, in a shell in the harness's folder, and asserts its
    /// exit code. Servers of the page, `juror simulate … &` and `juror serve …`, run until its end
    /// at a free address. Programs in the harness's `bin` replace those of the reader.
    #[track_caller]
    pub fn run(&self, harness: &CommandHarness, variables: &[(&str, &str)]) {
        let mut served: Vec<(String, SimulatorProcess)> = Vec::new();
        let mut apis = Vec::new();
        let shown = self.shown();
        assert!(!shown.is_empty(), "the page has no command");
        for Shown { line, code } in shown {
            if let Some(server) = line.strip_suffix(" &") {
                let words: Vec<&str> = server.split_whitespace().skip(1).collect();
                let place = words.iter().position(|word| *word == "--listen").unwrap() + 1;
                let address = words[place].to_owned();
                let flags: Vec<&str> = words[1..].iter().map(|word| free(word, &address)).collect();
                served.push((address, SimulatorProcess::start_with(harness, &flags)));
                continue;
            }
            let mut script = line.clone();
            for (address, server) in &served {
                script = script.replace(&format!("http://{address}/v1"), &server.base_url);
            }
            if script.contains("juror serve") {
                let api = ApiServer::start(shell(harness, &with_free_port(&script), variables));
                api.get("/healthz").has_status(200);
                apis.push(api);
                continue;
            }
            let mut shell = shell(harness, &script, variables);
            let Finished { code: found, stdout, stderr } = shell.output().unwrap().into();
            assert_eq!(found, code, "{line}\nstdout:\n{stdout}\nstderr:\n{stderr}");
        }
    }

    /// The commands of its shell blocks, and of the steps of its CI jobs.
    fn shown(&self) -> Vec<Shown> {
        let blocks = self.text.split("```").skip(1).step_by(2);
        blocks
            .flat_map(|block| match block.split_once('\n') {
                Some(("sh", commands)) => lines(commands),
                Some(("yaml", job)) => steps(job),
                _ => Vec::new(),
            })
            .map(|line| {
                let (line, comment) = line.split_once(" # exits with ").unwrap_or((&line, "0"));
                let code = comment.split([' ', ':']).next().unwrap().parse().unwrap();
                Shown { line: line.trim().to_owned(), code }
            })
            .collect()
    }
}

/// Shell in the harness's folder for this script.
fn shell(harness: &CommandHarness, script: &str, variables: &[(&str, &str)]) -> Command {
    let binary = Path::new(env!("CARGO_BIN_EXE_juror")).parent().unwrap();
    let path = [binary, &harness.path("bin")].map(|folder| folder.display().to_string());
    let path = format!("{}:{}", path.join(":"), std::env::var("PATH").unwrap());
    let mut shell = harness.program("sh");
    shell.args(["-euc", script]).env("PATH", path).envs(variables.iter().copied());
    shell
}

/// Command of a server with a free port of its address.
fn with_free_port(command: &str) -> String {
    match command.split_once("--listen ") {
        None => format!("exec env {command} --listen 127.0.0.1:0"),
        Some((before, behind)) => {
            let (address, rest) = behind.split_once(' ').unwrap_or((behind, ""));
            let (host, _) = address.rsplit_once(':').unwrap();
            format!("exec env {before}--listen {host}:0 {rest}")
        }
    }
}

/// Each line, with those that a backslash joins to it.
fn lines(script: &str) -> Vec<String> {
    let joined = script.replace("\\\n", " ");
    joined.lines().map(|line| line.trim().to_owned()).filter(|line| !line.is_empty()).collect()
}

/// Commands of a job's steps: `run: …` on the line, or the deeper lines below `run: |`.
fn steps(job: &str) -> Vec<String> {
    let depth = |line: &str| line.len() - line.trim_start_matches([' ', '-']).len();
    let mut found = Vec::new();
    let mut rest = job.lines().peekable();
    while let Some(line) = rest.next() {
        match line.trim_start_matches([' ', '-']).strip_prefix("run: ") {
            Some("|") => {
                let mut script = String::new();
                while let Some(deeper) = rest.next_if(|next| depth(next) > depth(line)) {
                    script.push_str(deeper);
                    script.push('\n');
                }
                found.extend(lines(&script));
            }
            Some(command) => found.push(command.to_owned()),
            None => {}
        }
    }
    found
}

/// Replaces the address of a page, which may be in use, by a free one.
fn free<'a>(word: &'a str, address: &str) -> &'a str {
    if word == address { "127.0.0.1:0" } else { word }
}
