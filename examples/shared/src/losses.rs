//! Whether modes learn the same.

use std::fmt::Display;

/// Where the losses of two modes part, in words.
pub fn first_difference<M: Display>(curves: &[(M, &[f32])]) -> Option<String> {
    curves.windows(2).find_map(|pair| {
        let [(a, a_losses), (b, b_losses)] = [&pair[0], &pair[1]];
        match a_losses.iter().zip(*b_losses).position(|(a, b)| a.to_bits() != b.to_bits()) {
            Some(step) => Some(format!("in step {step} {a} has {} and {b} has {}", a_losses[step], b_losses[step])),
            None if a_losses.len() != b_losses.len() => {
                Some(format!("{a} took {} steps and {b} took {}", a_losses.len(), b_losses.len()))
            }
            None => None,
        }
    })
}

/// The line under a table, from what differs.
pub fn verdict(steps: usize, difference: Option<&str>) -> String {
    match difference {
        None => format!("The losses of all {steps} steps are equal to the bit: no mode changes what is learned.\n"),
        Some(difference) => format!("The losses DIFFER: {difference}.\n"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_differs_first_is_named() {
        let plain: (_, &[f32]) = ("plain", &[2.5, 1.5]);
        assert_eq!(first_difference(&[plain, ("keep", &[2.5, 1.5])]), None);
        let parted = [2.5, 1.5_f32.next_up()];
        let difference = first_difference(&[plain, plain, ("keep", &parted)]);
        assert_eq!(difference.as_deref(), Some("in step 1 plain has 1.5 and keep has 1.5000001"));
        let short = first_difference(&[plain, ("keep", &[2.5])]);
        assert_eq!(short.as_deref(), Some("plain took 2 steps and keep took 1"));
        assert!(verdict(2, short.as_deref()).contains("DIFFER: plain took 2 steps"));
    }
}
