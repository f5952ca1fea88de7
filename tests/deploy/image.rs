//! `deploy/Dockerfile` and what its build is given.

use crate::{
    file_validators::{assert_silent, hadolint},
    repository, text_of,
};
use std::{
    collections::BTreeMap,
    fs,
    io::{BufRead as _, BufReader, Write as _},
    net::TcpListener,
    path::Path,
    process::Command,
};

/// The instructions of the Dockerfile, each on one line, without comments.
fn instructions() -> Vec<String> {
    let text = text_of("deploy/Dockerfile");
    let lines = text.lines().filter(|line| !line.starts_with('#') && !line.is_empty());
    let joined = lines.collect::<Vec<_>>().join("\n").replace("\\\n", " ");
    joined.lines().map(str::to_owned).collect()
}

/// Environment that the image sets.
pub fn environment() -> BTreeMap<String, String> {
    let instructions = instructions();
    let pairs = instructions.iter().filter_map(|line| line.strip_prefix("ENV "));
    let pairs = pairs.flat_map(str::split_whitespace);
    pairs.map(|pair| pair.split_once('=').unwrap()).map(|(a, b)| (a.into(), b.into())).collect()
}

#[test]
fn hadolint_reports_nothing() {
    assert_silent(hadolint().arg(repository("deploy/Dockerfile")));
}

#[test]
fn program_does_not_run_as_root() {
    let instructions = instructions();
    let user = instructions.iter().rev().find_map(|line| line.strip_prefix("USER ")).unwrap();
    let (user, group) = user.split_once(':').unwrap();
    assert!(user.parse::<u32>().unwrap() > 0 && group.parse::<u32>().unwrap() > 0);
}

#[test]
fn ended_browsers_are_reaped_without_a_flag_of_the_container() {
    let instructions = instructions();
    assert!(instructions.contains(&r#"ENTRYPOINT ["tini", "--", "juror"]"#.to_owned()));
    let installs = |line: &String| line.contains("apt-get install") && line.contains(" tini ");
    assert!(instructions.iter().any(installs));
}

#[test]
fn image_uses_the_toolchain_of_the_manifest() {
    let manifest: toml::Table = text_of("Cargo.toml").parse().unwrap();
    let wanted = manifest["workspace"]["package"]["rust-version"].as_str().unwrap();
    let from = format!("FROM rust:{wanted}-");
    assert!(instructions().iter().any(|line| line.starts_with(&from)), "no {from}");
}

#[test]
fn both_stages_use_one_debian_release_for_libc_compatibility() {
    let instructions = instructions();
    let images = instructions.iter().filter_map(|line| line.strip_prefix("FROM "));
    let images = images.map(|rest| rest.split(' ').next().unwrap()).collect::<Vec<_>>();
    let [builder, last] = images[..] else { panic!("{images:?}") };
    let suite = last.strip_prefix("debian:").unwrap().strip_suffix("-slim").unwrap();
    assert!(builder.ends_with(&format!("-slim-{suite}")), "{images:?}");
}

/// Files and folders of the build context; all others are excluded.
fn context() -> Vec<String> {
    let text = text_of(".dockerignore");
    let mut patterns = text.lines().filter(|line| !line.starts_with('#'));
    assert_eq!(patterns.next(), Some("*"), "unlisted files must be excluded");
    patterns.map(|line| line.strip_prefix('!').unwrap().to_owned()).collect()
}

#[test]
fn build_context_has_every_source_of_the_program() {
    let folder = tempfile::tempdir().unwrap();
    for entry in context() {
        let copy = folder.path().join(&entry);
        fs::create_dir_all(copy.parent().unwrap()).unwrap();
        let copied = Command::new("cp").arg("-r").args([repository(&entry), copy]).status();
        assert!(copied.unwrap().success(), "{entry}");
    }
    // Every manifest is in the context with the files that it names, and the lock file matches.
    let tree = Command::new(env!("CARGO"))
        .args(["tree", "--workspace", "--locked", "--offline"])
        .current_dir(folder.path())
        .output()
        .unwrap();
    assert!(tree.status.success(), "{}", String::from_utf8_lossy(&tree.stderr));
    let mut included = 0;
    visit(folder.path(), &mut |source| {
        // Files that only tests include may be excluded.
        if source.to_string_lossy().ends_with("tests.rs") {
            return;
        }
        let text = fs::read_to_string(source).unwrap();
        for name in text.split("include_").skip(1).filter_map(included_file) {
            let path = match name.strip_prefix("$CARGO_MANIFEST_DIR/") {
                Some(from_root) => folder.path().join(from_root),
                None => source.parent().unwrap().join(name),
            };
            assert!(path.exists(), "{} includes {name}: not in .dockerignore", source.display());
            included += 1;
        }
    });
    assert!(included > 5);
}

/// File that `str!("…")` and similar macros include.
fn included_file(macro_call: &str) -> Option<&str> {
    let (kind, rest) = macro_call.split_once("!(\"")?;
    ["str", "bytes", "dir"].contains(&kind).then(|| rest.split('"').next()).flatten()
}

fn visit(folder: &Path, visitor: &mut impl FnMut(&Path)) {
    for path in fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()) {
        if path.is_dir() {
            visit(&path, visitor);
        } else if path.extension().is_some_and(|extension| extension == "rs") {
            visitor(&path);
        }
    }
}

#[test]
fn build_context_excludes_possible_secrets() {
    for entry in context() {
        let private = [".git", ".env", "deploy", "runs", "target", "juror.toml"];
        assert!(!private.contains(&entry.as_str()), "{entry}");
    }
    let instructions = instructions();
    assert!(!instructions.iter().any(|line| line.contains("API_KEY") || line.starts_with("ADD ")));
}

/// Runs the image's health check against a role that listens on this port.
fn is_healthy(listen: &str) -> bool {
    let instructions = instructions();
    let check = instructions.iter().find_map(|line| line.strip_prefix("HEALTHCHECK ")).unwrap();
    let (_, words) = check.split_once("CMD ").unwrap();
    let words: Vec<String> = serde_json::from_str(words).unwrap();
    let mut command = Command::new(&words[0]);
    let output = command.args(&words[1..]).env("JUROR_FLEET_LISTEN", listen).output().unwrap();
    output.status.success()
}

#[test]
fn health_check_uses_the_reported_health_of_the_role() {
    for (answer, healthy) in [("200 OK", true), ("503 Service Unavailable", false)] {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let port = listener.local_addr().unwrap().port();
        let role = std::thread::spawn(move || {
            let (mut stream, _) = listener.accept().unwrap();
            let lines = BufReader::new(&stream).lines().map(Result::unwrap);
            let request: Vec<String> = lines.take_while(|line| !line.is_empty()).collect();
            write!(stream, "HTTP/1.1 {answer}\r\nContent-Length: 0\r\n\r\n").unwrap();
            request
        });
        assert_eq!(is_healthy(&format!("0.0.0.0:{port}")), healthy, "{answer}");
        assert_eq!(role.join().unwrap()[0], "GET /healthz HTTP/1.1");
    }
}

#[test]
fn unresponsive_role_is_unhealthy() {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let port = listener.local_addr().unwrap().port();
    drop(listener);
    assert!(!is_healthy(&format!("0.0.0.0:{port}")));
}
