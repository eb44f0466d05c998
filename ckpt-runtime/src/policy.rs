//! Choosing at run time what marked regions do: modes and segment counts for a scope.
//!
//! One compiled model serves every mode, so that a mode can be compared, measured, or switched off
//! for a short sequence. A policy never makes more recompute than was marked: an unmarked layer, or
//! one marked `keep`, has not promised to be repeatable.

use crate::context::{Context, Site};

/// What a region does.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Mode {
    /// Nothing: dfdx's own tape stores every activation and every temporary gradient.
    Plain,
    /// Store the activations, but in a scope: the region's temporary gradients are freed as its
    /// backward ends. Costs no recompute.
    Keep,
    /// As declared: store the marked regions' boundaries only, and compute their inside again.
    #[default]
    Checkpoint,
}

/// How a run of layers is cut into regions.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Segments {
    /// Into this many, whose sizes differ by at most one. The last is kept, never recomputed, as
    /// its backward follows at once (`torch.utils.checkpoint.checkpoint_sequential` does the same).
    Count(usize),
    /// Every layer a region of its own, the last one included.
    Each,
}

/// Modes and segment counts, in force for a [scope](with_policy) or held by a model.
///
/// ```
/// use ckpt_runtime::prelude::*;
/// let selective = Policy::checkpoint().region("Gpt.head", Mode::Keep);
/// let coarse = Policy::segments(3);
/// assert_ne!(selective, coarse);
/// ```
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Policy {
    mode: Mode,
    segments: Option<Segments>,
    verify: Option<f64>,
    regions: Vec<Choice>,
}

/// A mode for the regions of one name.
#[derive(Clone, Debug, PartialEq)]
struct Choice {
    name: String,
    /// Of a run of layers, those from the first to before the second.
    layers: Option<(usize, usize)>,
    mode: Mode,
}

impl Choice {
    fn new(name: String, mode: Mode) -> Self {
        match layers_of(&name) {
            Some((bare, layers)) => Self { name: bare.to_owned(), layers: Some(layers), mode },
            None => Self { name, layers: None, mode },
        }
    }

    /// Whether it speaks of the layers `layers` of `site`.
    fn covers(&self, site: &Site, layers: Option<(usize, usize)>) -> bool {
        let within = |(first, end): (usize, usize)| layers.is_some_and(|(from, to)| first <= from && to <= end);
        self.name == site.name && self.layers.is_none_or(within)
    }
}

/// `blocks[3]` is layer 3 of `blocks`, `blocks[3..5]` are the layers 3 and 4.
fn layers_of(name: &str) -> Option<(&str, (usize, usize))> {
    let (bare, layers) = name.strip_suffix(']')?.rsplit_once('[')?;
    let layers = match layers.split_once("..") {
        Some((first, end)) => (first.parse().ok()?, end.parse().ok()?),
        None => {
            let layer: usize = layers.parse().ok()?;
            (layer, layer.checked_add(1)?)
        }
    };
    Some((bare, layers))
}

impl Policy {
    /// No region at all: the model trains as if nothing were marked.
    #[must_use]
    pub fn plain() -> Self {
        Self { mode: Mode::Plain, ..Self::default() }
    }

    /// Every region is kept: activations stored, temporary gradients freed region by region.
    #[must_use]
    pub fn keep() -> Self {
        Self { mode: Mode::Keep, ..Self::default() }
    }

    /// What the declarations say. This is also what holds where there is no policy.
    #[must_use]
    pub fn checkpoint() -> Self {
        Self::default()
    }

    /// As declared, but runs of layers marked `segments = ..` or `each` are cut into `count`.
    ///
    /// A run with fewer layers than that fails with [`Cause::Segments`](crate::Cause::Segments).
    #[must_use]
    pub fn segments(count: usize) -> Self {
        Self::default().cut(Segments::Count(count))
    }

    /// As declared, but runs of layers marked `segments = ..` or `each` are one region a layer.
    #[must_use]
    pub fn each() -> Self {
        Self::default().cut(Segments::Each)
    }

    /// Cuts marked runs of layers this way.
    #[must_use]
    pub fn cut(self, segments: Segments) -> Self {
        Self { segments: Some(segments), ..self }
    }

    /// Compares every recompute's output with its first pass: to the bit for `0.0`, else within
    /// this relative tolerance. A difference fails the backward pass; see
    /// [`last_failure`](crate::last_failure).
    #[must_use]
    pub fn verify(self, tolerance: f64) -> Self {
        Self { verify: Some(tolerance), ..self }
    }

    /// Gives the regions called `name` (`Type.field`, or what `name = ".."` says) a mode of their own.
    ///
    /// Of a run of layers, `Type.field[3]` are the regions of layer 3 and `Type.field[3..5]` those
    /// that lie within the layers 3 and 4, as [`last_failure`](crate::last_failure) names them. Of
    /// several choices for one region the last counts.
    #[must_use]
    pub fn region(mut self, name: impl Into<String>, mode: Mode) -> Self {
        self.regions.push(Choice::new(name.into(), mode));
        self
    }

    fn mode_of(&self, site: &Site, layers: Option<(usize, usize)>) -> Mode {
        let own = self.regions.iter().rev().find(|choice| choice.covers(site, layers));
        let asked = own.map_or(self.mode, |choice| choice.mode);
        match (site.mode, asked) {
            (Mode::Plain, _) | (_, Mode::Plain) => Mode::Plain,
            (Mode::Keep, _) | (_, Mode::Keep) => Mode::Keep,
            _ => Mode::Checkpoint,
        }
    }
}

/// Runs `f` with `policy` in force on this thread, instead of any policy around it.
///
/// The policy is captured by the regions whose first pass runs inside: backward may be called
/// outside of the scope. It ends with `f`, by a panic too, and does not reach other threads.
///
/// ```
/// use ckpt_runtime::prelude::*;
/// let three = with_policy(Policy::keep(), || 1 + 2);
/// assert_eq!(three, 3);
/// ```
pub fn with_policy<R>(policy: Policy, f: impl FnOnce() -> R) -> R {
    let _entered = Context::current().under(policy).enter();
    f()
}

/// As [`with_policy`], for a policy that a model holds: the default one leaves the scope's in force.
pub fn under<R>(policy: &Policy, f: impl FnOnce() -> R) -> R {
    if *policy == Policy::default() { f() } else { with_policy(policy.clone(), f) }
}

/// What the policy in `context` makes of `site`.
pub(crate) fn mode(site: &Site, context: &Context) -> Mode {
    context.policy.as_ref().map_or(site.mode, |p| p.mode_of(site, context.layers()))
}

/// How the policy in `context` cuts a run of layers that is declared to be cut into `declared`.
pub(crate) fn segments(declared: Segments, context: &Context) -> Segments {
    context.policy.as_ref().and_then(|p| p.segments).unwrap_or(declared)
}

/// Whether a region's recompute is compared, and how closely.
pub(crate) fn verify(site: &Site, context: &Context) -> Option<f64> {
    site.verify.or_else(|| context.policy.as_ref().and_then(|p| p.verify))
}

#[cfg(test)]
mod tests {
    use super::*;

    static BLOCKS: Site = Site::new("Gpt.blocks");
    static HEAD: Site = Site::new("Gpt.head");

    #[test]
    fn a_choice_may_speak_of_some_layers_of_a_run() {
        let policy = Policy::checkpoint().region("Gpt.blocks[4..8]", Mode::Keep).region("Gpt.blocks[5]", Mode::Plain);
        for (layers, mode) in [
            ((3, 4), Mode::Checkpoint),
            ((4, 5), Mode::Keep),
            ((5, 6), Mode::Plain),
            ((7, 8), Mode::Keep),
            ((8, 9), Mode::Checkpoint),
            ((4, 8), Mode::Keep),
            ((3, 5), Mode::Checkpoint),
            ((7, 9), Mode::Checkpoint),
        ] {
            assert_eq!(policy.mode_of(&BLOCKS, Some(layers)), mode, "{layers:?}");
        }
        assert_eq!(policy.mode_of(&BLOCKS, None), Mode::Checkpoint);
        assert_eq!(policy.mode_of(&HEAD, Some((4, 5))), Mode::Checkpoint);
    }

    #[test]
    fn a_bare_name_speaks_of_all_layers() {
        let policy = Policy::checkpoint().region("Gpt.blocks", Mode::Keep);
        for layers in [None, Some((0, 1)), Some((2, 9))] {
            assert_eq!(policy.mode_of(&BLOCKS, layers), Mode::Keep);
        }
    }

    #[test]
    fn brackets_that_hold_no_layers_belong_to_the_name() {
        for name in ["a[b]", "a[", "a[]", "a[1..]", "a[-1]", "a]", "a[1]b"] {
            assert_eq!(layers_of(name), None, "{name}");
        }
        assert_eq!(layers_of("a[7]"), Some(("a", (7, 8))));
        assert_eq!(layers_of("a[7..12]"), Some(("a", (7, 12))));
    }
}
