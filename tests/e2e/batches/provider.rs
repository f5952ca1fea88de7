//! Conformance of providers' batches, run on OpenAI's against the simulator.

use crate::harness::{TestSimulator, png};
use bytes::Bytes;
use juror_simulator::{BatchEnd, BatchSettings, SimulatorConfig};
use juror_types::{
    job::Detail,
    lane::Lane,
    model::{OutputLimit, PromptCache},
};
use juror_worker::vision::{
    BatchEnding, BatchMark, BatchProvider, BatchStatus, CallEnd, ExtraHeaders, HttpSettings,
    Request, RequestImage, openai::OpenAi,
};
use std::{collections::BTreeSet, path::Path, time::Duration};

fn question(number: u32) -> Request {
    let bytes = Bytes::from(png(number, 64, 32));
    let image =
        RequestImage { label: "Screenshot:".to_owned(), media_type: "image/png", bytes, url: None };
    Request {
        model: "gpt-4o".to_owned(),
        system: "You judge.".into(),
        task: "Compare.".into(),
        item: format!("Number {number}"),
        images: vec![image],
        schema_name: "verdict".to_owned(),
        schema: r#"{"type":"object","properties":{}}"#.into(),
        temperature: Some(0.1),
        detail: Detail::High,
        max_output_tokens: 100,
        output_parameter: OutputLimit::MaxTokens,
        prompt_cache: PromptCache::Automatic,
        lane: Lane::Batch,
        slower: false,
    }
}

/// Checks the provider behavior that the batch lane relies on. `end` ends its batches.
async fn conforms(provider: &dyn BatchProvider, folder: &Path, end: impl Fn()) {
    let names: BTreeSet<String> = (0..4).map(|number| format!("job-{number}")).collect();
    let rows: Vec<u8> = names
        .iter()
        .zip(0..)
        .flat_map(|(name, number)| provider.row(name, &question(number)))
        .collect();
    let path = folder.join("rows.jsonl");
    std::fs::write(&path, rows).unwrap();
    let file = provider.upload(&path).await.unwrap();
    let mark = BatchMark { run: "night".to_owned(), shard: 7 };
    assert!(provider.find_up_to(&file, 1).await.unwrap().is_empty());
    let first = provider.create(&file, &mark).await.unwrap();
    assert_eq!(provider.find_up_to(&file, 1).await.unwrap(), [first.as_str()]);
    let other = BatchMark { shard: 8, ..mark.clone() };
    assert!(provider.find_up_to("file-other", 1).await.unwrap().is_empty(), "another file");
    assert!(matches!(provider.status(&first).await.unwrap(), BatchStatus::UnderWay(_)));

    let second = provider.create(&file, &other).await.unwrap();
    provider.cancel(&second).await.unwrap();
    let BatchStatus::Ended(cancelled) = provider.status(&second).await.unwrap() else {
        panic!("it is cancelled")
    };
    assert_eq!(cancelled.ending, BatchEnding::Cancelled);

    end();
    let BatchStatus::Ended(ended) = provider.status(&first).await.unwrap() else {
        panic!("it has ended")
    };
    assert_eq!((ended.ending, ended.counts.completed), (BatchEnding::Completed, 4));
    let output = folder.join("output.jsonl");
    provider.download(&ended.files[0], &output).await.unwrap();
    let content = std::fs::read(&output).unwrap();
    let mut named = BTreeSet::new();
    for line in content.split(|byte| *byte == b'\n').filter(|line| !line.is_empty()) {
        let row = provider.read_row(line).unwrap();
        let Some(CallEnd::Completed(answer)) = row.end else { panic!("{row:?}") };
        assert_eq!((answer.lane, answer.simulated), (Lane::Batch, true));
        named.insert(row.id);
    }
    assert_eq!(named, names);
    for _ in 0..2 {
        provider.delete_file(&file).await.unwrap();
    }
    assert!(provider.create(&file, &mark).await.is_err(), "its file is gone");
}

#[tokio::test]
async fn openai_batches_conform() {
    let batches = BatchSettings { end: BatchEnd::OnRequest, ..BatchSettings::default() };
    let simulator = TestSimulator::start(SimulatorConfig { batches, ..SimulatorConfig::default() });
    let provider = OpenAi::new(HttpSettings {
        base_url: simulator.base_url(),
        key: None,
        timeout: Duration::from_secs(60),
        concurrency: 1,
        proxy: None,
        ca_file: None,
        headers: ExtraHeaders::default(),
    })
    .unwrap();
    let folder = tempfile::tempdir().unwrap();
    conforms(&provider, folder.path(), || super::end_batches(&simulator)).await;
}
