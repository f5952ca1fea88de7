//! The rules of the house: who may know whom, and which library stands in which room.
#![allow(
    clippy::unwrap_used,
    clippy::indexing_slicing,
    clippy::panic,
    reason = "a test may break off"
)]

use std::{
    collections::BTreeSet,
    fs,
    path::{Path, PathBuf},
};

const ROOMS: [&str; 7] =
    ["cli", "server", "producer", "worker", "aggregator", "simulator", "common"];

fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

fn files_under(folder: &Path, found: &mut Vec<PathBuf>) {
    for entry in fs::read_dir(folder).unwrap().map(Result::unwrap) {
        let path = entry.path();
        if path.is_dir() {
            files_under(&path, found);
        } else if path.extension().is_some_and(|extension| extension == "rs") {
            found.push(path);
        }
    }
}

/// Every source file of these rooms: its path from the root, and its text without its tests and
/// comments.
fn sources(rooms: &[&str]) -> Vec<(String, String)> {
    let mut files = Vec::new();
    for room in rooms {
        files_under(&root().join(room), &mut files);
    }
    let read = |path: PathBuf| {
        let name = path.strip_prefix(root()).unwrap().to_string_lossy().into_owned();
        let text = fs::read_to_string(&path).unwrap();
        let code = text.split("#[cfg(test)]\nmod tests").next().unwrap_or_default();
        let is_code = |line: &&str| !line.trim_start().starts_with("//");
        (name, code.lines().filter(is_code).collect::<Vec<_>>().join("\n"))
    };
    let is_product = |(name, _): &(String, String)| {
        !name.ends_with("tests.rs") && !name.contains("/tests/") && !name.contains("conformance")
    };
    files.into_iter().map(read).filter(is_product).collect()
}

fn dependencies(manifest: &str) -> BTreeSet<String> {
    let text = fs::read_to_string(root().join(manifest)).unwrap();
    let table: toml::Table = toml::from_str(&text).unwrap();
    table["dependencies"].as_table().unwrap().keys().cloned().collect()
}

#[test]
fn the_roles_know_common_and_not_each_other() {
    for role in ["producer", "worker", "aggregator", "simulator"] {
        let rooms: BTreeSet<String> = dependencies(&format!("{role}/Cargo.toml"))
            .into_iter()
            .filter(|name| name.starts_with("juror"))
            .collect();
        assert_eq!(rooms, BTreeSet::from(["juror-common".to_owned()]), "{role}");
    }
}

#[test]
fn the_web_door_knows_who_reads_runs_and_not_who_judges() {
    let rooms = dependencies("server/Cargo.toml");
    for unknown in ["juror-worker", "juror-simulator"] {
        assert!(!rooms.contains(unknown), "server knows {unknown}");
    }
}

#[test]
fn common_knows_no_room() {
    let rooms = dependencies("common/Cargo.toml");
    assert!(!rooms.iter().any(|name| name.starts_with("juror")), "{rooms:?}");
}

#[test]
fn each_library_with_a_room_of_its_own_stays_there() {
    let homes: &[(&str, &[&str])] = &[
        ("reqwest", &["worker/src/vision/", "worker/src/sources/", "common/src/objects/"]),
        ("object_store", &["common/src/objects/"]),
        ("image", &["worker/src/image/"]),
        ("governor", &["worker/src/ceiling.rs"]),
        ("backoff", &["worker/src/retry.rs"]),
        ("rusqlite", &["common/src/admission/", "common/src/store/", "common/src/sqlite"]),
        ("redis", &["common/src/redis/", "common/src/admission/redis", "common/src/store/redis"]),
        ("tokio_rustls", &["common/src/tls/"]),
        ("oxc_parser", &["worker/src/stages/"]),
        ("html5ever", &["worker/src/stages/"]),
        ("hyper", &["simulator/src/", "common/src/telemetry/listener", "server/src/serve.rs"]),
        ("axum", &["server/src/"]),
        ("lapin", &["common/src/queue/rabbitmq/"]),
        ("prometheus", &["common/src/telemetry/"]),
    ];
    for &(library, home) in homes {
        let uses =
            [format!("use {library}::"), format!("use {library};"), format!(" ::{library}::")];
        for (name, code) in sources(&ROOMS) {
            let used = code.lines().any(|line| uses.iter().any(|use_| line.contains(use_)));
            let at_home = home.iter().any(|place| name.starts_with(place));
            assert!(!used || at_home, "{name} uses {library}, which belongs in {home:?}");
        }
        for room in ["common", "producer", "worker", "aggregator", "simulator", "server"] {
            let known = dependencies(&format!("{room}/Cargo.toml")).contains(library);
            let at_home = home.iter().any(|place| place.starts_with(room));
            assert!(!known || at_home, "{room} depends on {library}, which belongs in {home:?}");
        }
        assert!(!dependencies("Cargo.toml").contains(library), "the command depends on {library}");
    }
}

#[test]
fn only_the_command_line_reads_the_environment_and_prints() {
    let rooms = ["producer", "worker", "aggregator", "simulator", "server", "common"];
    for (name, code) in sources(&rooms) {
        for word in ["std::env", "env::var", "env::args", "println!", "eprintln!", "print!("] {
            assert!(!code.contains(word), "{name} has {word}");
        }
    }
}

#[test]
fn nobody_reaches_into_a_room_above() {
    for (room, unknown) in [
        ("common", &["producer", "worker", "aggregator", "simulator", "server"][..]),
        ("producer", &["worker", "aggregator", "simulator", "server"]),
        ("worker", &["producer", "aggregator", "simulator", "server"]),
        ("aggregator", &["producer", "worker", "simulator", "server"]),
        ("simulator", &["producer", "worker", "aggregator", "server"]),
        ("server", &["worker", "simulator"]),
    ] {
        let mut files = Vec::new();
        files_under(&root().join(room), &mut files);
        for path in files {
            // Tests too: a room that needs another one to be tested is not a room.
            let text = fs::read_to_string(&path).unwrap();
            for other in unknown {
                let name = format!("juror_{other}::");
                assert!(!text.contains(&name), "{} knows {other}", path.display());
            }
        }
    }
}

#[test]
fn every_task_has_an_owner_who_waits_for_it() {
    for (name, code) in sources(&ROOMS) {
        let lines: Vec<&str> = code.lines().map(str::trim).collect();
        for (number, line) in lines.iter().enumerate() {
            if !["tokio::spawn(", "task::spawn("].iter().any(|spawn| line.contains(spawn)) {
                continue;
            }
            let before = number.checked_sub(1).map_or("", |before| lines[before]);
            let bound = [*line, before].into_iter().find_map(|line| line.strip_prefix("let "));
            let handle = bound.and_then(|rest| rest.split([' ', ':', '=']).next());
            let handle = handle.unwrap_or_else(|| panic!("{name} lets a task go: {line}"));
            let later = lines[number + 1..].iter().any(|line| line.contains(handle));
            assert!(later && !handle.starts_with('_'), "{name} forgets its task {handle}");
        }
        for word in ["unbounded_channel", "Handle::current().spawn", "detach()"] {
            assert!(!code.contains(word), "{name} has {word}");
        }
    }
}

#[test]
fn a_lint_is_set_aside_only_with_a_proof() {
    for (name, code) in sources(&ROOMS) {
        assert!(!code.contains("#[allow("), "{name}: write #[expect(…, reason = \"…\")]");
        for (place, _) in code.match_indices("#[expect(") {
            let attribute = code[place..].split(")]").next().unwrap_or_default();
            assert!(attribute.contains("reason ="), "{name}: {attribute}");
        }
        for word in ["TODO", "FIXME", "todo!(", "unimplemented!("] {
            assert!(!code.contains(word), "{name} has {word}");
        }
    }
}

#[test]
fn everything_that_is_shipped_can_be_read() {
    use juror_common::{model, rubric, settings::Settings};
    assert!(model::Prices::builtin().iter().count() > 0);
    assert!(!model::Models::builtin().date().is_empty());
    Settings::resolve(&[]).unwrap();
    let mut shipped = 0;
    for entry in fs::read_dir(root().join("config/rubrics")).unwrap().map(Result::unwrap) {
        let name = entry.path().file_stem().unwrap().to_string_lossy().into_owned();
        let built_in = rubric::builtin().iter().find(|rubric| rubric.id == name);
        built_in.unwrap_or_else(|| panic!("{name} is shipped and not built in")).parse().unwrap();
        shipped += 1;
    }
    assert!(shipped >= 2);
}

#[test]
fn the_map_names_only_what_is_there() {
    let map = fs::read_to_string(root().join("ARCHITECTURE.md")).unwrap();
    for name in map.split('`').skip(1).step_by(2) {
        let is_file = name.ends_with(".rs") || name.ends_with(".toml");
        if is_file && name.contains('/') {
            let places = [name.to_owned(), format!("common/src/{name}")];
            let found = places.iter().any(|place| root().join(place).is_file());
            assert!(found, "ARCHITECTURE.md names {name}, which is not there");
        }
    }
}

/// The fragments of a page's headings, as web pages of repositories make them.
fn fragments(page: &str) -> BTreeSet<String> {
    let headings = page.lines().filter(|line| line.starts_with('#'));
    let kept = |c: char| c.is_alphanumeric() || matches!(c, ' ' | '-' | '_');
    let fragment = |heading: &str| {
        let heading = heading.trim_start_matches('#').trim().to_lowercase();
        heading.chars().filter(|c| kept(*c)).collect::<String>().replace(' ', "-")
    };
    headings.map(fragment).collect()
}

#[test]
fn links_between_pages_lead_somewhere() {
    let mut pages: Vec<PathBuf> =
        ["README.md", "CONTRIBUTING.md", "ARCHITECTURE.md"].map(|name| root().join(name)).into();
    pages.extend(fs::read_dir(root().join("docs")).unwrap().map(|entry| entry.unwrap().path()));
    pages.retain(|page| page.extension().is_some_and(|extension| extension == "md"));
    for page in pages {
        let text = fs::read_to_string(&page).unwrap();
        let links = text.split("](").skip(1).filter_map(|rest| rest.split_once(')'));
        for (link, _) in links.filter(|(link, _)| !link.contains("://")) {
            let (path, fragment) = link.split_once('#').unwrap_or((link, ""));
            let target = if path.is_empty() { page.clone() } else { page.with_file_name(path) };
            assert!(target.exists(), "{} links to {link}", page.display());
            if !fragment.is_empty() {
                let known = fragments(&fs::read_to_string(target).unwrap());
                assert!(known.contains(fragment), "{} links to {link}: {known:?}", page.display());
            }
        }
    }
}

#[test]
fn a_file_is_a_room_with_one_purpose() {
    let mut files = Vec::new();
    for room in ROOMS.iter().chain(&["tests"]) {
        files_under(&root().join(room), &mut files);
    }
    for path in files {
        let lines = fs::read_to_string(&path).unwrap().lines().count();
        assert!(lines <= 450, "{} has {lines} lines: split it", path.display());
    }
}

#[test]
fn no_drawer_for_odds_and_ends() {
    for (name, _) in sources(&ROOMS) {
        let stem = Path::new(&name).file_stem().unwrap().to_string_lossy().into_owned();
        assert!(!["util", "utils", "helper", "helpers", "misc"].contains(&stem.as_str()), "{name}");
    }
}
