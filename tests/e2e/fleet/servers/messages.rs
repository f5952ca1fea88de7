//! Messages of a test's fleet: the actions of its producers, workers and aggregators.

use super::{MAX_WAIT, Servers};
use juror_queue::{DeadLetters as _, Disposition, Priority, Queue as _};
use juror_services::wait::poll;
use juror_types::{id::JobId, job::Job, outcome::JobResult};
use std::collections::BTreeMap;
use tokio::time::timeout;

/// Delivered job in one of its rounds.
pub struct Taken {
    pub job: Job,
    pub priority: Priority,
    /// Number of deliveries.
    pub times: u32,
}

impl Servers {
    /// Consumes this many different jobs as workers that lose their results.
    pub fn take_jobs(&self, count: usize) -> Vec<Taken> {
        self.work(count, |_| None)
    }

    /// Consumes this many different jobs and publishes their results, if they have any.
    pub fn work(&self, count: usize, result_of: impl Fn(&Job) -> Option<JobResult>) -> Vec<Taken> {
        let (jobs, results) = (self.queues().jobs(), self.queues().results());
        let working = async {
            let mut subscription = jobs.subscribe(100).await.unwrap();
            let mut taken: BTreeMap<(JobId, u32), Taken> = BTreeMap::new();
            while taken.len() < count {
                let delivery = subscription.next().await.unwrap().unwrap();
                let job = (*delivery.message).clone();
                if let Some(result) = result_of(&job) {
                    results.publish(result, Priority::Normal).await.unwrap();
                }
                let priority = delivery.priority;
                delivery.acknowledge().await.unwrap();
                let key = (job.job_id.clone(), job.round);
                taken.entry(key).or_insert(Taken { job, priority, times: 0 }).times += 1;
            }
            taken.into_values().collect()
        };
        self.run(async { timeout(MAX_WAIT, working).await.expect("so many jobs") })
    }

    pub fn publish(&self, results: &[JobResult]) {
        let queue = self.queues().results();
        self.run(async {
            for result in results {
                queue.publish(result.clone(), Priority::Normal).await.unwrap();
            }
        });
    }

    /// Publishes jobs, as a producer does.
    pub fn enqueue(&self, jobs: &[Job]) {
        let queue = self.queues().jobs();
        self.run(async {
            for job in jobs {
                queue.publish(job.clone(), Priority::Normal).await.unwrap();
            }
        });
    }

    /// Consumes results as an aggregator does until each of this many jobs has one; returns them in
    /// item order. Several results of one job are equal.
    pub fn take_results(&self, jobs: usize) -> Vec<JobResult> {
        let queue = self.queues().results();
        let mut results = BTreeMap::new();
        let taking = async {
            let mut subscription = queue.subscribe(100).await.unwrap();
            while results.len() < jobs {
                let delivery = subscription.next().await.unwrap().unwrap();
                let result = (*delivery.message).clone();
                delivery.acknowledge().await.unwrap();
                let key = (result.run_id.clone(), result.screenshot_id.clone(), result.round);
                if let Some(before) = results.insert(key, result.clone()) {
                    assert_eq!(before, result);
                }
            }
        };
        self.run(async { timeout(MAX_WAIT, taking).await }).expect("every job has its result");
        results.into_values().collect()
    }

    /// Consumes this many jobs as another worker, and requeues them.
    pub fn meet_jobs(&self, count: usize) -> Vec<Job> {
        let queue = self.queues().jobs();
        let taking = async {
            let mut subscription = queue.subscribe(count).await.unwrap();
            let mut deliveries = Vec::new();
            while deliveries.len() < count {
                deliveries.push(subscription.next().await.unwrap().unwrap());
            }
            deliveries.into_iter().map(|delivery| (*delivery.message).clone()).collect()
        };
        self.run(async { timeout(MAX_WAIT, taking).await }).expect("the jobs are there for others")
    }

    /// Dead-lettered jobs: their items and the reasons.
    pub fn jobs_aside(&self) -> Vec<(String, String)> {
        let letters = self.run(self.queues().jobs().list()).unwrap();
        letters.into_iter().map(|letter| (letter.message.item.id, letter.reason)).collect()
    }

    /// Number of jobs with this delay, as in `10m`.
    pub fn held(&self, hold: &str) -> u32 {
        self.ready(&format!("hold.{hold}"))
    }

    /// Number of messages that are ready in a queue, by its name without the namespace.
    pub fn ready(&self, queue: &str) -> u32 {
        let depths = self.run(self.queues().depths()).unwrap();
        depths.iter().find(|(name, _)| *name == queue).unwrap().1
    }

    /// Waits until this many jobs have this delay.
    #[track_caller]
    pub fn await_held(&self, hold: &str, jobs: u32) {
        let held = || (self.held(hold) == jobs).then_some(());
        poll(&format!("{jobs} jobs that are held for {hold}"), held);
    }

    /// Publishes a job and dead-letters it as a poison job.
    pub fn poison(&self, job: Job, reason: &str) {
        let queue = self.queues().jobs();
        self.run(async {
            let mut subscription = queue.subscribe(1).await.unwrap();
            queue.publish(job, Priority::Normal).await.unwrap();
            let delivery = subscription.next().await.unwrap().unwrap();
            delivery.end(Disposition::DeadLetter(reason.to_owned())).await.unwrap();
        });
    }

    /// Waits until this many results are dead-lettered, and returns their items and the reasons.
    #[track_caller]
    pub fn await_results_aside(&self, count: usize) -> Vec<(String, String)> {
        let aside = || Some(self.results_aside()).filter(|aside| aside.len() == count);
        poll(&format!("{count} dead letters"), aside)
    }

    /// Dead-lettered results: their items and the reasons.
    pub fn results_aside(&self) -> Vec<(String, String)> {
        let letters = self.run(self.queues().results().list()).unwrap();
        letters.into_iter().map(|letter| (letter.message.screenshot_id, letter.reason)).collect()
    }
}
