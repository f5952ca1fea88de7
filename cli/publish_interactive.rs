//! Interactive publishing: progress is shown, and signals stop it.

use crate::{
    exit::AppError,
    interactive,
    progress::{self, ProgressDisplay},
    terminal,
};
use juror_app::fleet::publish::Publication;
use juror_producer::{fleet::Published, upload::Uploaded};
use juror_types::shutdown::Shutdown;
use tokio::sync::watch;

/// Publishes jobs until done or a signal; `announced` is called when the run is open, before the
/// first job.
pub async fn publish(
    publication: Publication<'_>,
    announced: impl FnOnce() -> Result<(), AppError>,
) -> Result<Published, AppError> {
    let (published, count) = watch::channel(0);
    let display = ProgressDisplay::fitting();
    let uploaded = |Uploaded { sent, found }: Uploaded| {
        terminal::print_hint(&format!("{sent} files are uploaded, {found} were there already"));
    };
    let publication = Publication { uploaded: Some(&uploaded), ..publication };
    let (ended, _) = interactive::run(
        |events| progress::publishing(events, count, display),
        async |events, shutdown: &Shutdown| {
            publication.publish(announced, events, published, shutdown).await
        },
    )
    .await;
    Ok(ended?)
}
