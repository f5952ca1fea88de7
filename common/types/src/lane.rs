//! How a call is bought.

use serde::{Deserialize, Serialize};

/// A way to buy calls.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Lane {
    /// An ordinary call.
    #[default]
    Realtime,
    /// A call at the price of batches that waits for spare capacity: OpenAI's service tier `flex`.
    Flex,
}

impl Lane {
    /// The name in settings, results and reports.
    pub fn name(self) -> &'static str {
        match self {
            Self::Realtime => "realtime",
            Self::Flex => "flex",
        }
    }

    /// Whether calls are bought as they are by default.
    pub fn is_realtime(&self) -> bool {
        *self == Self::Realtime
    }
}
