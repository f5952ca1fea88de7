//! The browser on this machine.

use crate::error::RendererError;
use std::{
    io,
    path::{Path, PathBuf},
    process::Stdio,
    time::Duration,
};
use tokio::{process::Command, time::timeout};

/// Names of browsers that are looked for on PATH, in this order.
pub const BROWSER_NAMES: [&str; 5] =
    ["chromium", "chromium-browser", "google-chrome", "google-chrome-stable", "chrome"];

/// First version whose headless mode renders like its windows.
const MIN_BROWSER_VERSION: u32 = 112;

const VERSION_TIMEOUT: Duration = Duration::from_secs(30);

/// A browser that can be started.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct BrowserExecutable {
    pub program: PathBuf,
    /// Name and version, as in "Chromium 156.0.8078.79".
    pub name: String,
}

impl BrowserExecutable {
    /// The browser of the settings, else the first usable one on PATH. The error is that of the first
    /// one.
    pub async fn find(configured: Option<&Path>) -> Result<Self, RendererError> {
        if let Some(program) = configured {
            let absent = || Err("there is no such program".to_owned());
            let version_output = version_text(program).await.unwrap_or_else(absent);
            return Self::from_version_text(program, version_output);
        }
        let mut refused = None;
        for program in BROWSER_NAMES.map(Path::new) {
            let Some(version_output) = version_text(program).await else { continue };
            match Self::from_version_text(program, version_output) {
                Ok(found) => return Ok(found),
                Err(error) => refused = refused.or(Some(error)),
            }
        }
        Err(refused.unwrap_or(RendererError::NotFound { names: BROWSER_NAMES.join(", ") }))
    }

    fn from_version_text(
        program: &Path,
        version_output: Result<String, String>,
    ) -> Result<Self, RendererError> {
        let unusable = |reason| RendererError::Unusable { program: program.to_owned(), reason };
        let version_output = version_output.map_err(unusable)?;
        let (name, version) = name_and_version(&version_output)
            .ok_or_else(|| unusable("its --version names no version".to_owned()))?;
        if version < MIN_BROWSER_VERSION {
            return Err(RendererError::TooOld { browser: name, needed: MIN_BROWSER_VERSION });
        }
        Ok(Self { program: program.to_owned(), name })
    }
}

/// The output of `--version`, or the reason why there is none; `None` if there is no such program.
async fn version_text(program: &Path) -> Option<Result<String, String>> {
    let mut command = Command::new(program);
    command.arg("--version").stdin(Stdio::null()).stderr(Stdio::null()).kill_on_drop(true);
    let output = match timeout(VERSION_TIMEOUT, command.output()).await {
        Ok(Err(error)) if error.kind() == io::ErrorKind::NotFound => return None,
        Ok(Err(error)) => return Some(Err(error.to_string())),
        Err(_) => return Some(Err("--version took longer than 30 s".to_owned())),
        Ok(Ok(output)) => output,
    };
    if !output.status.success() {
        return Some(Err(format!("--version ended with {}", output.status)));
    }
    Some(Ok(String::from_utf8_lossy(&output.stdout).into_owned()))
}

/// "Chromium 156.0.8078.79" and 156 of "Chromium 156.0.8078.79 built on Debian".
fn name_and_version(version_output: &str) -> Option<(String, u32)> {
    let line = version_output.lines().find(|line| !line.trim().is_empty())?;
    let mut words = Vec::new();
    for word in line.split_whitespace() {
        words.push(word);
        if let Ok(major) = word.split('.').next().unwrap_or_default().parse() {
            return Some((words.join(" "), major));
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn browser_version_ends_at_its_number() {
        let found = name_and_version("Chromium 156.0.8078.79 built on Debian 12\n");
        assert_eq!(found, Some(("Chromium 156.0.8078.79".to_owned(), 156)));
        let found = name_and_version("\nGoogle Chrome 131.0.1.2\n");
        assert_eq!(found, Some(("Google Chrome 131.0.1.2".to_owned(), 131)));
        assert_eq!(name_and_version("command not found"), None);
    }

    #[tokio::test]
    async fn missing_outdated_or_foreign_program_is_reported() {
        let absent = BrowserExecutable::find(Some(Path::new("no-such-browser"))).await;
        assert!(absent.unwrap_err().to_string().starts_with("no-such-browser: there is no such"));
        let other = Ok("a program of another kind".to_owned());
        let other = BrowserExecutable::from_version_text(Path::new("other"), other);
        assert!(other.unwrap_err().to_string().starts_with("other: its --version names no"));
        let old = Ok("Chromium 90.0.1".to_owned());
        let old = BrowserExecutable::from_version_text(Path::new("chromium"), old);
        assert_eq!(
            old.unwrap_err().to_string(),
            "Chromium 90.0.1 is too old: rendering needs version 112 or newer"
        );
    }
}
