//! The modes that the binaries compare, by the names that their command lines take.

use std::fmt;
use std::str::FromStr;

use ckpt_runtime::Policy;

/// How a model's marked regions run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RunMode {
    /// dfdx's own tape, as if nothing were marked.
    Plain,
    /// Activations stored, each region's temporary gradients freed as its backward ends.
    Keep,
    /// Every region as it is declared, recomputed in the backward pass.
    Checkpoint,
    /// The repeated blocks cut into this many regions, the last one kept.
    Sequential(usize),
}

/// What the command lines accept.
pub const KNOWN_MODES: &str = "plain, keep, checkpoint, sequential:K (K segments, 1 or more)";
/// What those accept that take a model's own choice too.
pub const KNOWN_SELECTABLE: &str = "plain, keep, checkpoint, selective, sequential:K (K segments, 1 or more)";

/// A mode that does not exist.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct UnknownMode {
    /// What was asked for.
    pub asked: String,
    /// What there is.
    pub known: &'static str,
}

impl fmt::Display for UnknownMode {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "unknown mode `{}`; the known ones are {}", self.asked, self.known)
    }
}

impl std::error::Error for UnknownMode {}

impl FromStr for RunMode {
    type Err = UnknownMode;

    fn from_str(text: &str) -> Result<Self, UnknownMode> {
        match text {
            "plain" => Ok(Self::Plain),
            "keep" => Ok(Self::Keep),
            "checkpoint" => Ok(Self::Checkpoint),
            _ => text
                .strip_prefix("sequential:")
                .and_then(|k| k.parse().ok())
                .filter(|k| *k > 0)
                .map(Self::Sequential)
                .ok_or_else(|| UnknownMode { asked: text.to_owned(), known: KNOWN_MODES }),
        }
    }
}

impl fmt::Display for RunMode {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Plain => f.pad("plain"),
            Self::Keep => f.pad("keep"),
            Self::Checkpoint => f.pad("checkpoint"),
            Self::Sequential(k) => f.pad(&format!("sequential:{k}")),
        }
    }
}

impl RunMode {
    /// The policy to run a model under.
    pub fn policy(self) -> Policy {
        match self {
            Self::Plain => Policy::plain(),
            Self::Keep => Policy::keep(),
            Self::Checkpoint => Policy::checkpoint(),
            Self::Sequential(k) => Policy::segments(k),
        }
    }
}

/// A mode, or the choice of regions that a model recommends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Selectable {
    /// All regions run alike.
    All(RunMode),
    /// Only those are recomputed whose activations are large for the work that they cost.
    Selective,
}

impl FromStr for Selectable {
    type Err = UnknownMode;

    fn from_str(text: &str) -> Result<Self, UnknownMode> {
        if text == "selective" {
            return Ok(Self::Selective);
        }
        text.parse().map(Self::All).map_err(|e: UnknownMode| UnknownMode { known: KNOWN_SELECTABLE, ..e })
    }
}

impl fmt::Display for Selectable {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::All(mode) => mode.fmt(f),
            Self::Selective => f.pad("selective"),
        }
    }
}

impl Selectable {
    /// The policy to run a model under, where `selective` is the model's own.
    pub fn policy(self, selective: impl FnOnce() -> Policy) -> Policy {
        match self {
            Self::All(mode) => mode.policy(),
            Self::Selective => selective(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_read_back() {
        for mode in [RunMode::Plain, RunMode::Keep, RunMode::Checkpoint, RunMode::Sequential(3)] {
            assert_eq!(mode.to_string().parse(), Ok(mode));
        }
    }

    #[test]
    fn a_models_own_choice_is_a_mode_too() {
        for mode in [Selectable::Selective, Selectable::All(RunMode::Keep)] {
            assert_eq!(mode.to_string().parse(), Ok(mode));
        }
        assert_eq!(Selectable::Selective.policy(Policy::each), Policy::each());
        assert_eq!(Selectable::All(RunMode::Keep).policy(Policy::each), Policy::keep());
        let message = "selectiv".parse::<Selectable>().unwrap_err().to_string();
        assert!(message.contains("`selectiv`") && message.contains("checkpoint, selective, sequential:K"), "{message}");
    }

    #[test]
    fn an_unknown_mode_is_named_beside_the_known_ones() {
        for text in ["chekpoint", "sequential", "sequential:0", "sequential:-1", ""] {
            let message = text.parse::<RunMode>().unwrap_err().to_string();
            assert!(message.contains(&format!("`{text}`")), "{message}");
            assert!(message.contains("plain, keep, checkpoint, sequential:K"), "{message}");
        }
    }
}
