//! Pictures of what the network found: the image, the true mask and the found one beside each other.

use std::fs::File;
use std::io::BufWriter;
use std::path::Path;

use crate::scene::{CHANNELS, CLASSES, PLANE, SIDE, Scene};

/// Pixels of the picture for one of the image, each way.
const ZOOM: usize = 4;
/// Panels beside each other.
const PANELS: usize = 3;
const WIDTH: usize = PANELS * SIDE * ZOOM;
const HEIGHT: usize = SIDE * ZOOM;
/// Of the classes' tints; the background has none.
const TINTS: [[f32; CHANNELS]; CLASSES] = [[0.0; CHANNELS], [0.90, 0.10, 0.10]];
/// How much of a pixel is tint.
const TINT_SHARE: f32 = 0.6;

/// Writes a picture of a scene as PNG: the image, the image with its true mask, the image with the
/// `found` mask. What is of a shape is tinted red.
///
/// # Errors
/// A message that names the file.
pub fn write(path: &Path, scene: &Scene, found: &[usize]) -> Result<(), String> {
    let failed = |e: &dyn std::fmt::Display| format!("cannot write {}: {e}", path.display());
    let file = File::create(path).map_err(|e| failed(&e))?;
    let mut encoder = png::Encoder::new(BufWriter::new(file), WIDTH as u32, HEIGHT as u32);
    encoder.set_color(png::ColorType::Rgb);
    encoder.set_depth(png::BitDepth::Eight);
    let mut writer = encoder.write_header().map_err(|e| failed(&e))?;
    writer.write_image_data(&picture(scene, found)).map_err(|e| failed(&e))?;
    writer.finish().map_err(|e| failed(&e))
}

/// The picture's bytes, `[row, column, channel]`.
fn picture(scene: &Scene, found: &[usize]) -> Vec<u8> {
    let nothing = vec![0; PLANE];
    let masks: [&[usize]; PANELS] = [&nothing, &scene.mask, found];
    let mut bytes = Vec::with_capacity(HEIGHT * WIDTH * CHANNELS);
    for row in 0..HEIGHT {
        for mask in masks {
            for column in 0..SIDE * ZOOM {
                let at = row / ZOOM * SIDE + column / ZOOM;
                for (channel, tint) in TINTS[mask[at]].into_iter().enumerate() {
                    let value = scene.pixels[channel * PLANE + at];
                    let value = if mask[at] == 0 { value } else { value + (tint - value) * TINT_SHARE };
                    bytes.push((value.clamp(0.0, 1.0) * 255.0).round() as u8);
                }
            }
        }
    }
    bytes
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::scene::test_scene;

    #[test]
    fn the_file_holds_the_three_panels() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("scene.png");
        let mut scene = test_scene(0);
        scene.pixels.fill(0.5);
        scene.mask = vec![0; PLANE];
        scene.mask[0] = 1;
        let mut found = vec![0; PLANE];
        found[PLANE - 1] = 1;
        write(&path, &scene, &found).unwrap();

        let decoder = png::Decoder::new(std::io::BufReader::new(File::open(&path).unwrap()));
        let mut reader = decoder.read_info().unwrap();
        let mut bytes = vec![0; reader.output_buffer_size().unwrap()];
        let info = reader.next_frame(&mut bytes).unwrap();
        assert_eq!((info.width, info.height, info.color_type), (768, 256, png::ColorType::Rgb));
        let pixel = |row: usize, column: usize| {
            let at = (row * WIDTH + column) * CHANNELS;
            [bytes[at], bytes[at + 1], bytes[at + 2]]
        };
        let grey = [128, 128, 128];
        let panel = SIDE * ZOOM;
        assert_eq!([pixel(0, 0), pixel(3, panel + 4), pixel(0, 2 * panel)], [grey; 3]);
        for red in [pixel(3, panel + 3), pixel(HEIGHT - 1, WIDTH - 1)] {
            assert!(red[0] > red[1] && red[1] == red[2], "{red:?}");
        }
        assert_eq!(pixel(HEIGHT - 1, WIDTH - 1 - ZOOM), grey);
    }

    #[test]
    fn a_file_that_cannot_be_written_is_named() {
        let folder = tempfile::tempdir().unwrap();
        let scene = test_scene(0);
        let error = write(&folder.path().join("missing/scene.png"), &scene, &scene.mask).unwrap_err();
        assert!(error.starts_with("cannot write ") && error.contains("scene.png"), "{error}");
    }
}
