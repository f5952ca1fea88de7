//! Stories of a fleet, with a real RabbitMQ and a real Redis.

mod aggregate;
mod aggregate_damage;
mod aggregate_elsewhere;
mod dead;
mod enqueue;
mod follow;
mod servers;
mod upload;
mod worker;
mod worker_outages;
