//! Bilinear scaling of grey images.

use crate::images::SIDE;

/// A plane of `rows` by `columns` values in 0..=1, scaled to [`SIDE`] by [`SIDE`] bytes.
///
/// Pixels are areas whose centres are sampled, as `torch.nn.functional.interpolate` does with
/// `mode="bilinear", align_corners=False`: outside of the outermost centres their value goes on.
pub fn to_side(plane: &[f32], rows: usize, columns: usize) -> Vec<u8> {
    assert_eq!(plane.len(), rows * columns, "a plane of {rows} by {columns}");
    let (down, across) = (taps(rows), taps(columns));
    let value = |row: usize, column: usize| plane[row * columns + column];
    let mut scaled = Vec::with_capacity(SIDE * SIDE);
    for y in &down {
        for x in &across {
            let upper = mix(value(y.first, x.first), value(y.first, x.second), x.share);
            let lower = mix(value(y.second, x.first), value(y.second, x.second), x.share);
            scaled.push((mix(upper, lower, y.share).clamp(0.0, 1.0) * 255.0).round() as u8);
        }
    }
    scaled
}

/// The two values that a scaled one lies between, and the second one's share.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Tap {
    first: usize,
    second: usize,
    share: f32,
}

fn taps(len: usize) -> Vec<Tap> {
    let scale = len as f32 / SIDE as f32;
    (0..SIDE)
        .map(|to| {
            let at = ((to as f32 + 0.5) * scale - 0.5).clamp(0.0, (len - 1) as f32);
            let first = at as usize;
            Tap { first, second: (first + 1).min(len - 1), share: at - first as f32 }
        })
        .collect()
}

fn mix(a: f32, b: f32, share: f32) -> f32 {
    a + (b - a) * share
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_same_size_stays_as_it_is() {
        let plane: Vec<f32> = (0..SIDE * SIDE).map(|i| (i % 256) as f32 / 255.0).collect();
        let expected: Vec<u8> = (0..SIDE * SIDE).map(|i| (i % 256) as u8).collect();
        assert_eq!(to_side(&plane, SIDE, SIDE), expected);
    }

    #[test]
    fn a_ramp_stays_a_ramp_and_its_ends_go_on() {
        // From 8 columns to 32: centres lie at (i + 0.5) / 4 - 0.5 of the small image.
        let plane: Vec<f32> = (0..64).map(|i| (i % 8) as f32 / 7.0).collect();
        let scaled = to_side(&plane, 8, 8);
        let expected = |i: usize| (((i as f32 + 0.5) / 4.0 - 0.5).clamp(0.0, 7.0) / 7.0 * 255.0).round() as u8;
        for (at, byte) in scaled.iter().enumerate() {
            assert!(byte.abs_diff(expected(at % SIDE)) <= 1, "column {}: {byte}", at % SIDE);
        }
        assert_eq!((scaled[0], scaled[1], scaled[SIDE - 1]), (0, 0, 255));
    }

    #[test]
    fn rows_and_columns_are_not_exchanged() {
        // Two rows and three columns; only the last column of the first row is bright.
        let scaled = to_side(&[0.0, 0.0, 1.0, 0.0, 0.0, 0.0], 2, 3);
        assert_eq!(scaled[SIDE - 1], 255);
        assert_eq!(scaled[(SIDE - 1) * SIDE], 0);
        assert_eq!(scaled[SIDE * SIDE - 1], 0);
    }
}
