//! What the web door needs of the rest of the house: runs are begun, and what they judged is shown.

mod desk;
mod fleet;
mod local;
mod quote;
mod roots;
mod showcase;
mod starter;
mod texts;

pub use desk::Desk;
pub use showcase::DatasetShowcase;
pub use starter::HouseStarter;
