//! Files and batches over the wire.

use crate::client::{RunningSimulator, WireResponse, chat_request, png};
use juror_simulator::{BatchEnd, BatchFault, BatchSettings, Share, SimulatorConfig};
use serde_json::{Value, json};

fn row(id: &str, url: &str) -> Value {
    let body = chat_request(&[png(640, 480)], &format!("Compare {id}."));
    json!({"custom_id": id, "method": "POST", "url": url, "body": body})
}

fn rows(count: usize) -> Vec<Value> {
    (0..count).map(|number| row(&format!("row-{number}"), "/v1/chat/completions")).collect()
}

async fn upload(simulator: &RunningSimulator, rows: &[Value]) -> String {
    let lines: String = rows.iter().map(|row| format!("{row}\n")).collect();
    let body = format!(
        "--b\r\ncontent-disposition: form-data; name=\"purpose\"\r\n\r\nbatch\r\n--b\r\n\
         content-disposition: form-data; name=\"file\"; filename=\"x.jsonl\"\r\n\r\n{lines}\r\n--b--\r\n"
    );
    let headers = "content-type: multipart/form-data; boundary=b\r\n";
    let answer = simulator.send("POST", "/v1/files", headers, &body).await;
    assert_eq!(answer.json()["bytes"], lines.len());
    answer.json()["id"].as_str().unwrap().to_owned()
}

async fn create(simulator: &RunningSimulator, file: &str) -> WireResponse {
    let body = json!({"input_file_id": file, "endpoint": "/v1/chat/completions",
                      "completion_window": "24h", "metadata": {"mark": "x"}});
    simulator.send("POST", "/v1/batches", "", &body.to_string()).await
}

async fn look(simulator: &RunningSimulator, batch: &Value) -> Value {
    simulator.get(&format!("/v1/batches/{}", batch["id"].as_str().unwrap()), "").await.json()
}

async fn file(simulator: &RunningSimulator, id: &Value) -> Vec<Value> {
    let Some(id) = id.as_str() else { return Vec::new() };
    let content = simulator.get(&format!("/v1/files/{id}/content"), "").await.body;
    content.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

async fn start(
    faults: &[Share<BatchFault>],
    end: BatchEnd,
    enqueued_tokens: Option<u64>,
) -> RunningSimulator {
    let batches = BatchSettings { end, faults: faults.to_vec(), enqueued_tokens };
    RunningSimulator::start(SimulatorConfig { batches, ..SimulatorConfig::default() }).await
}

#[tokio::test]
async fn batch_rows_cost_half_the_price_of_calls() {
    let simulator = start(&[], BatchEnd::AfterPolls(1), None).await;
    let rows = rows(3);
    let file_id = upload(&simulator, &rows).await;
    let batch = create(&simulator, &file_id).await.json();
    assert_eq!(look(&simulator, &batch).await["status"], "in_progress");
    let ended = look(&simulator, &batch).await;
    assert_eq!(ended["status"], "completed");
    assert_eq!(ended["request_counts"], json!({"total": 3, "completed": 3, "failed": 0}));
    assert_eq!(ended["metadata"]["mark"], "x");
    let output = file(&simulator, &ended["output_file_id"]).await;
    assert_eq!(output.len(), 3);
    assert_eq!(output[0]["response"]["status_code"], 200);
    let reported: u64 = output
        .iter()
        .map(|row| row["response"]["body"]["usage"]["prompt_tokens"].as_u64().unwrap())
        .sum();
    assert_eq!(ended["usage"]["input_tokens"], reported);
    let in_batch = simulator.stop().await;

    let simulator = RunningSimulator::start(SimulatorConfig::default()).await;
    for row in &rows {
        simulator.complete(&row["body"]).await;
    }
    let realtime = simulator.stop().await;
    assert_eq!(in_batch.billed_usd + in_batch.billed_usd, realtime.billed_usd);
    assert_eq!((in_batch.batches, in_batch.usage), (1, realtime.usage));
}

#[tokio::test]
async fn failed_rows_have_both_error_shapes() {
    let faults = [
        Share { of: BatchFault::Expired, share: 0.3 },
        Share { of: BatchFault::RefusedRow, share: 0.3 },
        Share { of: BatchFault::FailedRow, share: 0.3 },
    ];
    let simulator = start(&faults, BatchEnd::default(), None).await;
    let file_id = upload(&simulator, &rows(60)).await;
    let batch = create(&simulator, &file_id).await.json();
    let ended = look(&simulator, &batch).await;
    assert_eq!(ended["status"], "expired");
    let (output, errors) = (
        file(&simulator, &ended["output_file_id"]).await,
        file(&simulator, &ended["error_file_id"]).await,
    );
    assert_eq!(output.len() + errors.len(), 60);
    let is = |row: &&Value, code: &str| row["error"]["code"] == code && row["response"].is_null();
    let expired = errors.iter().filter(|row| is(row, "batch_expired")).count();
    let refused = errors.iter().filter(|row| is(row, "server_error")).count();
    let failed = errors.iter().filter(|row| row["response"]["status_code"] == 500).count();
    assert_eq!(expired + refused + failed, errors.len());
    assert!(expired > 5 && refused > 5 && failed > 5, "{expired} {refused} {failed}");
    assert_eq!(simulator.stop().await.billed_calls, output.len() as u64);
}

#[tokio::test]
async fn rows_may_be_missing_duplicated_and_in_any_order() {
    for (fault, lines) in
        [(BatchFault::Missing, 0), (BatchFault::Doubled, 8), (BatchFault::Shuffled, 4)]
    {
        let simulator = start(&[fault.into()], BatchEnd::default(), None).await;
        let file_id = upload(&simulator, &rows(4)).await;
        let batch = create(&simulator, &file_id).await.json();
        let ended = look(&simulator, &batch).await;
        let output = file(&simulator, &ended["output_file_id"]).await;
        assert_eq!(output.len(), lines, "{fault:?}");
        if fault == BatchFault::Shuffled {
            assert_eq!(output[0]["custom_id"], "row-3");
        }
        assert_eq!(simulator.stop().await.billed_calls, 4);
    }
}

#[tokio::test]
async fn invalid_batch_files_fail_validation_with_the_line() {
    let simulator = start(&[], BatchEnd::default(), None).await;
    let twice = row("same", "/v1/chat/completions");
    for (rows, code, line) in [
        (vec![row("a", "/v1/responses")], "mismatched_endpoint", 1),
        (vec![twice.clone(), twice], "duplicate_custom_id", 2),
        (Vec::new(), "empty_file", 1),
    ] {
        let file_id = upload(&simulator, &rows).await;
        let batch = create(&simulator, &file_id).await.json();
        assert_eq!(batch["status"], "failed");
        assert_eq!(batch["errors"]["data"][0]["code"], code);
        assert_eq!(batch["errors"]["data"][0]["line"], line);
    }
    assert_eq!(simulator.stop().await.billed_calls, 0);
}

#[tokio::test]
async fn enqueued_tokens_are_limited_until_a_batch_has_ended() {
    for late in [false, true] {
        let faults: Vec<_> =
            late.then_some(BatchFault::LateTokenLimit.into()).into_iter().collect();
        let simulator = start(&faults, BatchEnd::default(), Some(1_500)).await;
        let file_id = upload(&simulator, &rows(2)).await;
        let first = create(&simulator, &file_id).await.json();
        let second = create(&simulator, &file_id).await;
        let (status, message) = match late {
            true => (200, second.json()["errors"]["data"][0]["message"].clone()),
            false => (400, second.json()["error"]["message"].clone()),
        };
        assert_eq!(second.status, status);
        assert!(message.as_str().unwrap().contains("Enqueued token limit reached"), "{message}");
        look(&simulator, &first).await;
        assert_eq!(create(&simulator, &file_id).await.json()["status"], "in_progress");
        simulator.stop().await;
    }
}

#[tokio::test]
async fn batch_creation_without_a_response_is_found_in_the_list() {
    let faults = [BatchFault::CreationLost.into()];
    let simulator = start(&faults, BatchEnd::OnRequest, None).await;
    let file_id = upload(&simulator, &rows(1)).await;
    assert_eq!(create(&simulator, &file_id).await.status, 0);
    let second = create(&simulator, &file_id).await.json();
    let page = simulator.get("/v1/batches?limit=1", "").await.json();
    assert_eq!((&page["data"][0]["id"], &page["has_more"]), (&second["id"], &json!(true)));
    let after = page["last_id"].as_str().unwrap();
    let next = simulator.get(&format!("/v1/batches?limit=1&after={after}"), "").await.json();
    assert_eq!((next["data"].as_array().unwrap().len(), &next["has_more"]), (1, &json!(false)));
    assert_eq!(look(&simulator, &second).await["status"], "in_progress");
    simulator.send("POST", "/end-batches", "", "").await;
    assert_eq!(look(&simulator, &second).await["status"], "completed");
    simulator.stop().await;
}

#[tokio::test]
async fn cancelled_batch_keeps_finished_rows() {
    let simulator = start(&[], BatchEnd::OnRequest, None).await;
    let file_id = upload(&simulator, &rows(4)).await;
    let batch = create(&simulator, &file_id).await.json();
    let path = format!("/v1/batches/{}/cancel", batch["id"].as_str().unwrap());
    assert_eq!(simulator.send("POST", &path, "", "").await.json()["status"], "cancelling");
    let ended = look(&simulator, &batch).await;
    assert_eq!(ended["status"], "cancelled");
    assert_eq!(file(&simulator, &ended["output_file_id"]).await.len(), 2);
    let deleted = simulator.send("DELETE", &format!("/v1/files/{file_id}"), "", "").await.json();
    assert_eq!(deleted["deleted"], true);
    assert_eq!(simulator.get(&format!("/v1/files/{file_id}"), "").await.status, 404);
    assert_eq!(simulator.stop().await.billed_calls, 2);
}

#[tokio::test]
async fn excess_creations_are_refused_with_a_wait() {
    let simulator = start(&[BatchFault::CreationLimit.into()], BatchEnd::default(), None).await;
    let file_id = upload(&simulator, &rows(1)).await;
    let refused = create(&simulator, &file_id).await;
    assert_eq!((refused.status, refused.headers["retry-after-ms"].as_str()), (429, "20"));
    assert_eq!(create(&simulator, &file_id).await.status, 200);
    simulator.stop().await;
}
