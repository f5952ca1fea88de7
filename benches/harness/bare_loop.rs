//! Minimal work of any implementation: reads a file, writes it in base64 into JSON, posts it, reads
//! the response. No prompt, checks, costs or journal. Juror's cost is stated as a multiple of this.

use super::measured::{Measured, measure};
use base64::{Engine as _, engine::general_purpose::STANDARD};
use std::{
    path::{Path, PathBuf},
    process::Command,
    sync::{Arc, Mutex, PoisonError},
};

/// First argument of the child that runs the loop.
pub const WORD: &str = "bare-loop";

/// Runs the loop in a separate process over every file of a folder.
pub fn bare_loop(base_url: &str, folder: &Path, at_once: usize) -> Measured {
    let own = std::env::current_exe().unwrap();
    let mut command = Command::new(own);
    command.arg(WORD).arg(base_url).arg(folder).arg(at_once.to_string());
    measure(&mut command, &[0])
}

pub(super) fn run(arguments: &[String]) {
    let [base_url, folder, at_once] = arguments else { panic!("three arguments") };
    let url = format!("{base_url}/chat/completions");
    let mut files: Vec<PathBuf> =
        std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()).collect();
    files.sort();
    let files = Arc::new(Mutex::new(files.into_iter()));
    // An error means that a provider is installed already.
    let _ = rustls::crypto::ring::default_provider().install_default();
    let client = reqwest::Client::builder().no_proxy().tls_certs_only([]).build().unwrap();
    tokio::runtime::Runtime::new().unwrap().block_on(async {
        let mut tasks = tokio::task::JoinSet::new();
        for _ in 0..at_once.parse().unwrap() {
            let (files, client, url) = (Arc::clone(&files), client.clone(), url.clone());
            tasks.spawn(async move {
                let next = || files.lock().unwrap_or_else(PoisonError::into_inner).next();
                while let Some(file) = next() {
                    let answer = call(&client, &url, std::fs::read(file).unwrap()).await;
                    assert!(answer.contains("choices"), "{answer}");
                }
            });
        }
        while let Some(ended) = tasks.join_next().await {
            ended.unwrap();
        }
    });
}

async fn call(client: &reqwest::Client, url: &str, image: Vec<u8>) -> String {
    let mut body = String::with_capacity(image.len() * 4 / 3 + 512);
    body.push_str(
        r#"{"model":"gpt-4o","max_tokens":1000,"messages":[{"role":"user","content":[{"type":"text","text":"Judge."},{"type":"image_url","image_url":{"url":"data:image/png;base64,"#,
    );
    STANDARD.encode_string(&image, &mut body);
    drop(image);
    body.push_str(r#""}}]}]}"#);
    let request = client.post(url).header("content-type", "application/json").body(body);
    request.send().await.unwrap().text().await.unwrap()
}
