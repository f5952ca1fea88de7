# Commands of those who work on Juror. `just --list` names them.

# Format and lints.
check:
    cargo fmt --all --check
    cargo clippy --workspace --all-targets --locked -- -D warnings

# Unit tests that need no server and no browser.
test-unit:
    cargo test --workspace --lib --bins --locked -- --skip redis:: --skip rabbitmq:: --skip objects:: --skip upload:: --skip fleet::tests --skip sources::
    cargo test --workspace --test architecture --locked

# The backends on RabbitMQ, Redis and S3, which are found running or started.
test-services:
    cargo test --workspace --lib --bins --locked -- redis:: rabbitmq:: objects:: upload:: fleet::tests sources::

# The real command; all of it, or the tests whose path contains NAME.
test-e2e NAME="":
    cargo test --workspace --test e2e --test pages --test deploy --locked -- {{NAME}}

# The fleet whose processes and servers are killed, with more jobs and faults than in the tests.
chaos JOBS="20000" SEED="1":
    CHAOS_JOBS={{JOBS}} CHAOS_SEED={{SEED}} cargo test --workspace --test e2e --locked -- --nocapture disrupted_fleet

# Every benchmark, in turns.
bench:
    benches/all.sh

# What must pass before a change lands.
ci:
    .ci/run
