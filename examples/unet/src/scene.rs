//! Images to learn from: shapes on noise, and which pixels they cover.
//!
//! A shape is a set of points of the plane; a pixel is of a shape when its centre is. Masks are
//! therefore exact, and the same seed draws the same scene anywhere.

use rand::{Rng, SeedableRng, rngs::StdRng};

/// Height and width, in pixels.
pub const SIDE: usize = 64;
/// Red, green, blue.
pub const CHANNELS: usize = 3;
/// Pixels of a channel.
pub const PLANE: usize = SIDE * SIDE;
/// What a pixel may show, in the order of the classes.
pub const CLASS_NAMES: [&str; 2] = ["background", "shape"];
/// How many that are.
pub const CLASSES: usize = CLASS_NAMES.len();

/// Shapes of a scene, at most.
const MOST_SHAPES: usize = 3;
/// From a shape's middle to its rim, in pixels.
const SIZES: std::ops::Range<f64> = 7.0..16.0;
/// The noise's deviation from a surface's colour, which lies between 0 and 1.
const NOISE: f32 = 0.12;
/// A surface's colour differs from the background's by at least this much, summed over channels.
const CONTRAST: f32 = 0.6;

/// A point, in pixels from the upper left corner, to the right and down.
type Point = (f64, f64);

/// A figure of the plane.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Shape {
    /// All points within a radius.
    Circle { middle: Point, radius: f64 },
    /// Turned by an angle in radians, with half its width and half its height.
    Rectangle { middle: Point, angle: f64, half: Point },
    /// Between three corners.
    Triangle { corners: [Point; 3] },
}

impl Shape {
    /// Whether a point lies in it or on its rim.
    pub fn covers(&self, (x, y): Point) -> bool {
        match *self {
            Self::Circle { middle, radius } => (x - middle.0).powi(2) + (y - middle.1).powi(2) <= radius * radius,
            Self::Rectangle { middle, angle, half } => {
                let (dx, dy) = (x - middle.0, y - middle.1);
                let (sin, cos) = angle.sin_cos();
                (dx * cos + dy * sin).abs() <= half.0 && (dy * cos - dx * sin).abs() <= half.1
            }
            Self::Triangle { corners } => {
                let side = |a: Point, b: Point| (b.0 - a.0) * (y - a.1) - (b.1 - a.1) * (x - a.0);
                let sides = [0, 1, 2].map(|i| side(corners[i], corners[(i + 1) % 3]));
                sides.iter().all(|s| *s >= 0.0) || sides.iter().all(|s| *s <= 0.0)
            }
        }
    }

    fn random(rng: &mut impl Rng) -> Self {
        let side = SIDE as f64;
        let middle = (rng.gen_range(0.15 * side..0.85 * side), rng.gen_range(0.15 * side..0.85 * side));
        let size = rng.gen_range(SIZES);
        let angle = rng.gen_range(0.0..std::f64::consts::TAU);
        match rng.gen_range(0..3) {
            0 => Self::Circle { middle, radius: size * 0.8 },
            1 => Self::Rectangle { middle, angle, half: (size * 0.85, size * rng.gen_range(0.45..0.85)) },
            _ => {
                // About a third of a turn from one corner to the next, so that no corner is flat.
                let corners = [0.0, 1.0, 2.0].map(|third| {
                    let at = angle + (third + rng.gen_range(-0.15..0.15)) * std::f64::consts::TAU / 3.0;
                    (middle.0 + size * at.cos(), middle.1 + size * at.sin())
                });
                Self::Triangle { corners }
            }
        }
    }
}

/// An image and its mask.
#[derive(Clone, Debug, PartialEq)]
pub struct Scene {
    /// `[channel, row, column]`, row-major, most of them between 0 and 1.
    pub pixels: Vec<f32>,
    /// `[row, column]`, row-major: the class of each pixel.
    pub mask: Vec<usize>,
}

impl Scene {
    /// The scene of a number: the same at every call.
    pub fn numbered(number: u64) -> Self {
        let mut rng = StdRng::seed_from_u64(number);
        let ground = colour(&mut rng);
        let shapes: Vec<(Shape, [f32; CHANNELS])> = (0..rng.gen_range(1..=MOST_SHAPES))
            .map(|_| (Shape::random(&mut rng), contrasting(ground, &mut rng)))
            .collect();
        let mut scene = Self { pixels: vec![0.0; CHANNELS * PLANE], mask: Vec::with_capacity(PLANE) };
        for at in 0..PLANE {
            let centre = ((at % SIDE) as f64 + 0.5, (at / SIDE) as f64 + 0.5);
            // Later shapes lie above earlier ones.
            let top = shapes.iter().rev().find(|(shape, _)| shape.covers(centre));
            scene.mask.push(usize::from(top.is_some()));
            let colour = top.map_or(ground, |(_, colour)| *colour);
            for (channel, value) in colour.into_iter().enumerate() {
                scene.pixels[channel * PLANE + at] = value + noise(&mut rng);
            }
        }
        scene
    }
}

fn colour(rng: &mut impl Rng) -> [f32; CHANNELS] {
    std::array::from_fn(|_| rng.gen_range(0.0..1.0))
}

fn contrasting(ground: [f32; CHANNELS], rng: &mut impl Rng) -> [f32; CHANNELS] {
    loop {
        let candidate = colour(rng);
        if candidate.iter().zip(ground).map(|(a, b)| (a - b).abs()).sum::<f32>() >= CONTRAST {
            return candidate;
        }
    }
}

/// About normal: the sum of four even draws has a deviation of √(1/3).
fn noise(rng: &mut impl Rng) -> f32 {
    let sum: f32 = (0..4).map(|_| rng.gen_range(-0.5..0.5_f32)).sum();
    sum * 3_f32.sqrt() * NOISE
}

/// Scenes as the model takes them.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Batch {
    /// `[scene, channel, row, column]`, row-major, about between -2 and 2.
    pub pixels: Vec<f32>,
    /// `[scene, row, column]`, row-major.
    pub mask: Vec<usize>,
    /// How many scenes these are.
    pub count: usize,
}

impl Batch {
    /// Scenes one after the other.
    pub fn of(scenes: impl IntoIterator<Item = Scene>) -> Self {
        let mut batch = Self::default();
        for scene in scenes {
            batch.pixels.extend(scene.pixels.iter().map(|p| (p - 0.5) * 4.0));
            batch.mask.extend(scene.mask);
            batch.count += 1;
        }
        batch
    }

    /// The batch of a training step. `seed` tells one training's scenes from another's, and no
    /// training shows a [test scene](test_scene).
    pub fn training(seed: u64, step: usize, size: usize) -> Self {
        let first = (step * size) as u64;
        Self::of((first..first + size as u64).map(|n| Scene::numbered(mixed(seed, n) | TRAINING)))
    }
}

/// Numbers of training scenes have this bit, those of test scenes lack it.
const TRAINING: u64 = 1 << 63;

/// The test scene of an index.
pub fn test_scene(index: usize) -> Scene {
    Scene::numbered(mixed(0, index as u64) & !TRAINING)
}

/// A number without a pattern from two with one (the finalizer of SplitMix64, Steele et al. 2014).
fn mixed(seed: u64, n: u64) -> u64 {
    let mut z = n.wrapping_add(seed.wrapping_mul(0x9E37_79B9_7F4A_7C15)).wrapping_add(0x9E37_79B9_7F4A_7C15);
    z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
    z ^ (z >> 31)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The pixels that a shape covers.
    fn area(shape: Shape) -> usize {
        (0..PLANE).filter(|at| shape.covers(((at % SIDE) as f64 + 0.5, (at / SIDE) as f64 + 0.5))).count()
    }

    #[test]
    fn shapes_cover_their_area() {
        let circle = Shape::Circle { middle: (32.0, 30.0), radius: 10.0 };
        assert!(area(circle).abs_diff(314) <= 6, "{}", area(circle));
        for angle in [0.0, 0.3, 1.2] {
            let rectangle = Shape::Rectangle { middle: (32.0, 32.0), angle, half: (12.0, 5.0) };
            assert!(area(rectangle).abs_diff(240) <= 8, "{}", area(rectangle));
        }
        for corners in [[(10.0, 10.0), (40.0, 10.0), (10.0, 50.0)], [(10.0, 10.0), (10.0, 50.0), (40.0, 10.0)]] {
            let triangle = Shape::Triangle { corners };
            assert!(area(triangle).abs_diff(600) <= 40, "either way round: {}", area(triangle));
        }
    }

    #[test]
    fn a_turned_rectangle_is_wide_along_its_angle() {
        let middle = (32.0, 32.0);
        let shape = Shape::Rectangle { middle, angle: std::f64::consts::FRAC_PI_4, half: (10.0, 2.0) };
        assert!(shape.covers((38.0, 38.0)));
        assert!(!shape.covers((38.0, 26.0)));
    }

    #[test]
    fn the_mask_tells_surfaces_from_the_ground() {
        let mut distant = 0;
        for index in 0..40 {
            let scene = test_scene(index);
            assert_eq!((scene.pixels.len(), scene.mask.len()), (CHANNELS * PLANE, PLANE));
            // The pixels of a class, and their mean colour.
            let mean = |class| {
                let at: Vec<usize> = (0..PLANE).filter(|at| scene.mask[*at] == class).collect();
                let mean = |channel: usize| {
                    at.iter().map(|at| scene.pixels[channel * PLANE + at]).sum::<f32>() / at.len() as f32
                };
                (at.len(), [mean(0), mean(1), mean(2)])
            };
            let (ground_size, ground) = mean(0);
            assert!(ground_size > PLANE / 4, "{ground_size} pixels of background");
            let (size, surface) = mean(1);
            assert!(size > 50, "{size} pixels of shapes");
            let apart: f32 = ground.iter().zip(surface).map(|(a, b)| (a - b).abs()).sum();
            // Of several shapes the colours mix, and may mix to the ground's.
            distant += usize::from(apart > CONTRAST / 2.0);
        }
        assert!(distant > 30, "{distant} of 40 scenes have shapes of another colour than the ground");
    }

    #[test]
    fn scenes_are_the_same_for_the_same_number_and_no_others() {
        assert_eq!(Batch::training(1, 3, 2), Batch::training(1, 3, 2));
        assert_ne!(Batch::training(1, 3, 2), Batch::training(2, 3, 2));
        assert_ne!(Batch::training(1, 3, 2), Batch::training(1, 4, 2));
        assert_eq!(Batch::training(0, 1, 2).pixels.len(), 2 * CHANNELS * PLANE);
        // Step 1 of two scenes begins where step 0 of two ended.
        let four = Batch::training(5, 0, 4);
        assert_eq!(four.mask[2 * PLANE..], Batch::training(5, 1, 2).mask);
        assert_ne!(Batch::of([test_scene(0)]).mask, Batch::training(0, 0, 1).mask);
    }

    #[test]
    fn noise_is_about_normal() {
        let mut rng = StdRng::seed_from_u64(1);
        let draws: Vec<f32> = (0..20_000).map(|_| noise(&mut rng)).collect();
        let mean = draws.iter().sum::<f32>() / draws.len() as f32;
        let deviation = (draws.iter().map(|d| d * d).sum::<f32>() / draws.len() as f32).sqrt();
        assert!(mean.abs() < 0.005 && (deviation - NOISE).abs() < 0.005, "{mean} {deviation}");
    }
}
