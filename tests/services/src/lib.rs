//! Servers for tests: those that run on this machine, or ones that a test starts on free ports,
//! owns and stops; and the programs that they need. Errors panic.
#![allow(clippy::panic, clippy::expect_used, reason = "a test may break off")]

pub mod certificates;
pub mod install;
pub mod other_servers;
pub mod process;
pub mod rabbitmq;
pub mod s3;
pub mod wait;
pub mod web;
