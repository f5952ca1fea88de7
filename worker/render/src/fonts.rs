//! Fonts that a browser of this machine renders with.

use juror_types::id::Digest;
use std::{process::Stdio, time::Duration};
use tokio::{process::Command, time::timeout};

/// Shell script that lists the fonts which the browser sees. Like the browser, it gets nothing of
/// the worker's environment but PATH, so the fonts of a user's home folder are not among them.
const LIST: &str = r#"
exec env -i PATH="$PATH" HOME=/nonexistent LANG=C.UTF-8 \
    fc-list --format '%{file} %{index} %{fontversion} %{fullname}\n'
"#;

const LIST_TIMEOUT: Duration = Duration::from_secs(30);

/// The fonts that are installed for all users.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct InstalledFonts {
    pub count: usize,
    /// Digest of their files, versions and names.
    pub digest: Digest,
}

impl InstalledFonts {
    /// Lists the fonts; `None` if `fc-list` is not installed.
    pub async fn list() -> Option<Self> {
        let mut command = Command::new("sh");
        command.args(["-c", LIST]).stdin(Stdio::null()).stderr(Stdio::null()).kill_on_drop(true);
        let output = timeout(LIST_TIMEOUT, command.output()).await.ok()?.ok()?;
        let listed = String::from_utf8_lossy(&output.stdout);
        output.status.success().then(|| Self::from_list(&listed))
    }

    fn from_list(listed: &str) -> Self {
        let mut fonts: Vec<&str> = listed.lines().filter(|line| !line.is_empty()).collect();
        // The order is that of folders, which differs between machines with equal fonts.
        fonts.sort_unstable();
        Self { count: fonts.len(), digest: Digest::from_content(fonts.join("\n").as_bytes()) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn font_set_digest_depends_on_fonts_and_versions_but_not_order() {
        let fonts = InstalledFonts::from_list("a.ttf 0 100 A\nb.ttf 0 100 B\n");
        assert_eq!(fonts.count, 2);
        assert_eq!(InstalledFonts::from_list("b.ttf 0 100 B\n\na.ttf 0 100 A\n"), fonts);
        for other in ["a.ttf 0 100 A", "a.ttf 0 101 A\nb.ttf 0 100 B", ""] {
            assert_ne!(InstalledFonts::from_list(other).digest, fonts.digest, "{other}");
        }
    }
}
