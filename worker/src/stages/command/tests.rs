use super::*;
use crate::{item_texts::LoadedItem, stages::compile::Compilation};
use juror_files::data_roots::Roots;
use juror_types::{
    item::{ImageReference, Item, Language},
    outcome::ErrorKind,
};
use serde_json::json;
use std::{fs, io::Read, path::Path};
use tokio::task::spawn_blocking;

fn shell(script: &str, timeout: Duration) -> CommandSettings {
    let arguments = ["-c", script, "script", "{file}"].map(str::to_owned).to_vec();
    CommandSettings { program: "sh".to_owned(), arguments, timeout }
}

fn retrying(script: &str) -> CommandSettings {
    shell(script, Duration::from_secs(60))
}

async fn answered(script: &str) -> Result<LoadedItem, String> {
    let loaded = LoadedItem {
        code: Some("<p>".to_owned()),
        language: Some(Language::Html),
        retrieved_pattern: Some("card".to_owned()),
        ..LoadedItem::default()
    };
    let error_kind = ErrorKind::Pipeline;
    run_pipeline(&Item::default(), loaded, &Roots::new(vec![]), &retrying(script)).await.map_err(
        |error| {
            assert_eq!(error.kind, error_kind);
            error.message
        },
    )
}

#[tokio::test]
async fn exit_status_decides_whether_code_compiles() {
    for (script, expected) in [
        ("grep -q good", Compilation::Sound),
        ("grep -q good \"$1\" && case $1 in *.tsx) ;; *) exit 9;; esac", Compilation::Sound),
        ("exit 0", Compilation::Sound),
        ("echo '1:2 oops' >&2; exit 3", Compilation::Broken("exit status: 3: 1:2 oops".to_owned())),
        ("echo told; exit 1", Compilation::Broken("exit status: 1: told".to_owned())),
    ] {
        let compiled = compile("good code", Language::Tsx, &retrying(script)).await.unwrap();
        assert_eq!(compiled, expected, "{script}");
    }
}

#[tokio::test]
async fn failing_command_start_is_no_finding_about_the_code() {
    let absent = CommandSettings { program: "/no/such/compiler".to_owned(), ..retrying("") };
    let error = compile("x", Language::Ts, &absent).await.unwrap_err();
    assert_eq!(error.kind, ErrorKind::Pipeline);
    assert!(error.message.starts_with("compile_command /no/such/compiler: cannot be started"));
}

#[tokio::test]
async fn pipeline_output_replaces_the_item_data() {
    let answer = json!({"generated_code": "export const a = 1", "quality_score": 0.5,
        "extracted_tokens": {"color": {"primary": "red"}}});
    let loaded = answered(&format!("cat >/dev/null; echo '{answer}'")).await.unwrap();
    assert_eq!(loaded.code.as_deref(), Some("export const a = 1"));
    assert_eq!(loaded.language, Some(Language::Tsx));
    assert_eq!(loaded.quality_score, Some(0.5));
    assert_eq!(loaded.retrieved_pattern.as_deref(), Some("card"));
    assert_eq!(loaded.extracted_tokens.unwrap()["color.primary"], json!("red"));
}

#[tokio::test]
async fn pipeline_receives_the_item_and_its_image_paths() {
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join("a.png"), "x").unwrap();
    let mut item = Item { id: "one".to_owned(), ..Item::default() };
    for (name, reference) in [("screenshot", "a.png"), ("before", "https://example.com/b.png")] {
        let image = ImageReference { reference: reference.to_owned(), sha256: None };
        item.images.insert(name.to_owned(), image);
    }
    let roots = Roots::new(vec![folder.path().to_owned()]);
    let keep = folder.path().join("request.json");
    let script = format!("cat > {}; echo '{{\"quality_score\": 1}}'", keep.display());
    run_pipeline(&item, LoadedItem::default(), &roots, &retrying(&script)).await.unwrap();
    let request: serde_json::Value = serde_json::from_slice(&fs::read(keep).unwrap()).unwrap();
    assert_eq!(request["schema"], 1);
    assert_eq!(request["id"], "one");
    let path = folder.path().canonicalize().unwrap().join("a.png");
    assert_eq!(request["paths"], json!({"screenshot": path}));
}

#[tokio::test]
async fn pipeline_failure_is_reported() {
    for (script, message) in [
        ("echo broken >&2; exit 7", "pipeline_command sh: exit status: 7: broken"),
        ("kill -9 $$", "signal: 9"),
        ("echo nonsense", "not the JSON object"),
        ("echo '{}'", "its answer has no field"),
        ("echo '{\"generated_cod\": 1}'", "unknown field `generated_cod`"),
        ("echo '{\"quality_score\": 88}'", "quality_score 88 is not from 0 to 1"),
        ("echo '{\"extracted_tokens\": 3}'", "extracted_tokens: tokens must be"),
        ("cat /dev/zero", "more than 8 MB"),
        ("head -c 300000 /dev/zero | tr '\\0' x >&2; echo end >&2; exit 1", "xend"),
    ] {
        let error = answered(script).await.unwrap_err();
        assert!(error.contains(message), "{script}: {error}");
        assert!(error.len() < 3000);
    }
}

/// A named pipe whose reader sees its end only after every process that a script started has ended.
fn life_line(folder: &Path) -> std::path::PathBuf {
    let path = folder.join("life");
    let made = std::process::Command::new("mkfifo").arg(&path).status().unwrap();
    assert!(made.success());
    path
}

/// Waits until a script has started; returns the file that signals its death.
fn until_up(life: &Path) -> fs::File {
    let mut life = fs::File::open(life).unwrap();
    life.read_exact(&mut [0; 3]).unwrap();
    life
}

async fn until_dead(mut life: fs::File) {
    let rest = spawn_blocking(move || life.read_to_end(&mut Vec::new()).unwrap());
    assert_eq!(rest.await.unwrap(), 0);
}

// The paused clock does not advance while a blocking task runs, so time is up only after the script
// is.
#[tokio::test(start_paused = true)]
async fn timeout_ends_a_command_and_its_children() {
    let folder = tempfile::tempdir().unwrap();
    let life = life_line(folder.path());
    let settings = retrying(&endless(&life));
    let up = spawn_blocking(move || until_up(&life));
    let (compiled, life) = tokio::join!(compile("x", Language::Ts, &settings), up);
    let error = compiled.unwrap_err();
    assert!(error.message.contains("took longer than 60s and was killed"), "{}", error.message);
    until_dead(life.unwrap()).await;
}

#[tokio::test]
async fn cancelling_a_command_ends_it_and_its_children() {
    let folder = tempfile::tempdir().unwrap();
    let life = life_line(folder.path());
    let settings = retrying(&endless(&life));
    let up = spawn_blocking(move || until_up(&life));
    let life = tokio::select! {
        _ = compile("x", Language::Ts, &settings) => panic!("it cannot end"),
        life = up => life.unwrap(),
    };
    until_dead(life).await;
}

fn endless(life: &Path) -> String {
    format!("exec 9>{}; echo up >&9; sleep 1000 & sleep 1000", life.display())
}
