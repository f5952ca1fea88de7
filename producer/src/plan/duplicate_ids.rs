//! The ids that stood in earlier lines, at 16 bytes each.

use sha2::{Digest as _, Sha256};
use std::collections::{HashMap, hash_map::Entry};

/// 12 bytes of an id's SHA-256, and the line that had it. Two different ids of a billion are
/// taken for one with a chance of less than one to a hundred billion.
#[derive(Default)]
pub(super) struct SeenIds(HashMap<[u8; 12], u32>);

impl SeenIds {
    /// Remembers an id. If it stood before: the line that had it first, where that is known.
    pub(super) fn insert(&mut self, id: &str, line: Option<u64>) -> Result<(), Option<u64>> {
        let mut key = [0; 12];
        for (byte, digest) in key.iter_mut().zip(Sha256::digest(id.as_bytes())) {
            *byte = digest;
        }
        // 0 stands for a line that has no number, or none that fits.
        let line = line.and_then(|line| u32::try_from(line).ok()).unwrap_or(0);
        match self.0.entry(key) {
            Entry::Vacant(vacant) => {
                vacant.insert(line);
                Ok(())
            }
            Entry::Occupied(first) => Err(Some(u64::from(*first.get())).filter(|&line| line > 0)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_line_of_an_id_is_remembered() {
        let mut seen = SeenIds::default();
        assert_eq!(seen.insert("a", Some(7)), Ok(()));
        assert_eq!(seen.insert("b", None), Ok(()));
        assert_eq!(seen.insert("a", Some(9)), Err(Some(7)));
        assert_eq!(seen.insert("b", Some(9)), Err(None));
        assert_eq!(size_of::<([u8; 12], u32)>(), 16);
    }
}
