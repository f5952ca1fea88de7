//! Workers of a fleet, with jobs for them.

use super::servers::Servers;
use crate::harness::{CallGate, CommandHarness, RunningCommand, TestSimulator};
use juror_producer::{
    dataset::{Dataset, DatasetShape},
    plan::{self, JobTemplate, PlanOptions},
};
use juror_simulator::SimulatorConfig;
use juror_types::{
    job::Job,
    outcome::{JobResult, Outcome},
    rubric::{Rubric, builtin},
    run::RunRecord,
    test_record,
};

const READY: &str = "ready: RabbitMQ at 127.0.0.1:";

/// Fleet with items to judge, and a simulator that judges them.
pub struct WorkerFixture {
    pub servers: Servers,
    pub harness: CommandHarness,
    pub simulator: TestSimulator,
    pub gate: CallGate,
}

impl WorkerFixture {
    /// Fixture whose judge replies once its gate allows it.
    pub fn gated(servers: Servers, items: u32) -> Self {
        let gate = CallGate::closed();
        let harness = CommandHarness::with_items(items);
        let config = SimulatorConfig { gate: gate.config(), ..SimulatorConfig::default() };
        Self { servers, harness, simulator: TestSimulator::start(config), gate }
    }

    pub fn new(items: u32) -> Self {
        let fixture = Self::gated(Servers::shared(), items);
        fixture.gate.open();
        fixture
    }

    /// Announces a run with this rubric and returns its jobs.
    pub fn announce(&self, run: &str, rubric_text: &str) -> Vec<Job> {
        let record = self.record(run, rubric_text);
        self.servers.announce(&record);
        self.jobs(&record)
    }

    /// Announces a run and publishes its jobs.
    pub fn enqueue(&self, run: &str) -> Vec<Job> {
        let jobs = self.announce(run, semantic());
        self.servers.enqueue(&jobs);
        jobs
    }

    pub fn record(&self, run: &str, rubric_text: &str) -> RunRecord {
        RunRecord {
            rubric: Rubric::parse(rubric_text, run).unwrap().reference(),
            rubric_text: rubric_text.to_owned(),
            budget_usd: Some("6".parse().unwrap()),
            fleet: Some(self.servers.redis.namespace.clone()),
            ..test_record::record(run)
        }
    }

    pub fn jobs(&self, record: &RunRecord) -> Vec<Job> {
        let shape = DatasetShape {
            images: vec!["screenshot".to_owned()],
            style_required: false,
            data_roots: Vec::new(),
            allowed: Default::default(),
            outputs: Vec::new(),
        };
        let dataset = Dataset::open(&self.harness.path("manifest.jsonl"), &shape).unwrap();
        let template = JobTemplate {
            run_id: record.run_id.clone(),
            rubric: record.rubric.clone(),
            judge: record.judge.clone(),
            evidence: record.evidence,
        };
        let jobs = plan::jobs(&dataset, &PlanOptions::default(), &template).unwrap();
        jobs.map(Result::unwrap).collect()
    }

    /// Starts a worker, and waits until it is ready.
    pub fn start(&self, flags: &[&str]) -> RunningCommand {
        let mut running = self.start_unready(flags);
        running.await_stderr(READY);
        running
    }

    pub fn start_unready(&self, flags: &[&str]) -> RunningCommand {
        let url = self.simulator.base_url();
        let own = ["worker", "--base-url", &url, "--data-root", "."];
        RunningCommand::start(self.servers.command(&self.harness, &[&own[..], flags].concat()))
    }
}

pub fn semantic() -> &'static str {
    builtin().iter().find(|rubric| rubric.id == "semantic").unwrap().text
}

pub fn all_scored(results: &[JobResult]) {
    for result in results {
        assert_eq!(result.outcome, Outcome::Scored, "{result:?}");
    }
}

/// Drains a worker and asserts that it succeeds.
pub fn stop(worker: RunningCommand) {
    assert_eq!(worker.stop().stdout, "", "a worker prints nothing");
}
