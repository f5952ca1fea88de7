//! Layout of each topic, once for all formats.

pub(crate) mod calibration;
pub(crate) mod changes;
pub(crate) mod comparison;
pub(crate) mod measured;
pub(crate) mod repeats;
