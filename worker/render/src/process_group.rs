//! All processes of one program, as a group.

use std::time::Duration;
use tokio::process::Child;

/// The group of a child that leads one; empty once the child has ended.
#[derive(Clone, Copy, Debug)]
pub struct ProcessGroup {
    leader: Option<rustix::process::Pid>,
}

impl ProcessGroup {
    /// The group that this child leads.
    pub fn for_child(child: &Child) -> Self {
        let id = child.id().and_then(|id| i32::try_from(id).ok());
        Self { leader: id.and_then(rustix::process::Pid::from_raw) }
    }

    /// Kills every process of it.
    pub fn kill(self) {
        if let Some(leader) = self.leader {
            // Nothing is left to be killed if this fails.
            let _ = rustix::process::kill_process_group(leader, rustix::process::Signal::KILL);
        }
    }

    /// Usage of its processes; `None` if the system does not report it.
    #[cfg(target_os = "linux")]
    pub(crate) fn usage(self) -> Option<GroupUsage> {
        let group = self.leader?.as_raw_nonzero().get();
        let entries = std::fs::read_dir("/proc").ok()?.flatten();
        let numbers = entries.filter_map(|entry| entry.file_name().to_str()?.parse().ok());
        let mut whole = GroupUsage::default();
        for usage in numbers.filter_map(|process| usage_of(process, group)) {
            whole.kilobytes += usage.kilobytes;
            whole.processor_time += usage.processor_time;
            whole.waiting_time += usage.waiting_time;
        }
        Some(whole)
    }

    /// Usage of its processes; `None` if the system does not report it.
    #[cfg(not(target_os = "linux"))]
    pub(crate) fn usage(self) -> Option<GroupUsage> {
        None
    }
}

/// Memory and processor time of processes.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct GroupUsage {
    /// Memory that is not backed by a file.
    pub kilobytes: u64,
    pub processor_time: Duration,
    /// Time for which the main threads were ready and had no processor.
    pub waiting_time: Duration,
}

/// Usage of one process; `None` if it has ended or belongs to another group.
#[cfg(target_os = "linux")]
fn usage_of(process: u32, group: i32) -> Option<GroupUsage> {
    use std::fs::read_to_string;

    let stat = read_to_string(format!("/proc/{process}/stat")).ok()?;
    // Behind the name in parentheses: state, parent, group; user and system time are the 12th and
    // 13th.
    let fields: Vec<&str> = stat.rsplit_once(") ")?.1.split(' ').collect();
    if fields.get(2)?.parse::<i32>().ok()? != group {
        return None;
    }
    let ticks: u64 = fields.get(11..13)?.iter().filter_map(|text| text.parse::<u64>().ok()).sum();
    let millis = ticks * 1000 / rustix::param::clock_ticks_per_second().max(1);
    let status = read_to_string(format!("/proc/{process}/status")).ok()?;
    let sizes = status.lines().filter_map(|line| {
        let size = line.strip_prefix("RssAnon:").or_else(|| line.strip_prefix("RssShmem:"))?;
        size.trim().strip_suffix(" kB")?.parse::<u64>().ok()
    });
    // Nanoseconds on a processor, and waiting for one; some containers have no such file.
    let schedule = read_to_string(format!("/proc/{process}/schedstat")).unwrap_or_default();
    let waited = schedule.split(' ').nth(1).and_then(|text| text.parse().ok()).unwrap_or_default();
    Some(GroupUsage {
        kilobytes: sizes.sum(),
        processor_time: Duration::from_millis(millis),
        waiting_time: Duration::from_nanos(waited),
    })
}
