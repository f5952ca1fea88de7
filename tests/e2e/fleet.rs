//! Fleet tests with a real RabbitMQ and a real Redis.

mod aggregate;
mod aggregate_damage;
mod aggregate_elsewhere;
mod baselines;
mod dead;
mod enqueue;
mod follow;
mod provider;
mod redis_data_loss;
mod rendering_workers;
mod retry;
mod run_end;
pub mod servers;
mod stage_settings;
mod tls;
mod upload;
mod worker;
mod worker_files;
mod worker_fixture;
mod worker_outages;
