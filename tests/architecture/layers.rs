//! Rules for dependencies between crates, and for the places in which libraries are used.

use super::sources::{CRATES, dependencies, files_under, root, source_folder, sources};
use std::{collections::BTreeSet, fs};

/// Each crate with its allowed dependencies.
const ARROWS: [(&str, &[&str]); 19] = [
    ("common/types", &[]),
    ("common/tls", &[]),
    ("common/telemetry", &["types"]),
    ("common/files", &["types"]),
    ("common/ledger", &["telemetry", "tls", "types"]),
    ("common/queue", &["telemetry", "tls", "types"]),
    ("aggregator/journal", &["files", "types"]),
    ("aggregator/analysis", &["files", "journal", "ledger", "types"]),
    ("aggregator/report", &["analysis", "journal", "types"]),
    ("producer", &["files", "ledger", "queue", "telemetry", "types"]),
    ("worker/evidence", &["types"]),
    ("worker/image", &["types"]),
    ("worker/render", &["evidence", "types"]),
    (
        "worker",
        &["evidence", "files", "image", "ledger", "queue", "render", "telemetry", "tls", "types"],
    ),
    (
        "aggregator",
        &["analysis", "files", "journal", "ledger", "queue", "report", "telemetry", "types"],
    ),
    ("simulator", &["types"]),
    (
        "app",
        &[
            "aggregator",
            "analysis",
            "files",
            "image",
            "journal",
            "ledger",
            "producer",
            "queue",
            "render",
            "report",
            "simulator",
            "telemetry",
            "tls",
            "types",
            "worker",
        ],
    ),
    (
        "server",
        &["analysis", "app", "files", "journal", "ledger", "queue", "report", "tls", "types"],
    ),
    (
        "cli",
        &[
            "aggregator",
            "analysis",
            "app",
            "files",
            "journal",
            "ledger",
            "producer",
            "queue",
            "report",
            "server",
            "simulator",
            "telemetry",
            "tls",
            "types",
            "worker",
        ],
    ),
];

/// Libraries with the only crates and modules that may use them.
const LIBRARIES: [(&str, &[&str]); 14] = [
    (
        "reqwest",
        &[
            "app/src/budgets/alerts/webhook.rs",
            "worker/src/vision/",
            "worker/src/sources/",
            "common/files/src/http_client.rs",
            "common/files/src/objects/",
        ],
    ),
    ("object_store", &["common/files/src/objects/"]),
    ("image", &["worker/image/src/"]),
    ("governor", &["worker/src/per_second_limiter.rs"]),
    ("backoff", &["worker/src/jitter.rs"]),
    ("rusqlite", &["common/ledger/src/sqlite/"]),
    ("redis", &["common/ledger/src/redis/"]),
    ("oxc_parser", &["worker/src/stages/"]),
    ("html5ever", &["worker/src/stages/"]),
    ("hyper", &["simulator/src/", "common/telemetry/src/listener", "server/src/serve.rs"]),
    ("axum", &["server/src/"]),
    ("lapin", &["common/queue/src/rabbitmq/"]),
    ("prometheus", &["common/telemetry/src/"]),
    ("rustls_platform_verifier", &["common/tls/src/"]),
];

#[test]
fn crates_depend_only_on_those_below_them() {
    assert_eq!(BTreeSet::from(ARROWS.map(|(folder, _)| folder)), BTreeSet::from(CRATES));
    for (folder, allowed) in ARROWS {
        let names = dependencies(folder).into_iter();
        let own = names.filter_map(|name| name.strip_prefix("juror-").map(str::to_owned));
        for name in own {
            assert!(allowed.contains(&name.as_str()), "{folder} depends on juror-{name}");
        }
    }
}

#[test]
fn tests_use_only_crates_below_too() {
    for role in ["producer", "worker", "aggregator", "simulator"] {
        for path in files_under(&root().join(role)) {
            let text = fs::read_to_string(&path).unwrap();
            for other in ["producer", "worker", "aggregator", "simulator", "server", "app"] {
                let used = text.contains(&format!("juror_{other}::"));
                assert!(!used || other == role, "{} uses juror-{other}", path.display());
            }
        }
    }
}

#[test]
fn restricted_libraries_are_used_only_in_their_crates() {
    for (library, places) in LIBRARIES {
        let uses =
            [format!("use {library}::"), format!("use {library};"), format!(" ::{library}::")];
        for source in sources(&CRATES) {
            let used = source.code.lines().any(|line| uses.iter().any(|use_| line.contains(use_)));
            let allowed = places.iter().any(|place| is_in(&source.name, place));
            assert!(!used || allowed, "{} uses {library}: allowed in {places:?}", source.name);
        }
        for folder in CRATES {
            let name = library.replace('_', "-");
            let known = dependencies(folder).iter().any(|own| *own == library || *own == name);
            let own = source_folder(folder);
            let own = own.strip_prefix(root()).unwrap().to_str().unwrap();
            let allowed = places.iter().any(|place| place.starts_with(own));
            assert!(!known || allowed, "{folder} depends on {library}: allowed in {places:?}");
        }
    }
}

/// True if a file is a module or in its folder: `worker/src/batch.rs` is in `worker/src/batch/`.
fn is_in(name: &str, place: &str) -> bool {
    name.starts_with(place) || name.strip_suffix(".rs") == place.strip_suffix('/')
}

#[test]
fn only_the_cli_reads_the_environment_and_prints() {
    let libraries: Vec<&str> = CRATES.into_iter().filter(|folder| *folder != "cli").collect();
    for source in sources(&libraries) {
        for word in ["std::env", "env::var", "env::args", "println!", "eprintln!", "print!("] {
            assert!(!source.code.contains(word), "{} has {word}", source.name);
        }
    }
}
