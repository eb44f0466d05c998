//! Every scheme against sums written down in `f64`.

use super::*;

/// Numbers between -1 and 1, alike in both dtypes.
fn numbers<E: Scalar>(count: usize, seed: usize) -> Vec<E> {
    (0..count).map(|i| E::of((((i + seed) * 7919 + seed * 104_729) % 2003) as f64 / 1001.0 - 1.0)).collect()
}

/// Each output element, from the definition, and the gradients of the sum of outputs times `dy`.
struct Naive {
    y: Vec<f64>,
    dx: Vec<f64>,
    dw: Vec<f64>,
}

fn naive(g: &Geometry, x: &[f64], w: &[f64], dy: &[f64]) -> Naive {
    let Convolution { inputs, outputs, kernel, stride, padding, dilation, groups, .. } = g.conv;
    let (ci, co) = (inputs / groups, outputs / groups);
    let (mut y, mut dx, mut dw) = (vec![0.0; g.output.elements()], vec![0.0; x.len()], vec![0.0; w.len()]);
    for pixel in 0..g.output.pixels() {
        let (row, ox) = (pixel / g.output.width, pixel % g.output.width);
        let (image, oy) = (row / g.output.height, row % g.output.height);
        for tap in 0..kernel * kernel {
            let inside = |at: usize, length: usize| at.checked_sub(padding).filter(|at| *at < length);
            let Some(iy) = inside(oy * stride + tap / kernel * dilation, g.input.height) else { continue };
            let Some(ix) = inside(ox * stride + tap % kernel * dilation, g.input.width) else { continue };
            let source = ((image * g.input.height + iy) * g.input.width + ix) * inputs;
            for o in 0..outputs {
                for c in 0..ci {
                    let (from, weight) = (source + o / co * ci + c, (o * ci + c) * kernel * kernel + tap);
                    y[pixel * outputs + o] += x[from] * w[weight];
                    dx[from] += dy[pixel * outputs + o] * w[weight];
                    dw[weight] += dy[pixel * outputs + o] * x[from];
                }
            }
        }
    }
    Naive { y, dx, dw }
}

#[track_caller]
fn near<E: Scalar>(what: &str, ours: &[E], exact: &[f64], tolerance: f64) {
    assert_eq!(ours.len(), exact.len(), "{what}");
    let scale = (exact.iter().map(|v| v * v).sum::<f64>() / exact.len().max(1) as f64).sqrt().max(1e-6);
    for (i, (a, b)) in ours.iter().zip(exact).enumerate() {
        let a = a.to_f64().unwrap();
        assert!((a - b).abs() <= tolerance * scale, "{what}[{i}]: {a} for {b}, scale {scale}");
    }
}

fn widened<E: Scalar>(v: &[E]) -> Vec<f64> {
    v.iter().map(|v| v.to_f64().unwrap()).collect()
}

/// Runs all passes in the scheme that the convolution gets, and compares.
fn agrees<E: Scalar>(conv: Convolution, [images, height, width]: [usize; 3], tolerance: f64)
where
    Cpu: HeapDevice<E>,
{
    let input = Extent { images, height, width, channels: conv.inputs };
    let sides = [height, width].map(|side| conv.side(side).unwrap());
    let output = Extent { images, height: sides[0], width: sides[1], channels: conv.outputs };
    let g = Geometry::new(conv, input, output);
    let what = format!("{:?} on {input:?} in {:?}", conv, Scheme::of::<E>(&g));
    let weights = conv.outputs * (conv.inputs / conv.groups) * g.taps();
    let (x, w, dy) = (numbers::<E>(input.elements(), 1), numbers::<E>(weights, 2), numbers::<E>(output.elements(), 3));
    let bias = numbers::<E>(conv.outputs, 4);
    let exact = naive(&g, &widened(&x), &widened(&w), &widened(&dy));
    let biased: Vec<f64> =
        exact.y.iter().enumerate().map(|(i, v)| v + bias[i % conv.outputs].to_f64().unwrap()).collect();
    near(&format!("{what}: y"), &g.convolved(&x, &w, None, None).unwrap(), &exact.y, tolerance);
    near(&format!("{what}: y + bias"), &g.convolved(&x, &w, Some(&bias), None).unwrap(), &biased, tolerance);
    let mut sum = numbers::<E>(output.elements(), 8);
    let summed: Vec<f64> = exact.y.iter().zip(&sum).map(|(a, b)| a + b.to_f64().unwrap()).collect();
    assert!(g.convolved(&x, &w, None, Some(&mut sum)).is_none());
    near(&format!("{what}: y added"), &sum, &summed, tolerance);
    let dx = g.input_gradient(&dy, &w, None, None).unwrap();
    near(&format!("{what}: dx"), &dx, &exact.dx, tolerance);
    let mut sum = numbers::<E>(input.elements(), 5);
    let summed: Vec<f64> = exact.dx.iter().zip(&sum).map(|(a, b)| a + b.to_f64().unwrap()).collect();
    assert!(g.input_gradient(&dy, &w, None, Some(&mut sum)).is_none());
    near(&format!("{what}: dx added"), &sum, &summed, tolerance);
    let bias = numbers::<E>(conv.inputs, 6);
    let biased: Vec<f64> =
        exact.dx.iter().enumerate().map(|(i, v)| v + bias[i % conv.inputs].to_f64().unwrap()).collect();
    near(&format!("{what}: dx + bias"), &g.input_gradient(&dy, &w, Some(&bias), None).unwrap(), &biased, tolerance);
    let mut dw = numbers::<E>(weights, 7);
    let summed: Vec<f64> = exact.dw.iter().zip(&dw).map(|(a, b)| a + b.to_f64().unwrap()).collect();
    g.add_weight_gradient(&x, &dy, &mut dw);
    near(&format!("{what}: dw"), &dw, &summed, tolerance);
}

fn conv([inputs, outputs]: [usize; 2], [kernel, stride, padding, dilation, groups]: [usize; 5]) -> Convolution {
    Convolution { inputs, outputs, kernel, stride, padding, dilation, groups, exact: false }
}

#[test]
fn any_convolution_agrees_with_its_definition() {
    let cases = [
        ([1, 1], [1, 1, 0, 1, 1], [1, 1, 1]),
        ([5, 7], [1, 1, 0, 1, 1], [2, 5, 3]),
        ([70, 33], [1, 1, 0, 1, 1], [3, 9, 7]),
        ([8, 6], [1, 2, 0, 1, 1], [2, 7, 6]),
        ([4, 6], [1, 1, 1, 1, 1], [1, 3, 4]),
        ([1, 2], [3, 1, 1, 1, 1], [1, 4, 5]),
        ([3, 5], [3, 1, 0, 1, 1], [2, 6, 7]),
        ([3, 4], [3, 2, 1, 1, 1], [2, 9, 8]),
        ([17, 19], [3, 2, 1, 1, 1], [2, 7, 7]),
        ([3, 8], [7, 2, 3, 1, 1], [2, 15, 13]),
        ([2, 3], [2, 2, 0, 1, 1], [1, 7, 6]),
        ([2, 3], [2, 3, 1, 1, 1], [2, 8, 7]),
        ([4, 4], [3, 1, 2, 2, 1], [1, 7, 9]),
        ([4, 6], [3, 2, 2, 2, 1], [2, 8, 9]),
        ([4, 6], [3, 3, 1, 2, 2], [2, 11, 10]),
        ([6, 4], [3, 1, 1, 1, 2], [2, 5, 5]),
        ([6, 9], [3, 2, 1, 1, 3], [1, 5, 6]),
        ([5, 5], [3, 1, 1, 1, 5], [2, 6, 5]),
        ([20, 20], [3, 2, 1, 1, 20], [2, 7, 9]),
        ([33, 33], [5, 1, 2, 1, 33], [1, 6, 3]),
        ([18, 18], [3, 1, 2, 2, 18], [2, 5, 6]),
        ([4, 8], [3, 1, 1, 1, 4], [1, 4, 4]),
        ([16, 16], [3, 1, 1, 1, 1], [1, 4, 4]),
        ([16, 24], [3, 1, 1, 1, 1], [2, 5, 7]),
        ([24, 40], [3, 1, 1, 1, 1], [3, 9, 6]),
        ([33, 17], [3, 1, 1, 1, 1], [2, 3, 11]),
        ([64, 70], [3, 1, 1, 1, 1], [1, 8, 8]),
        ([32, 48], [3, 1, 0, 1, 1], [2, 6, 9]),
        ([20, 16], [3, 1, 2, 1, 1], [1, 5, 5]),
        ([130, 40], [3, 1, 1, 1, 1], [1, 1, 2]),
        ([32, 150], [3, 1, 1, 1, 1], [1, 5, 5]),
        ([150, 32], [3, 1, 1, 1, 1], [1, 4, 6]),
        ([150, 140], [3, 1, 1, 1, 1], [1, 5, 6]),
        ([40, 130], [3, 2, 1, 1, 1], [1, 2, 2]),
        ([30, 70], [3, 2, 2, 2, 1], [2, 9, 7]),
        ([70, 260], [3, 2, 1, 1, 1], [1, 9, 9]),
        ([16, 40], [5, 1, 2, 1, 1], [2, 12, 13]),
    ];
    for (channels, numbers, images) in cases {
        let conv = conv(channels, numbers);
        agrees::<f64>(conv, images, 1e-13);
        agrees::<f32>(conv, images, 2e-5);
        agrees::<f32>(Convolution { exact: true, ..conv }, images, 3e-6);
    }
}

/// One of each scheme, with channels that fill no vector.
#[test]
fn every_scheme_agrees_with_its_definition() {
    let cases = [
        ([19, 21], [1, 1, 0, 1, 1], [1, 5, 4], Scheme::Pointwise),
        ([19, 21], [3, 1, 1, 1, 1], [1, 7, 6], Scheme::Winograd),
        ([21, 21], [3, 2, 1, 1, 21], [1, 7, 6], Scheme::Depthwise),
        ([40, 70], [3, 2, 1, 1, 1], [1, 5, 6], Scheme::Few),
        ([5, 7], [3, 2, 1, 1, 1], [1, 7, 6], Scheme::Direct),
    ];
    for (channels, numbers, images, scheme) in cases {
        let conv = conv(channels, numbers);
        let output = Extent { images: 1, height: 4, width: 4, channels: conv.outputs };
        let input = Extent { channels: conv.inputs, ..output };
        let geometry = Geometry::new(conv, input, output);
        assert_eq!([Scheme::of::<f32>(&geometry), Scheme::of_weight_gradient::<f32>(&geometry)], [scheme; 2]);
        agrees::<f64>(conv, images, 1e-13);
        agrees::<f32>(conv, images, 2e-5);
    }
}

#[test]
fn narrower_vectors_agree_too() {
    for vectors in ["portable", "avx2"] {
        // The width is settled once a process.
        let output = std::process::Command::new(std::env::current_exe().unwrap())
            .args(["--exact", "kernels::conv::tests::every_scheme_agrees_with_its_definition"])
            .env("CKPT_VECTORS", vectors)
            .output()
            .unwrap();
        let said = String::from_utf8_lossy(&output.stdout);
        assert!(output.status.success() && said.contains("1 passed"), "{vectors}: {said}");
    }
}

#[test]
fn pixels_that_no_output_reads_get_no_gradient_and_a_larger_input_is_allowed() {
    // As a transposed convolution with an output padding has it.
    let conv = conv([3, 4], [3, 2, 1, 1, 1]);
    let input = Extent { images: 2, height: 6, width: 8, channels: 3 };
    let output = Extent { images: 2, height: 3, width: 4, channels: 4 };
    let g = Geometry::new(conv, input, output);
    let (x, w, dy) = (numbers::<f64>(288, 1), numbers::<f64>(108, 2), numbers::<f64>(output.elements(), 3));
    let exact = naive(&g, &x, &w, &dy);
    near("dx", &g.input_gradient(&dy, &w, None, None).unwrap(), &exact.dx, 1e-13);
    assert_eq!((conv.transposed_side(3, 1), conv.transposed_side(4, 1)), (Some(6), Some(8)));
}

/// More than one group of transformed weights, and more tiles than are transformed at once.
#[test]
fn large_transformed_convolutions_agree_with_exact_ones() {
    for (inputs, outputs, [images, height, width]) in [(304, 304, [1, 46, 46]), (18, 20, [6, 66, 65])] {
        let exact = Convolution { exact: true, ..conv([inputs, outputs], [3, 1, 1, 1, 1]) };
        let input = Extent { images, height, width, channels: inputs };
        let output = Extent { channels: outputs, ..input };
        let [exact, ours] =
            [exact, Convolution { exact: false, ..exact }].map(|conv| Geometry::new(conv, input, output));
        assert_eq!([Scheme::of::<f32>(&exact), Scheme::of::<f32>(&ours)], [Scheme::Direct, Scheme::Winograd]);
        let (x, dy) = (numbers::<f32>(input.elements(), 1), numbers::<f32>(output.elements(), 2));
        let w = numbers::<f32>(inputs * outputs * 9, 3);
        let y = |g: &Geometry| g.convolved(&x, &w, None, None).unwrap();
        near("y", &y(&ours), &widened(&y(&exact)), 1e-4);
        let dx = |g: &Geometry| g.input_gradient(&dy, &w, None, None).unwrap();
        near("dx", &dx(&ours), &widened(&dx(&exact)), 1e-4);
        let dw = |g: &Geometry| {
            let mut dw = vec![0.0; w.len()];
            g.add_weight_gradient(&x, &dy, &mut dw);
            dw
        };
        near("dw", &dw(&ours), &widened(&dw(&exact)), 1e-4);
    }
}

#[test]
fn sides() {
    let sides = |numbers, input| conv([1, 1], numbers).side(input);
    assert_eq!(sides([3, 1, 1, 1, 1], 7), Some(7));
    assert_eq!(sides([3, 2, 1, 1, 1], 7), Some(4));
    assert_eq!(sides([7, 2, 3, 1, 1], 224), Some(112));
    assert_eq!(sides([3, 1, 0, 2, 1], 5), Some(1));
    assert_eq!(sides([3, 1, 0, 2, 1], 4), None);
    assert_eq!(conv([1, 1], [2, 2, 0, 1, 1]).transposed_side(5, 0), Some(10));
    assert_eq!(conv([1, 1], [1, 1, 1, 1, 1]).transposed_side(2, 0), None);
}
