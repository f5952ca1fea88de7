//! The producer role: publishes the jobs of a plan, a window of them at a time.

use crate::{
    dataset::LineError,
    plan::Jobs,
    upload::{UploadError, Uploader},
};
use futures_util::future::BoxFuture;
use futures_util::{FutureExt as _, StreamExt as _, stream::FuturesUnordered};
use juror_queue::{Priority, Queue, QueueError};
use juror_types::{
    event::{Event, Events},
    job::Job,
    shutdown::Shutdown,
};
use std::{fmt, sync::Arc};
use tokio::sync::{mpsc, watch};

/// Number of jobs that are read ahead of publishing.
const READ_CAPACITY: usize = 256;

/// Returns the round in which a job is to be judged; none if an earlier round has scored it.
pub type RoundAssignment = Box<dyn Fn(&Job) -> Option<u32> + Send>;

/// Resources of the producer.
pub struct Submission {
    /// Queue of the jobs. It stays open: its owner closes it once every publisher is finished.
    pub queue: Arc<dyn Queue<Job>>,
    /// Jobs of the round.
    pub jobs: Jobs,
    /// Number of jobs to publish, without skipped ones; for events only.
    pub planned: u64,
    /// Number of jobs of the plan, with skipped ones.
    pub total: u64,
    /// Assigns the round of each job, or leaves it out.
    pub round_of: RoundAssignment,
    /// Priority of the jobs.
    pub priority: Priority,
    /// Uploader of each job's files, before the job is published.
    pub uploader: Option<Arc<Uploader>>,
    /// Maximum number of unconfirmed publishes (at least one).
    pub window: usize,
    /// Receiver of events.
    pub events: Events,
    /// Number of confirmed jobs, from 0 on.
    pub published: watch::Sender<u64>,
}

/// Result of publishing.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Submitted {
    /// Number of confirmed jobs.
    pub published: u64,
    /// True if every job of the plan was published or left out; false after a stop.
    pub complete: bool,
}

/// The error of publishing. Job ids do not change, so publishing the plan again completes it.
#[derive(Debug, thiserror::Error)]
pub struct SubmitError {
    /// Number of confirmed jobs.
    pub published: u64,
    /// Reason why publishing stopped.
    #[source]
    pub cause: SubmitFailure,
}

/// Cause of the end of publishing.
#[derive(Debug, thiserror::Error)]
pub enum SubmitFailure {
    /// The dataset differs from the planned one.
    #[error(transparent)]
    Dataset(#[from] LineError),
    /// The dataset has more or fewer jobs than were planned.
    #[error("{found} jobs instead of the {planned} that were planned")]
    OtherCount {
        /// Number of planned jobs.
        planned: u64,
        /// Number of jobs that were read.
        found: u64,
    },
    /// The queue failed.
    #[error(transparent)]
    Queue(#[from] QueueError),
    /// A job's files could not be uploaded.
    #[error(transparent)]
    Upload(#[from] UploadError),
    /// Reading the dataset failed.
    #[error("the dataset's reader ended unexpectedly")]
    Reader,
}

impl fmt::Display for SubmitError {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { published, cause } = self;
        match cause {
            SubmitFailure::Dataset(_) | SubmitFailure::OtherCount { .. } => write!(
                formatter,
                "the dataset changed while its jobs were published ({published} so far): {cause}"
            ),
            SubmitFailure::Queue(_) | SubmitFailure::Upload(_) => {
                write!(formatter, "publishing failed after {published} jobs: {cause}")
            }
            SubmitFailure::Reader => {
                write!(formatter, "{cause} after {published} jobs; start again")
            }
        }
    }
}

/// Publishes the jobs. On any shutdown, it takes no further job and does not wait for unconfirmed
/// ones: a full queue would block until workers consume it, which are stopping too.
pub fn run(
    submission: Submission,
    shutdown: &Shutdown,
) -> BoxFuture<'_, Result<Submitted, SubmitError>> {
    Box::pin(async move {
        let Submission {
            queue,
            jobs,
            planned,
            total,
            round_of,
            priority,
            uploader,
            window,
            events,
            published,
        } = submission;
        events.emit(Event::Planned { jobs: planned }).await;
        let (sender, receiver) = mpsc::channel(READ_CAPACITY);
        // Files are read on a blocking thread. The reader ends when the receiver is gone.
        let reader = tokio::task::spawn_blocking(move || read(jobs, &round_of, &sender));
        let publisher = JobPublisher {
            queue: &*queue,
            priority,
            uploader: uploader.as_deref(),
            window: window.max(1),
        };
        let ended = publish(&publisher, receiver, &published, shutdown).await;
        let read = reader.await;
        let published = *published.borrow();
        let failed = |cause| SubmitError { published, cause };
        let complete = ended.map_err(failed)?;
        let found = read.map_err(|_| failed(SubmitFailure::Reader))?;
        if complete && found != total {
            return Err(failed(SubmitFailure::OtherCount { planned: total, found }));
        }
        Ok(Submitted { published, complete })
    })
}

/// Publisher of jobs, with a bounded number in flight.
struct JobPublisher<'a> {
    queue: &'a dyn Queue<Job>,
    priority: Priority,
    uploader: Option<&'a Uploader>,
    window: usize,
}

impl JobPublisher<'_> {
    /// Uploads a job's files, and publishes the job.
    async fn take(&self, mut job: Job) -> Result<(), SubmitFailure> {
        if let Some(uploader) = self.uploader {
            job.item = uploader.upload_item(job.item).await?;
        }
        Ok(self.queue.publish(job, self.priority).await?)
    }
}

/// Sends the jobs until the receiver is gone; returns the number of jobs that were read.
fn read(
    jobs: Jobs,
    round_of: &RoundAssignment,
    sender: &mpsc::Sender<Result<Job, LineError>>,
) -> u64 {
    let mut count = 0;
    for job in jobs {
        count += u64::from(job.is_ok());
        // Checked here too, since a long sequence of skipped jobs sends nothing.
        if sender.is_closed() {
            break;
        }
        let job = match job.map(|job| (round_of(&job), job)) {
            Ok((None, _)) => continue,
            Ok((Some(round), job)) => Ok(Job { round, ..job }),
            Err(error) => Err(error),
        };
        if sender.blocking_send(job).is_err() {
            break;
        }
    }
    count
}

/// Publishes all jobs and counts the confirmed ones; returns true if all were published. After a
/// failure no further job is taken, and those in flight are awaited, so that the count is exact.
async fn publish(
    publisher: &JobPublisher<'_>,
    mut jobs: mpsc::Receiver<Result<Job, LineError>>,
    published: &watch::Sender<u64>,
    shutdown: &Shutdown,
) -> Result<bool, SubmitFailure> {
    let mut waiting = FuturesUnordered::new();
    let one_more = || published.send_modify(|published| *published += 1);
    let mut reading = true;
    let mut failure = None;
    while reading || !waiting.is_empty() {
        tokio::select! {
            biased;
            () = shutdown.drain.cancelled() => {
                while let Some(Some(Ok(()))) = waiting.next().now_or_never() {
                    one_more();
                }
                return Ok(false);
            }
            Some(confirmed) = waiting.next() => match confirmed {
                Ok(()) => one_more(),
                Err(error) => {
                    reading = false;
                    failure.get_or_insert(error);
                }
            },
            job = jobs.recv(), if reading && waiting.len() < publisher.window => match job {
                Some(Ok(job)) => waiting.push(publisher.take(job)),
                Some(Err(error)) => {
                    reading = false;
                    failure.get_or_insert(error.into());
                }
                None => reading = false,
            },
        }
    }
    failure.map_or(Ok(true), Err)
}

#[cfg(test)]
mod tests;
