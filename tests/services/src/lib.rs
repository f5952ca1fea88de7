//! The servers that tests talk to: those that run on this machine, or ones that a test starts on
//! free ports, owns and stops. For tests alone; what goes wrong here panics.
#![allow(clippy::panic, clippy::expect_used, reason = "a test may break off")]

mod install;
pub mod rabbitmq;
