#!/bin/sh
# Every measurement, one after the other, with its default size: about fifteen minutes on an idle
# machine; the last three need RabbitMQ and Redis. Prints the machine first, so that the output can
# be kept as it is.
set -eu
cd "$(dirname "$0")/.."
date -u '+%Y-%m-%d %H:%M UTC'
lscpu | grep -E '^(Model name|CPU\(s\))'
echo "load before: $(cut -d ' ' -f 1-3 /proc/loadavg)"
cargo build --quiet --profile bench --benches
for bench in judgement throughput limits faults planning report issues comparison comparison_rules intervals decline serving aggregate fleet fleet_limits; do
    cargo bench --quiet --bench "$bench"
done
