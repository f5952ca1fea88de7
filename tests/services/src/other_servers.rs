//! Third-party servers of OpenAI's chat completions: LiteLLM's proxy, aimock and fakellm.
//!
//! Each is installed on first use; an error has the reason of a failure, so that a test can be
//! skipped.

use crate::{
    install,
    process::{KEEPER, await_line, free_port},
};
use std::{
    os::unix::process::CommandExt as _,
    path::Path,
    process::{Child, Command, Stdio},
    time::Duration,
};

const LITELLM: &str = "litellm[proxy]==1.106.2";
const AIMOCK: &str = "@copilotkit/aimock@1.43.0";
const FAKELLM: &str = "fakellm==0.3.5";
/// LiteLLM starts in ten seconds on an idle machine.
const START_TIMEOUT: Duration = Duration::from_secs(240);

/// Server process, which ends when this is dropped.
pub struct OtherServer {
    port: u16,
    server: Child,
}

impl OtherServer {
    /// LiteLLM's proxy with this `config.yaml`, in whose folder it looks for Python modules.
    pub fn litellm(config: &Path, variables: &[(&str, &Path)]) -> Result<Self, String> {
        let programs = install::programs_from_pypi(LITELLM)?;
        let port = free_port();
        let mut command = Command::new("sh");
        command.args(["-c", KEEPER]).arg(programs.join("litellm"));
        command.args(["--host", "127.0.0.1", "--port", &port.to_string(), "--config"]);
        command.arg(config).args(["--telemetry", "False"]);
        // Its price table is a download otherwise.
        command.env("LITELLM_LOCAL_MODEL_COST_MAP", "True").envs(variables.iter().copied());
        Self::start(command, port, "Uvicorn running on")
    }

    /// aimock with these fixtures and, if one is given, a key that calls must carry.
    pub fn aimock(fixtures: &Path, key: Option<&str>) -> Result<Self, String> {
        let programs = install::programs_from_npm(AIMOCK)?;
        let port = free_port();
        let mut command = Command::new("sh");
        command.args(["-c", KEEPER]).arg(programs.join("llmock"));
        command.args(["--host", "127.0.0.1", "--port", &port.to_string(), "--fixtures"]);
        command.arg(fixtures).envs(key.map(|key| ("AIMOCK_API_KEYS", key)));
        Self::start(command, port, "listening on")
    }

    /// fakellm with this `fakellm.yaml`.
    pub fn fakellm(config: &Path) -> Result<Self, String> {
        let programs = install::programs_from_pypi(FAKELLM)?;
        let port = free_port();
        let mut command = Command::new("sh");
        command.args(["-c", KEEPER]).arg(programs.join("fakellm"));
        command.args(["serve", "--host", "127.0.0.1", "--port", &port.to_string(), "--config"]);
        command.arg(config);
        Self::start(command, port, "Uvicorn running on")
    }

    /// For `--base-url`.
    pub fn base_url(&self) -> String {
        format!("http://127.0.0.1:{}/v1", self.port)
    }

    /// Starts a server and waits until it reports that it is ready.
    fn start(mut command: Command, port: u16, ready: &'static str) -> Result<Self, String> {
        let (output, input) = std::io::pipe().expect("a pipe");
        let errors = input.try_clone().expect("a pipe");
        command.env("PYTHONUNBUFFERED", "1").stdin(Stdio::piped()).process_group(0);
        let server = command.stdout(input).stderr(errors).spawn().expect("a shell");
        // Holds the other ends of the pipe.
        drop(command);
        let server = Self { port, server };
        await_line(output, ready, START_TIMEOUT)
            .unwrap_or_else(|reason| panic!("the server did not come up: {reason}"));
        Ok(server)
    }
}

impl Drop for OtherServer {
    fn drop(&mut self) {
        // The supervisor kills its process group when its input ends.
        drop(self.server.stdin.take());
        let _ = self.server.wait();
    }
}
