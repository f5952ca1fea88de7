#!/bin/sh
# Every measurement, one after the other, with its default size: about twenty minutes on an idle
# machine; rendering needs Chromium, the last three RabbitMQ and Redis. Writes
# docs/benchmark-results/DATE.md, the machine first. `benches/all.sh intervals decline` runs these
# alone.
set -eu
cd "$(dirname "$0")/.."
BENCH_RESULTS="$PWD/docs/benchmark-results/$(date -u +%Y-%m-%d).md"
export BENCH_RESULTS
all="judgment throughput limits faults planning report issues rendering comparison comparison_rules intervals until_width nightly_runs decline serving aggregate fleet fleet_limits"
cargo build --quiet --profile bench --benches
{
    echo "# Benchmark results, $(date -u '+%Y-%m-%d %H:%M UTC')"
    echo
    echo "$(lscpu | sed -n 's/^Model name: *//p'), $(nproc) processors, load before: $(cut -d ' ' -f 1-3 /proc/loadavg), commit $(git rev-parse --short HEAD)."
} > "$BENCH_RESULTS"
for bench in ${*:-$all}; do
    cargo bench --quiet --bench "$bench"
done
