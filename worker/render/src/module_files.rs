//! Modules that a component may import: the shipped ones, and those of the settings' folder.

use crate::{error::RendererError, served_file::ServedFile};
use bytes::Bytes;
use juror_types::id::Digest;
use std::{
    collections::BTreeMap,
    fs, io,
    path::{Path, PathBuf},
};

/// Tailwind's browser build.
pub(crate) const TAILWIND_PATH: &str = "/modules/tailwind.js";
/// Name and version of that build.
pub(crate) const TAILWIND_NAME: &str = "Tailwind 4.3.4";

/// Path of the styles that the settings name.
const STYLESHEET_PATH: &str = "/page.css";
/// The element that loads them.
pub(crate) const STYLESHEET_LINK: &str = "<link rel=\"stylesheet\" href=\"/page.css\">";
/// Maximum size of these styles in bytes.
const MAX_STYLESHEET: u64 = 1 << 20;

/// Shipped files by their path in a page.
const SHIPPED: [(&str, &str); 7] = [
    ("/modules/react.bundle.js", include_str!("../../../config/render/react.bundle.js")),
    ("/modules/react.js", include_str!("../../../config/render/react.js")),
    ("/modules/react-dom.js", include_str!("../../../config/render/react-dom.js")),
    ("/modules/react-dom-client.js", include_str!("../../../config/render/react-dom-client.js")),
    ("/modules/react-jsx-runtime.js", include_str!("../../../config/render/react-jsx-runtime.js")),
    ("/modules/lucide.js", include_str!("../../../config/render/lucide.js")),
    (TAILWIND_PATH, include_str!("../../../config/render/tailwind.js")),
];

/// Versions of the bundled modules, including icons.
const VERSIONS: &str = include_str!("../../../config/render/VERSIONS");

/// Specifiers of the shipped modules.
const SPECIFIERS: [(&str, &str); 4] = [
    ("react", "/modules/react.js"),
    ("react-dom", "/modules/react-dom.js"),
    ("react-dom/client", "/modules/react-dom-client.js"),
    ("react/jsx-runtime", "/modules/react-jsx-runtime.js"),
];

/// Maximum number of files of a folder of modules, and maximum size of all in bytes.
const MAX_FILES: usize = 2000;
const MAX_BYTES: u64 = 32 << 20;

/// Modules that are served to pages.
#[derive(Clone, Debug)]
pub(crate) struct ModuleFiles {
    /// Files by their path in a page.
    pub files: BTreeMap<String, ServedFile>,
    /// Paths by specifier.
    pub specifiers: BTreeMap<String, String>,
    /// Digest of all files.
    pub digest: Digest,
}

impl ModuleFiles {
    /// The shipped modules, those below a folder, and the styles of a page.
    pub fn load(folder: Option<&Path>, stylesheet: Option<&Path>) -> Result<Self, RendererError> {
        let shipped = SHIPPED.map(|(path, text)| (path.to_owned(), ServedFile::script(text)));
        let specifiers = SPECIFIERS.map(|(name, path)| (name.to_owned(), path.to_owned()));
        let (mut files, mut specifiers) = (BTreeMap::from(shipped), BTreeMap::from(specifiers));
        if let Some(folder) = folder {
            let fault = |error: io::Error| RendererError::Modules {
                folder: folder.to_owned(),
                reason: error.to_string(),
            };
            for (name, content) in read_folder(folder).map_err(fault)? {
                let path = format!("/modules/own/{name}");
                specifiers.insert(specifier_of(&name).to_owned(), path.clone());
                files.insert(path, ServedFile::script(content));
            }
        }
        if let Some(file) = stylesheet {
            let styles = read_styles(file).map_err(|error| RendererError::Stylesheet {
                file: file.to_owned(),
                reason: error.to_string(),
            })?;
            files.insert(STYLESHEET_PATH.to_owned(), ServedFile::styles(styles));
        }
        let mut listed = VERSIONS.to_owned();
        for (path, file) in &files {
            listed.push_str(&format!("{path} {}\n", Digest::from_content(&file.content)));
        }
        Ok(Self { files, specifiers, digest: Digest::from_content(listed.as_bytes()) })
    }

    pub fn has_stylesheet(&self) -> bool {
        self.files.contains_key(STYLESHEET_PATH)
    }
}

/// "button" of "button.js", "@scope/ui" of "@scope/ui/index.mjs".
fn specifier_of(name: &str) -> &str {
    let stem = name.strip_suffix(".mjs").or(name.strip_suffix(".js")).unwrap_or(name);
    stem.strip_suffix("/index").unwrap_or(stem)
}

fn read_styles(file: &Path) -> io::Result<Vec<u8>> {
    if fs::metadata(file)?.len() > MAX_STYLESHEET {
        return Err(io::Error::other("more than 1 MB"));
    }
    fs::read(file)
}

/// Scripts below a folder by their path in it, with slashes. Symbolic links are not followed.
fn read_folder(folder: &Path) -> io::Result<BTreeMap<String, Bytes>> {
    let (mut found, mut bytes) = (BTreeMap::new(), 0);
    let mut folders: Vec<(PathBuf, String)> = vec![(folder.to_owned(), String::new())];
    while let Some((folder, prefix)) = folders.pop() {
        for entry in fs::read_dir(folder)? {
            let entry = entry?;
            let (kind, name) = (entry.file_type()?, entry.file_name());
            let name = format!("{prefix}{}", name.to_string_lossy());
            if kind.is_dir() {
                folders.push((entry.path(), format!("{name}/")));
            } else if kind.is_file() && (name.ends_with(".js") || name.ends_with(".mjs")) {
                bytes += entry.metadata()?.len();
                if found.len() >= MAX_FILES || bytes > MAX_BYTES {
                    return Err(io::Error::other("more than 2,000 modules or 32 MB"));
                }
                found.insert(name, Bytes::from(fs::read(entry.path())?));
            }
        }
    }
    Ok(found)
}

#[cfg(test)]
mod tests {
    use super::*;

    const SUMS: &str = include_str!("../../../config/render/SHA256SUMS");

    #[test]
    fn shipped_modules_match_their_bundle_digests() {
        for (path, text) in SHIPPED {
            let name = path.trim_start_matches("/modules/");
            let line = format!("{}  {name}", Digest::from_content(text.as_bytes()));
            assert!(SUMS.lines().any(|sum| sum == line), "{line}");
        }
        for (name, file) in [
            ("lucide-icons.txt", include_str!("../../../config/render/lucide-icons.txt")),
            ("LICENSE-lucide", include_str!("../../../config/render/LICENSE-lucide")),
            ("LICENSE-react", include_str!("../../../config/render/LICENSE-react")),
            ("LICENSE-tailwind", include_str!("../../../config/render/LICENSE-tailwind")),
            ("VERSIONS", VERSIONS),
        ] {
            assert!(
                SUMS.contains(&format!("{}  {name}", Digest::from_content(file.as_bytes()))),
                "{name}"
            );
        }
        assert_eq!(SUMS.lines().count(), SHIPPED.len() + 5, "{SUMS}");
        assert!(VERSIONS.lines().any(|line| line == TAILWIND_NAME.to_lowercase()), "{VERSIONS}");
    }

    #[test]
    fn folder_modules_are_named_by_path_and_take_precedence() {
        let folder = tempfile::tempdir().unwrap();
        fs::create_dir_all(folder.path().join("@acme/ui")).unwrap();
        fs::write(folder.path().join("@acme/ui/index.mjs"), "export default 1").unwrap();
        fs::write(folder.path().join("react.js"), "export default 2").unwrap();
        fs::write(folder.path().join("notes.txt"), "not a module").unwrap();
        let shipped = ModuleFiles::load(None, None).unwrap();
        let own = ModuleFiles::load(Some(folder.path()), None).unwrap();
        let has = |modules: &ModuleFiles, name: &str| modules.specifiers.contains_key(name);
        assert!(has(&own, "@acme/ui") && !has(&shipped, "@acme/ui") && !has(&own, "notes.txt"));
        let react = &own.specifiers["react"];
        assert_eq!(react, "/modules/own/react.js");
        assert_eq!(own.files[react].content, "export default 2");
        assert_ne!(own.digest, shipped.digest);
        fs::write(folder.path().join("react.js"), "export default 3").unwrap();
        assert_ne!(ModuleFiles::load(Some(folder.path()), None).unwrap().digest, own.digest);
    }

    #[test]
    fn links_out_of_the_folder_are_not_followed() {
        let (folder, other) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
        fs::write(other.path().join("secret.js"), "export default 1").unwrap();
        std::os::unix::fs::symlink(other.path(), folder.path().join("there")).unwrap();
        let link = folder.path().join("secret.js");
        std::os::unix::fs::symlink(other.path().join("secret.js"), link).unwrap();
        assert!(read_folder(folder.path()).unwrap().is_empty());
    }

    #[test]
    fn missing_folder_is_reported() {
        let error =
            ModuleFiles::load(Some(Path::new("no-such-folder")), None).unwrap_err().to_string();
        assert!(error.starts_with("render.modules: no-such-folder: "), "{error}");
    }
}
