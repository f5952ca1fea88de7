//! Processor time and memory of a process and its descendants.

use std::{collections::BTreeMap, fs, time::Duration};

/// Nanoseconds of a tick of the kernel's accounts.
const TICK: u64 = 10_000_000;

/// Process and its descendants, polled repeatedly since the accounts of ended ones disappear.
pub struct ProcessTree {
    root: u32,
    /// Last known ticks of each process.
    ticks: BTreeMap<u32, u64>,
}

impl ProcessTree {
    pub fn new(root: u32) -> Self {
        Self { root, ticks: BTreeMap::new() }
    }

    /// Polls the current processes; false once the root has ended.
    pub fn look(&mut self) -> bool {
        let processes = self.processes();
        self.ticks.extend(processes.iter().copied());
        !processes.is_empty()
    }

    /// Processor time of the root, and of its descendants.
    pub fn cpu(&self) -> [Duration; 2] {
        let own = self.ticks.get(&self.root).copied().unwrap_or_default();
        let all: u64 = self.ticks.values().sum();
        [own, all - own].map(|ticks| Duration::from_nanos(ticks * TICK))
    }

    /// Memory of the root, and of its descendants, each shared page in equal parts; in megabytes of
    /// 10^6 bytes.
    pub fn memory_mb(&self) -> [f64; 2] {
        let mut memory = [0.0; 2];
        for (process, _) in self.processes() {
            memory[usize::from(process != self.root)] += memory_mb(process);
        }
        memory
    }

    /// Processes that have not ended, with their ticks; empty once the root has ended.
    fn processes(&self) -> Vec<(u32, u64)> {
        let mut known: BTreeMap<u32, (u32, u64)> = BTreeMap::new();
        for entry in fs::read_dir("/proc").unwrap().flatten() {
            let Some(process) = entry.file_name().to_str().and_then(|name| name.parse().ok())
            else {
                continue;
            };
            known.extend(account(process).map(|account| (process, account)));
        }
        let is_below = |process: u32| {
            let parent = |at: &u32| known.get(at).map(|(parent, _)| *parent);
            std::iter::successors(Some(process), parent).any(|at| at == self.root)
        };
        if !known.contains_key(&self.root) {
            return Vec::new();
        }
        let below = known.iter().filter(|(process, _)| is_below(**process));
        below.map(|(process, (_, ticks))| (*process, *ticks)).collect()
    }
}

/// Parent and ticks of a process; `None` if it has ended.
fn account(process: u32) -> Option<(u32, u64)> {
    let stat = fs::read_to_string(format!("/proc/{process}/stat")).ok()?;
    // The name, in parentheses, may hold spaces.
    let (_, fields) = stat.rsplit_once(')')?;
    let fields: Vec<&str> = fields.split_whitespace().collect();
    if fields.first() == Some(&"Z") {
        return None;
    }
    let number = |place: usize| fields.get(place)?.parse::<u64>().ok();
    Some((u32::try_from(number(1)?).ok()?, number(11)? + number(12)?))
}

fn memory_mb(process: u32) -> f64 {
    let rollup = fs::read_to_string(format!("/proc/{process}/smaps_rollup")).unwrap_or_default();
    let shared = rollup.lines().find_map(|line| line.strip_prefix("Pss:"));
    let kilobytes: Option<f64> =
        shared.and_then(|line| line.trim().trim_end_matches(" kB").trim().parse().ok());
    kilobytes.unwrap_or_default() * 1_024.0 / 1e6
}
