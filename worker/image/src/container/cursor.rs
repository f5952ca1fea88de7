//! Reading of numbers and slices from bytes that may end anywhere.

use super::{Damage, ENDS_EARLY};

/// A position in some bytes. Reading past the end is damage, never a panic.
pub(super) struct Cursor<'a> {
    rest: &'a [u8],
}

impl<'a> Cursor<'a> {
    pub fn new(bytes: &'a [u8]) -> Self {
        Self { rest: bytes }
    }

    /// The unread rest.
    pub fn rest(&self) -> &'a [u8] {
        self.rest
    }

    pub fn take(&mut self, length: usize) -> Result<&'a [u8], Damage> {
        let (taken, rest) = self.rest.split_at_checked(length).ok_or(ENDS_EARLY)?;
        self.rest = rest;
        Ok(taken)
    }

    pub fn array<const N: usize>(&mut self) -> Result<[u8; N], Damage> {
        let (taken, rest) = self.rest.split_first_chunk().ok_or(ENDS_EARLY)?;
        self.rest = rest;
        Ok(*taken)
    }

    pub fn byte(&mut self) -> Result<u8, Damage> {
        self.array().map(|[byte]| byte)
    }

    pub fn u16_be(&mut self) -> Result<u16, Damage> {
        self.array().map(u16::from_be_bytes)
    }

    pub fn u32_be(&mut self) -> Result<u32, Damage> {
        self.array().map(u32::from_be_bytes)
    }

    pub fn little_u16(&mut self) -> Result<u16, Damage> {
        self.array().map(u16::from_le_bytes)
    }

    pub fn little_u24(&mut self) -> Result<u32, Damage> {
        self.array().map(|[low, middle, high]| u32::from_le_bytes([low, middle, high, 0]))
    }

    pub fn little_u32(&mut self) -> Result<u32, Damage> {
        self.array().map(u32::from_le_bytes)
    }
}

/// A length from a file as an index; one that exceeds memory lies past every end.
pub(super) fn index(length: u32) -> usize {
    usize::try_from(length).unwrap_or(usize::MAX)
}
