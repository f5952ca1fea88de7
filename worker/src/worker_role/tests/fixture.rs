//! Worker of many runs with in-memory queues and a backend.

use super::{fake_judge::FakeJudge, fake_runs::FakeRuns, unsteady::Unsteady};
use crate::{
    call_bill::CallPricing,
    circuit_breaker::{BreakerSettings, CircuitBreaker},
    concurrency::Concurrency,
    cost_bounds::ModelTerms,
    evidence_resources::{EvidenceResources, RenderingSettings},
    per_second_limiter::PerSecondLimiter,
    prompt::Instructions,
    retrying_ledger::RetryingLedger,
    run_context::{JudgeSetup, RunContext},
    run_deadline::RunDeadline,
    sources::Sources,
    stages::StageRules,
    token_count::TokenCounter,
    token_count_scale::TokenScale,
    worker_role::{Worker, WorkerError, WorkerRunState, run},
};
use juror_files::{data_roots::Roots, render_cache::RenderCache};
use juror_image::{ImageRules, PreparationPool, ReadableFormat};
use juror_ledger::{
    admission::{Admission as _, AdmissionQueue, Budget},
    sqlite::SqliteLedger,
};
use juror_queue::{Priority, Queue, local::LocalQueue};
use juror_telemetry::Metrics;
use juror_types::{
    event::{Event, Events},
    id::{OwnerId, RunId},
    item::{ImageReference, Item, Text},
    job::{Detail, Job, Judge, Provider},
    lane::Lane,
    model::{Models, Prices},
    outcome::JobResult,
    rubric::{Rubric, builtin_named},
    shutdown::Shutdown,
};
use std::{sync::Arc, time::Duration};
use tokio::{sync::mpsc, task::JoinHandle};

const MODEL: &str = "gpt-4o";
/// The default settings of the circuit breaker.
const BREAKER: BreakerSettings =
    BreakerSettings { max_unusable_in_a_row: 10, max_refusal_time: Duration::from_secs(60 * 60) };
/// Maximum wait for an admission, as the command sets it for a fleet.
pub const MAX_WAIT: Duration = Duration::from_secs(240);

/// Resources of one worker.
pub struct JobFixture {
    pub folder: tempfile::TempDir,
    pub jobs: Arc<LocalQueue<Job>>,
    pub results: Arc<LocalQueue<JobResult>>,
    pub backend: Arc<Unsteady>,
    pub runs: Arc<FakeRuns>,
    pub shutdown: Shutdown,
    pub heard: mpsc::Receiver<Event>,
    /// True if the worker renders.
    pub renders: bool,
    /// Settings of the built-in renderer of contexts that are made later.
    pub rendering: RenderingSettings,
    events: Events,
    concurrency: Concurrency,
}

impl JobFixture {
    /// Worker with this many concurrent calls.
    pub fn new(calls: usize) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let shot = include_bytes!("../../../image/tests-data/hostile/p_16.png");
        std::fs::write(folder.path().join("shot.png"), shot).unwrap();
        let backend = SqliteLedger::open(&folder.path().join("juror.db")).unwrap();
        let (events, heard) = Events::channel(1_000);
        Self {
            folder,
            jobs: Arc::new(LocalQueue::new(1_000)),
            results: Arc::new(LocalQueue::new(1_000)),
            backend: Arc::new(Unsteady::new(backend)),
            runs: Arc::default(),
            shutdown: Shutdown::new(),
            heard,
            renders: true,
            rendering: RenderingSettings::default(),
            events,
            concurrency: Concurrency::fixed(calls),
        }
    }

    /// Opens a run with this judge.
    pub async fn open_run(&self, name: &str, judge: &Arc<FakeJudge>) -> RunId {
        self.open_run_by(name, judge, semantic()).await
    }

    pub async fn open_run_by(&self, name: &str, judge: &Arc<FakeJudge>, rubric: Rubric) -> RunId {
        let run = RunId::new(name);
        self.backend.open_run(&run, Budget::Unlimited).await.unwrap();
        self.runs.set(&run, WorkerRunState::Open(Arc::new(self.context(judge, rubric))));
        run
    }

    /// A new context of a run.
    pub fn context(&self, judge: &Arc<FakeJudge>, rubric: Rubric) -> RunContext {
        let retrying = RetryingLedger::new(Arc::clone(&self.backend), self.shutdown.clone());
        let retrying = Arc::new(retrying);
        RunContext {
            admission: retrying.clone(),
            waiting: Arc::new(AdmissionQueue::new()),
            max_wait: Some(MAX_WAIT),
            store: retrying,
            success: rubric.success,
            judge: Some(Arc::new(setup(judge, &rubric))),
            batches: None,
            rubric: Arc::new(rubric),
            token_accuracy: 0.8,
            stages: StageRules::default(),
            kept_inputs: None,
            evidence: Arc::new(EvidenceResources::new(
                1,
                RenderCache::in_state(self.folder.path()),
                self.rendering.clone(),
            )),
            evidence_warnings: crate::evidence_resources::EvidenceWarnings::default(),
            sources: Arc::new(Sources::local(Roots::new(vec![self.folder.path().to_owned()]))),
            concurrency: self.concurrency.clone(),
            isolation: Arc::default(),
            shutdown: self.shutdown.child(),
            owner: OwnerId::new("here"),
            events: self.events.clone(),
            metrics: Arc::new(Metrics::silent()),
            breaker: CircuitBreaker::new(BREAKER),
            run_deadline: RunDeadline::default(),
        }
    }

    /// Starts the worker on these jobs.
    pub fn start_on(&self, jobs: Arc<dyn Queue<Job>>) -> JoinHandle<Result<(), WorkerError>> {
        let worker = Worker {
            jobs,
            results: self.results.clone(),
            run_states: self.runs.clone(),
            store: self.backend.clone(),
            owner: OwnerId::new("here"),
            batches: None,
            renders: self.renders,
            concurrency: self.concurrency.clone(),
            events: self.events.clone(),
            metrics: Arc::new(Metrics::silent()),
        };
        tokio::spawn(run(worker, self.shutdown.clone()))
    }

    pub fn start(&self) -> JoinHandle<Result<(), WorkerError>> {
        self.start_on(self.jobs.clone())
    }

    /// Stops the worker and waits for its end.
    pub async fn stop(&self, worker: JoinHandle<Result<(), WorkerError>>) {
        self.shutdown.drain.cancel();
        worker.await.unwrap().unwrap();
    }

    /// Publishes jobs of these items.
    pub async fn publish(&self, run: &RunId, items: &[&str]) {
        for item in items {
            self.jobs.publish(job(run, item), Priority::Normal).await.unwrap();
        }
    }

    /// Next results in item order.
    pub async fn take_results(&self, count: usize) -> Vec<JobResult> {
        let mut subscription = self.results.subscribe(count).await.unwrap();
        let mut results = Vec::new();
        while results.len() < count {
            let delivery = subscription.next().await.unwrap().unwrap();
            results.push((*delivery.message).clone());
            delivery.acknowledge().await.unwrap();
        }
        results.sort_by(|one, other| one.screenshot_id.cmp(&other.screenshot_id));
        results
    }

    /// True if this many jobs are kept and none of them is delivered now.
    pub async fn holds_back(&self, count: usize) -> bool {
        let mut subscription = self.jobs.subscribe(1).await.unwrap();
        let now = futures_util::FutureExt::now_or_never(subscription.next());
        self.jobs.held() == count && now.is_none()
    }

    /// The next warning.
    pub async fn warning(&mut self) -> String {
        match self.heard.recv().await {
            Some(Event::Warning(warning)) => warning,
            other => panic!("no warning but {other:?}"),
        }
    }
}

pub fn semantic() -> Rubric {
    builtin_named("semantic@1").unwrap().parse().unwrap()
}

pub fn job(run: &RunId, item: &str) -> Job {
    let shot = ImageReference { reference: "shot.png".to_owned(), sha256: None };
    let item = Item {
        id: item.to_owned(),
        images: [("screenshot".to_owned(), shot)].into_iter().collect(),
        generated_code: Some(Text::Inline(format!("<p>{item}</p>"))),
        ..Item::default()
    };
    let judge = Judge {
        provider: Provider::OpenAi,
        model: MODEL.to_owned(),
        temperature: None,
        detail: Detail::Low,
        max_output_tokens: 1_000,
        strip_comments: true,
    };
    Job::new(run, item, 0, semantic().reference(), Some(judge))
}

fn setup(judge: &Arc<FakeJudge>, rubric: &Rubric) -> JudgeSetup {
    let (models, prices) = (Models::builtin(), Prices::builtin());
    let facts = models.facts(MODEL).clone();
    let terms = ModelTerms::new(facts, prices.require(MODEL).unwrap(), Lane::Realtime);
    JudgeSetup {
        batches: None,
        client: judge.clone(),
        endpoint: format!("judge {:p}", Arc::as_ptr(judge)),
        base_url: "http://judge".to_owned(),
        terms: terms.clone(),
        pricing: CallPricing::new(vec![MODEL.to_owned()], terms, prices),
        refuse_other_model: false,
        token_scale: TokenScale::default(),
        token_count: TokenCounter::new(juror_ledger::admission::CountRule::Sum, None),
        instructions: Instructions::for_rubric(rubric),
        image_preparation: PreparationPool::new(1),
        rules: ImageRules {
            formats: vec![ReadableFormat::Png],
            max_bytes: 1_000_000,
            max_side: 2_000,
            user_max_side: None,
            signatures: false,
        },
        cache: false,
        ceiling: Arc::new(PerSecondLimiter::none()),
    }
}
