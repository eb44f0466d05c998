//! Live memory over a stretch of time, watched by a thread of its own.
//!
//! A sample is the most that was live since the sample before, so that no peak falls between two,
//! however short it is.

use std::sync::atomic::{AtomicBool, Ordering::Relaxed};
use std::thread;
use std::time::{Duration, Instant};

use ckpt_runtime::memory::MemoryMeter;

/// The pause between samples. A step takes some hundred milliseconds.
const PAUSE: Duration = Duration::from_micros(200);

/// Live bytes above those at the start, over time.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Timeline {
    /// Seconds since the start and the most bytes since the sample before, in order.
    pub samples: Vec<(f64, usize)>,
}

impl Timeline {
    /// The most bytes.
    pub fn peak(&self) -> usize {
        self.samples.iter().map(|(_, bytes)| *bytes).max().unwrap_or(0)
    }
}

/// Runs `work` and watches `meter` meanwhile. The meter's peak is reset at every sample.
///
/// # Errors
/// When no thread can be started.
pub fn watch<R>(meter: &(impl MemoryMeter + Sync), work: impl FnOnce() -> R) -> Result<(R, Timeline), String> {
    let done = AtomicBool::new(false);
    thread::scope(|scope| {
        let (ready, started) = std::sync::mpsc::channel();
        let watcher = thread::Builder::new().name("memory".to_owned()).spawn_scoped(scope, {
            let done = &done;
            move || {
                // Space for half a minute, so that the watcher allocates nothing that it would see.
                let mut samples = Vec::with_capacity(1 << 17);
                meter.reset_peak();
                let before = meter.live();
                // The other side may be gone by a panic, which its join reports.
                let _ = ready.send(());
                let start = Instant::now();
                loop {
                    let last = done.load(Relaxed);
                    let peak = meter.peak();
                    meter.reset_peak();
                    samples.push((start.elapsed().as_secs_f64(), peak.saturating_sub(before)));
                    if last {
                        return Timeline { samples };
                    }
                    thread::sleep(PAUSE);
                }
            }
        });
        let watcher = watcher.map_err(|e| format!("cannot start a thread that watches the memory: {e}"))?;
        // It ends when the sender is dropped, too.
        let _ = started.recv();
        let stop = Stop(&done);
        let result = work();
        drop(stop);
        Ok((result, watcher.join().map_err(|_| "the thread that watches the memory panicked")?))
    })
}

/// Tells the watcher to end, by a panic of the work too.
struct Stop<'a>(&'a AtomicBool);

impl Drop for Stop<'_> {
    fn drop(&mut self) {
        self.0.store(true, Relaxed);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::atomic::AtomicUsize;

    /// A meter that the test sets.
    #[derive(Default)]
    struct Fake {
        live: AtomicUsize,
        peak: AtomicUsize,
    }

    impl Fake {
        fn set(&self, bytes: usize) {
            self.live.store(bytes, Relaxed);
            self.peak.fetch_max(bytes, Relaxed);
        }
    }

    impl MemoryMeter for Fake {
        fn live(&self) -> usize {
            self.live.load(Relaxed)
        }
        fn peak(&self) -> usize {
            self.peak.load(Relaxed)
        }
        fn reset_peak(&self) {
            self.peak.store(self.live(), Relaxed);
        }
    }

    #[test]
    fn a_peak_of_no_length_is_seen_and_times_rise() {
        let meter = Fake::default();
        meter.set(100);
        let (result, timeline) = watch(&meter, || {
            meter.set(1100);
            meter.set(150);
            thread::sleep(Duration::from_millis(2));
            7
        })
        .unwrap();
        assert_eq!(result, 7);
        assert_eq!(timeline.peak(), 1000);
        assert_eq!(timeline.samples.last().unwrap().1, 50);
        assert!(timeline.samples.is_sorted_by(|a, b| a.0 <= b.0));
    }

    #[test]
    fn the_watcher_ends_with_a_panic() {
        let meter = Fake::default();
        let caught = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| watch(&meter, || panic!("work"))));
        assert!(caught.is_err());
    }
}
