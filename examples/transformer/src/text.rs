//! Text into tokens: the vocabulary, the split and the batches.

use std::collections::BTreeMap;
use std::path::Path;

use rand::Rng;

/// What stands for every character that the vocabulary lacks. Always token 0.
const UNKNOWN: char = '\u{FFFD}';

/// The characters that tokens stand for.
#[derive(Clone, Debug, PartialEq)]
pub struct Vocabulary {
    characters: Vec<char>,
}

impl Vocabulary {
    /// The `size - 1` most frequent characters of `text`, and [`UNKNOWN`].
    pub fn of_text(text: &str, size: usize) -> Self {
        let mut counts = BTreeMap::<char, usize>::new();
        for c in text.chars().filter(|c| *c != UNKNOWN) {
            *counts.entry(c).or_default() += 1;
        }
        let mut by_count: Vec<(char, usize)> = counts.into_iter().collect();
        // The sort is stable: characters of equal counts stay in the order of their code points.
        by_count.sort_by_key(|(_, n)| std::cmp::Reverse(*n));
        let frequent = by_count.into_iter().map(|(c, _)| c).take(size - 1);
        Self { characters: std::iter::once(UNKNOWN).chain(frequent).collect() }
    }

    /// The characters in the order of their tokens.
    pub fn characters(&self) -> &[char] {
        &self.characters
    }

    /// A vocabulary from its characters, as a weight file keeps them.
    pub fn from_characters(characters: Vec<char>) -> Self {
        Self { characters }
    }

    /// One token a character.
    pub fn encode(&self, text: &str) -> Vec<usize> {
        let tokens: BTreeMap<char, usize> = self.characters.iter().enumerate().map(|(token, c)| (*c, token)).collect();
        text.chars().map(|c| tokens.get(&c).copied().unwrap_or(0)).collect()
    }

    /// One character a token; a model may have more tokens than the text had characters.
    pub fn decode(&self, tokens: &[usize]) -> String {
        tokens.iter().map(|t| self.characters.get(*t).copied().unwrap_or(UNKNOWN)).collect()
    }
}

/// Reads a UTF-8 text.
///
/// # Errors
/// A message that names the file.
pub fn read(path: &Path) -> Result<String, String> {
    let bytes = std::fs::read(path).map_err(|e| format!("cannot read {}: {e}", path.display()))?;
    String::from_utf8(bytes).map_err(|e| {
        let at = e.utf8_error().valid_up_to();
        format!("{} is not UTF-8 text: byte {at} starts no character", path.display())
    })
}

/// Sequences and, at each position, the token that follows.
#[derive(Clone, Debug, PartialEq)]
pub struct Batch {
    /// `[batch, seq]`, row-major.
    pub tokens: Vec<usize>,
    /// `[batch, seq]`, row-major.
    pub targets: Vec<usize>,
}

/// A text's tokens in two parts.
#[derive(Clone, Debug)]
pub struct Corpus {
    seq: usize,
    train: Vec<usize>,
    validation: Vec<usize>,
}

impl Corpus {
    /// Keeps the last tenth of the text, at least one sequence of it, for validation.
    ///
    /// # Errors
    /// A message that names the text, when it is shorter than a batch and a validation sequence.
    pub fn split(name: &str, mut tokens: Vec<usize>, seq: usize, batch: usize) -> Result<Self, String> {
        // A sequence needs one token more than it is long: the last target.
        let validation = |n: usize| (n / 10).max(seq + 1);
        let train = |n: usize| n.saturating_sub(validation(n));
        let enough = batch * seq + 1;
        if train(tokens.len()) < enough {
            let mut needed = enough;
            while train(needed) < enough {
                needed += enough - train(needed);
            }
            return Err(format!(
                "{name} is too short: it has {} characters, and a batch of {batch} sequences of {seq} with a validation part needs {needed}",
                tokens.len()
            ));
        }
        let validation = tokens.split_off(train(tokens.len()));
        Ok(Self { seq, train: tokens, validation })
    }

    /// Tokens to train on.
    pub fn train_len(&self) -> usize {
        self.train.len()
    }

    /// The tokens kept for validation.
    pub fn validation(&self) -> &[usize] {
        &self.validation
    }

    /// A batch from random places of the training part.
    pub fn random_batch(&self, batch: usize, rng: &mut impl Rng) -> Batch {
        let last = self.train.len() - self.seq - 1;
        let starts = (0..batch).map(|_| rng.gen_range(0..=last));
        cut(&self.train, self.seq, starts)
    }

    /// Up to `most` sequences spread evenly over the validation part: the same at every call.
    pub fn validation_batch(&self, most: usize) -> Batch {
        let places = self.validation.len() - self.seq;
        let count = places.min(most);
        let starts = (0..count).map(|i| i * places / count);
        cut(&self.validation, self.seq, starts)
    }
}

fn cut(text: &[usize], seq: usize, starts: impl Iterator<Item = usize>) -> Batch {
    let mut batch = Batch { tokens: Vec::new(), targets: Vec::new() };
    for start in starts {
        batch.tokens.extend(&text[start..start + seq]);
        batch.targets.extend(&text[start + 1..start + seq + 1]);
    }
    batch
}

#[cfg(test)]
mod tests {
    use super::*;
    use rand::{SeedableRng, rngs::StdRng};

    #[test]
    fn text_survives_the_vocabulary() {
        let text = "arma virumque canō, Trōiae quī prīmus ab ōrīs\n";
        let vocabulary = Vocabulary::of_text(text, 96);
        assert_eq!(vocabulary.decode(&vocabulary.encode(text)), text);
    }

    #[test]
    fn a_small_vocabulary_keeps_the_frequent_characters() {
        let vocabulary = Vocabulary::of_text("cabbac ab d", 4);
        assert_eq!(vocabulary.characters(), [UNKNOWN, 'a', 'b', ' ']);
        assert_eq!(vocabulary.encode("bad"), [2, 1, 0]);
        assert_eq!(vocabulary.decode(&[1, 99]), "a\u{FFFD}");
    }

    #[test]
    fn targets_are_the_tokens_that_follow() {
        let corpus = Corpus::split("t", (0..100).collect(), 4, 3).unwrap();
        assert_eq!((corpus.train_len(), corpus.validation().len()), (90, 10));
        let mut rng = StdRng::seed_from_u64(1);
        for _ in 0..50 {
            let batch = corpus.random_batch(3, &mut rng);
            assert_eq!(batch.tokens.len(), 12);
            for (token, target) in batch.tokens.iter().zip(&batch.targets) {
                assert_eq!(token + 1, *target);
                assert!(*target < 90, "a validation token in training");
            }
        }
    }

    #[test]
    fn validation_sequences_are_the_same_at_every_call() {
        let corpus = Corpus::split("t", (0..100).collect(), 4, 3).unwrap();
        let batch = corpus.validation_batch(3);
        assert_eq!(batch, corpus.validation_batch(3));
        assert_eq!(batch.tokens, [90, 91, 92, 93, 92, 93, 94, 95, 94, 95, 96, 97]);
        assert_eq!(corpus.validation_batch(1000).tokens.len(), 6 * 4);
    }

    #[test]
    fn the_shortest_text_that_is_enough_is_the_one_that_the_error_states() {
        for (seq, batch) in [(4, 3), (64, 16), (8, 1)] {
            let enough = (1..10_000).find(|n| Corpus::split("t", vec![0; *n], seq, batch).is_ok()).unwrap();
            let error = Corpus::split("Caesar", vec![0; enough - 1], seq, batch).unwrap_err();
            assert!(error.contains("Caesar"), "{error}");
            assert!(error.ends_with(&format!("needs {enough}")), "{error}");
        }
    }

    #[test]
    fn unreadable_files_are_named() {
        let dir = tempfile::tempdir().unwrap();
        let missing = dir.path().join("missing.txt");
        assert!(read(&missing).unwrap_err().contains("missing.txt"));
        let binary = dir.path().join("binary.txt");
        std::fs::write(&binary, b"salve \xFF").unwrap();
        let error = read(&binary).unwrap_err();
        assert!(error.contains("binary.txt") && error.contains("byte 6"), "{error}");
    }
}
