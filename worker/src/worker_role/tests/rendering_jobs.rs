//! Jobs that need a renderer.

use super::*;
use juror_types::evidence::EvidenceMode;

#[tokio::test]
async fn worker_without_a_renderer_requeues_rendering_jobs_and_ends_finished_ones() {
    let mut fixture = JobFixture::new(1);
    fixture.renders = false;
    let judge = FakeJudge::saying(vec![verdict(9)]);
    let run = fixture.open_run("measured", &judge).await;
    let measured = |item| Job { evidence: EvidenceMode::Facts, ..job(&run, item) };
    fixture.jobs.publish(measured("drawn"), Priority::Normal).await.unwrap();
    let worker = fixture.start();
    fixture.publish(&run, &["plain"]).await;
    let [plain] = fixture.take_results(1).await.try_into().unwrap();
    assert_eq!((plain.screenshot_id.as_str(), plain.outcome), ("plain", Outcome::Scored));
    let warning = fixture.warning().await;
    assert!(warning.contains("start juror worker on a machine with a browser"), "{warning}");

    fixture.runs.set(&run, WorkerRunState::Cancelled);
    fixture.jobs.publish(measured("cancelled"), Priority::Normal).await.unwrap();
    let results = fixture.take_results(2).await;
    assert!(results.iter().all(|result| result.outcome == Outcome::Skipped), "{results:?}");
    fixture.stop(worker).await;
}

#[tokio::test]
async fn worker_whose_browser_is_broken_requeues_rendering_jobs() {
    let mut fixture = JobFixture::new(1);
    let browser = fixture.folder.path().join("no-browser");
    fixture.rendering.renderer.browser = Some(browser);
    let judge = FakeJudge::saying(vec![verdict(9)]);
    let run = fixture.open_run("measured", &judge).await;
    let context = fixture.context(&judge, fixture::semantic());
    context.evidence.start_renderer().await.unwrap_err();
    fixture.runs.set(&run, WorkerRunState::Open(Arc::new(context)));
    let measured = Job { evidence: EvidenceMode::Facts, ..job(&run, "drawn") };
    fixture.jobs.publish(measured, Priority::Normal).await.unwrap();
    let worker = fixture.start();
    let warning = fixture.warning().await;
    assert!(warning.contains("wait for a worker that can render"), "{warning}");
    fixture.stop(worker).await;
    assert_eq!((fixture.results.held(), fixture.jobs.held()), (0, 1));
}

#[tokio::test]
async fn job_in_hand_of_a_worker_whose_browser_breaks_is_free_for_others() {
    let mut fixture = JobFixture::new(1);
    fixture.rendering.renderer.browser = Some(fixture.folder.path().join("no-browser"));
    let judge = FakeJudge::saying(vec![verdict(9)]);
    let run = fixture.open_run("measured", &judge).await;
    let measured = Job { evidence: EvidenceMode::Facts, ..job(&run, "drawn") };
    fixture.jobs.publish(measured.clone(), Priority::Normal).await.unwrap();
    let worker = fixture.start();
    while !fixture.warning().await.contains("wait for a worker that can render") {}
    fixture.stop(worker).await;
    assert_eq!((fixture.results.held(), fixture.jobs.held()), (0, 1));
    let claim = fixture.backend.claim(&unclaimed(&measured), &OwnerId::new("there")).await;
    let is_free = matches!(claim, Ok(Claim::Granted { unfinished_starts: 0, .. }));
    assert!(is_free, "{claim:?}");
}
