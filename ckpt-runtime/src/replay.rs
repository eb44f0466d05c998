//! The random stream of a region: recorded in the first pass, played back in the recompute.
//!
//! A layer that needs randomness asks [`draw`] for a seed. In a first pass the seed comes from the
//! device, so that the stream is the one of a run without checkpointing; every region around
//! notes it, at 8 bytes a draw. In a recompute the seed comes from that note, and the device's
//! generator is not touched. There is no option to turn this off: it would only buy wrong gradients.

use std::cell::RefCell;

use dfdx::tensor::RandomU64;

use crate::failure::{self, Cause};

enum Frame {
    Recording(Vec<u64>),
    Playing { seeds: Vec<u64>, next: usize },
}

thread_local! {
    static FRAMES: RefCell<Vec<Frame>> = const { RefCell::new(Vec::new()) };
}

/// A seed for this draw: the device's next one, or in a recompute the one of the first pass.
pub fn draw<D: RandomU64>(device: &D) -> u64 {
    FRAMES.with_borrow_mut(|frames| {
        // The innermost frame that plays decides; the frames above it record an inner first pass.
        let playing = frames.iter().rposition(|f| matches!(f, Frame::Playing { .. }));
        let seed = match playing.map(|p| &mut frames[p]) {
            Some(Frame::Playing { seeds, next }) => {
                *next += 1;
                // Drawing more than was recorded is reported when the recompute ends.
                seeds.get(*next - 1).copied().unwrap_or_default()
            }
            _ => device.random_u64(),
        };
        for frame in &mut frames[playing.map_or(0, |p| p + 1)..] {
            if let Frame::Recording(seeds) = frame {
                seeds.push(seed);
            }
        }
        seed
    })
}

/// Whether the code that asks runs for the first time: in a first pass or in inference, not in a
/// recompute.
#[must_use]
pub fn is_first_pass() -> bool {
    FRAMES.with_borrow(|frames| !frames.iter().any(|f| matches!(f, Frame::Playing { .. })))
}

/// Runs its body in the first pass, and in inference, but not in a recompute: the home of a side
/// effect inside a region.
///
/// ```
/// use ckpt_runtime::first_pass;
/// let mut calls = 0;
/// first_pass! { calls += 1; }
/// assert_eq!(calls, 1);
/// ```
#[macro_export]
macro_rules! first_pass {
    ($($body:tt)*) => {
        if $crate::__private::is_first_pass() {
            $($body)*
        }
    };
}

/// A frame on this thread's stack, taken off when dropped.
pub(crate) struct Replay;

impl Replay {
    /// Records the draws of a first pass.
    pub(crate) fn record() -> Self {
        FRAMES.with_borrow_mut(|f| f.push(Frame::Recording(Vec::new())));
        Self
    }

    /// Plays the draws of a first pass back.
    pub(crate) fn play(seeds: Vec<u64>) -> Self {
        FRAMES.with_borrow_mut(|f| f.push(Frame::Playing { seeds, next: 0 }));
        Self
    }

    /// Ends the frame: what was recorded, or an error for a recompute that drew otherwise.
    pub(crate) fn finish(self) -> Vec<u64> {
        std::mem::forget(self);
        match FRAMES.with_borrow_mut(Vec::pop) {
            Some(Frame::Recording(seeds)) => seeds,
            Some(Frame::Playing { seeds, next }) => {
                if next != seeds.len() {
                    failure::pend(Cause::Draws { first: seeds.len(), again: next });
                }
                Vec::new()
            }
            None => unreachable!("frames are taken off by their own guards"),
        }
    }
}

impl Drop for Replay {
    fn drop(&mut self) {
        FRAMES.with_borrow_mut(Vec::pop);
    }
}
