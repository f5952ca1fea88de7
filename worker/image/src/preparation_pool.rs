//! Image preparation off the async threads, with at most one task per core.

use super::{
    ImageError, ImageRules, PreparedImage,
    prepare_image::{Examined, examine},
};
use bytes::Bytes;
use std::sync::Arc;
use tokio::{sync::Semaphore, task::spawn_blocking};

/// Largest container that is examined (a checksum over it) on an async thread, in bytes: that takes
/// a fraction of a millisecond, less than a thread switch is worth.
const MAX_INLINE_LOOK: usize = 512 * 1024;

/// A pool of bounded parallelism, and so with bounded memory. Clones share the bound.
#[derive(Clone, Debug)]
pub struct PreparationPool {
    permits: Arc<Semaphore>,
}

impl PreparationPool {
    /// A pool that works on `width` images at a time (at least one), usually the number of
    /// cores.
    pub fn new(width: usize) -> Self {
        Self { permits: Arc::new(Semaphore::new(width.max(1))) }
    }

    /// Prepares an image, see [`super::prepare`]. Dropping the future does not stop work that has
    /// begun; that work counts against the bound until it ends.
    pub async fn prepare(
        &self,
        bytes: Bytes,
        rules: &ImageRules,
    ) -> Result<PreparedImage, ImageError> {
        if bytes.len() > MAX_INLINE_LOOK {
            let rules = rules.clone();
            return self.run(move || super::prepare(bytes, &rules)).await;
        }
        match examine(bytes, rules)? {
            Examined::Ready(prepared) => Ok(prepared),
            Examined::NeedsWork(work) => {
                let rules = rules.clone();
                self.run(move || work.execute(&rules)).await
            }
        }
    }

    async fn run(
        &self,
        work: impl FnOnce() -> Result<PreparedImage, ImageError> + Send + 'static,
    ) -> Result<PreparedImage, ImageError> {
        let permits = Arc::clone(&self.permits);
        let permit = permits.acquire_owned().await.map_err(|_| ImageError::Interrupted)?;
        let working = spawn_blocking(move || {
            let prepared = work();
            drop(permit);
            prepared
        });
        working.await.map_err(|_| ImageError::Interrupted)?
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ReadableFormat;

    #[tokio::test]
    async fn more_images_than_permits_are_all_prepared() {
        let rules = ImageRules {
            formats: vec![ReadableFormat::Png],
            max_bytes: 1_000_000,
            max_side: 2000,
            user_max_side: Some(8),
            signatures: false,
        };
        let file = Bytes::from_static(include_bytes!("../tests-data/hostile/p_16.png"));
        let pool = PreparationPool::new(1);
        let all = (0..8).map(|_| pool.prepare(file.clone(), &rules));
        for prepared in futures_util::future::join_all(all).await {
            assert_eq!(prepared.unwrap().width, 8);
        }
        assert_eq!(pool.permits.available_permits(), 1);
    }
}
