//! 3×3 convolutions by Winograd's minimal filtering: 36 products of matrices with a row for each tile of
//! 4×4 output pixels, where there would be 9 with a row for each pixel, a quarter of the work.
//!
//! Weights are transformed for as many output channels at a time as take some megabytes, tiles for
//! as many as stay near in the cache. Where there are few tiles and many channels, all tiles are
//! transformed once, and threads share the output channels.

use std::mem::MaybeUninit;

use rayon::prelude::*;

use super::super::{
    buffer::written,
    images::Extent,
    parts::{PARTS, add_in_order, rows_of_part},
    product::{Matrix, Target, Threads},
    scalar::Scalar,
    shared::Shared,
};
use super::{
    geometry::Geometry,
    transforms::{
        Block, KERNEL, LANES, Lanes, SIDE, STEP, along_both, of_input, of_kernel, of_output, to_kernel, to_output,
        turned, zeros,
    },
    workers::share,
};

/// Products of a tile.
const PRODUCTS: usize = SIDE * SIDE;

/// Taps of a kernel.
const TAPS: usize = KERNEL * KERNEL;

/// Channels below which a transform costs more than it saves.
const FEWEST: usize = 16;

/// Elements of transformed weights that are held at a time.
const WEIGHTS: usize = 3 << 20;

/// Tiles that go from the transform of the input to that of the output at a time.
const CHUNK: usize = 48;

/// The same where there are few channels.
const LONG_CHUNK: usize = 128;

/// Elements of all tiles of the input up to which they are transformed once and held.
const FEW: usize = 40 << 10;

/// Output channels of a thread's panel where they are.
const PANEL: usize = 64;

/// Input channels whose transformed weights a thread holds at a time where there are few tiles to multiply
/// by them: they stay in the second-level cache.
const DEPTH: usize = 64;

/// Tiles up to which that saves more than it costs to add up the products.
const FEW_TILES: usize = 64;

/// Tiles that a thread transforms at a time where all are held.
const SOME: usize = 8;

/// Whether a convolution can be computed so, and gains by it.
pub(super) fn suits<E>(geometry: &Geometry) -> bool {
    let conv = &geometry.conv;
    size_of::<E>() == size_of::<f32>()
        && !conv.exact
        && (conv.kernel, conv.stride, conv.dilation, conv.groups) == (KERNEL, 1, 1, 1)
        && conv.inputs.min(conv.outputs) >= FEWEST
        && geometry.output.height.min(geometry.output.width) > 2
        && geometry.input.height.min(geometry.input.width) > 2
}

/// 36 matrices behind one another, with a cache line between them: they would meet in the same sets
/// of the cache otherwise. Their columns are channels, rounded up to whole [`Lanes`].
#[derive(Clone, Copy)]
struct Planes<E> {
    at: Shared<E>,
    rows: usize,
    columns: usize,
}

impl<E: Scalar> Planes<E> {
    /// Elements of planes of so many rows and columns.
    const fn len(rows: usize, columns: usize) -> usize {
        PRODUCTS * Self::stride_of(rows, columns)
    }

    const fn stride_of(rows: usize, columns: usize) -> usize {
        rows * columns + LANES
    }

    /// # Safety
    /// `at` must be valid for [`len`](Self::len) elements as long as this or a copy is used. No row is
    /// written through it while another thread looks at that row, nor read before it is written.
    unsafe fn new(at: Shared<E>, rows: usize, columns: usize) -> Self {
        assert!(columns.is_multiple_of(LANES), "whole lanes");
        Self { at, rows, columns }
    }

    /// The same planes in a slice of scratch.
    ///
    /// # Safety
    /// As [`new`](Self::new), for as long as the slice is borrowed.
    unsafe fn within(scratch: &mut [MaybeUninit<E>], rows: usize, columns: usize) -> Self {
        assert!(scratch.len() >= Self::len(rows, columns), "planes beyond their scratch");
        // SAFETY: the slice is as long, and the rest is the caller's.
        unsafe { Self::new(Shared::fresh(scratch), rows, columns) }
    }

    /// Where a row's channels from `column` on lie in a plane.
    #[inline(always)]
    fn place(&self, plane: usize, row: usize, column: usize) -> *mut [E; LANES] {
        debug_assert!(plane < PRODUCTS && row < self.rows && column + LANES <= self.columns);
        // SAFETY: it is within the elements that `new` has been promised.
        unsafe { self.at.at(plane * Self::stride_of(self.rows, self.columns) + row * self.columns + column).cast() }
    }

    /// Writes a row's channels from `column` on.
    #[inline(always)]
    fn put(&self, plane: usize, row: usize, column: usize, lanes: &[E; LANES]) {
        // SAFETY: `new` has been promised that the row is this thread's.
        unsafe { *self.place(plane, row, column) = *lanes };
    }

    /// A row's channels from `column` on.
    ///
    /// # Safety
    /// They must have been written, and nobody may write them as long as they are used.
    #[inline(always)]
    unsafe fn lanes<'a>(&self, plane: usize, row: usize, column: usize) -> &'a [E; LANES] {
        // SAFETY: as the caller says.
        unsafe { &*self.place(plane, row, column) }
    }

    /// Rows of a plane; `inner` of their columns.
    ///
    /// # Safety
    /// They must have been written.
    unsafe fn matrix<'a>(&self, plane: usize, count: usize, first_column: usize, inner: usize) -> Matrix<'a, E> {
        assert!(count <= self.rows && first_column + inner <= self.columns, "a matrix beyond its plane");
        if count == 0 || inner == 0 {
            return Matrix::new(&[], count, inner);
        }
        // SAFETY: the rows lie in the plane, and the caller says that they are written.
        let rows = unsafe {
            let len = (count - 1) * self.columns + inner;
            std::slice::from_raw_parts(self.place(plane, 0, 0).cast::<E>().add(first_column), len)
        };
        Matrix::strided(rows, count, inner, self.columns)
    }

    /// The first rows of a plane as the place for a product.
    ///
    /// # Safety
    /// Nobody else may look at them, and they must have been written where `initialised` says so.
    unsafe fn target<'a>(&self, plane: usize, count: usize, initialised: bool) -> Target<'a, E> {
        assert!(count <= self.rows, "a target beyond its plane");
        // SAFETY: the rows lie in the plane, and the rest is the caller's.
        unsafe { Target::shared(self.place(plane, 0, 0).cast(), initialised, count, self.columns, self.columns) }
    }
}

/// Images, cut into tiles that step over their pixels by four.
#[derive(Clone, Copy)]
struct Tiles<'a, E> {
    from: &'a [E],
    extent: Extent,
    /// Zeros before the first row and column; fewer than none where pixels are passed over.
    padding: isize,
    /// Tiles along a column and a row of an image.
    counts: [usize; 2],
}

impl<E> Tiles<'_, E> {
    /// All tiles.
    fn count(&self) -> usize {
        self.extent.images * self.counts[0] * self.counts[1]
    }

    /// The image of a tile, and its first row and column.
    #[inline(always)]
    fn origin(&self, tile: usize) -> (usize, isize, isize) {
        let [down, along] = self.counts;
        let (row, column) = (tile / along, tile % along);
        let at = |i: usize| (i * STEP) as isize - self.padding;
        (row / down, at(row % down), at(column))
    }

    fn lanes(&self) -> usize {
        self.extent.channels.next_multiple_of(LANES)
    }
}

/// Where the rows and the columns of a square of pixels begin; `None` beyond the image.
struct Square<const N: usize> {
    rows: [Option<usize>; N],
    columns: [Option<usize>; N],
}

impl<const N: usize> Square<N> {
    #[inline(always)]
    fn of<E>(tiles: &Tiles<'_, E>, tile: usize) -> Self {
        let Extent { height, width, channels, .. } = tiles.extent;
        let (image, top, left) = tiles.origin(tile);
        let inside = |at: isize, length: usize| (at >= 0 && at < length as isize).then_some(at as usize);
        Self {
            rows: std::array::from_fn(|i| {
                inside(top + i as isize, height).map(|y| (image * height + y) * width * channels)
            }),
            columns: std::array::from_fn(|j| inside(left + j as isize, width).map(|x| x * channels)),
        }
    }

    /// Where a pixel begins.
    #[inline(always)]
    fn pixel(&self, row: usize, column: usize) -> Option<usize> {
        Some(self.rows[row]? + self.columns[column]?)
    }
}

/// Shows [`along_both`] the lanes of a square of pixels from `channel` on, with zeros for what lies
/// outside; `last` holds the channels where they fill no lanes.
#[inline(always)]
fn transform_square<E: Scalar, const N: usize>(
    tiles: &Tiles<'_, E>,
    square: &Square<N>,
    channel: usize,
    last: &mut Block<E, N, N>,
    between: &mut Block<E, N, SIDE>,
    to: impl FnMut(usize, usize, &[E; LANES]),
    f: impl Fn([E; N]) -> [E; SIDE],
) {
    let outside = [E::zero(); LANES];
    let count = tiles.extent.channels - channel;
    if count >= LANES {
        let from = |i: usize, j: usize| match square.pixel(i, j) {
            Some(at) => tiles.from[at + channel..].first_chunk().expect("a pixel's channels"),
            None => &outside,
        };
        along_both(from, between, to, f);
    } else {
        for (i, row) in last.iter_mut().enumerate() {
            for (j, lanes) in row.iter_mut().enumerate() {
                lanes.0.fill(E::zero());
                if let Some(at) = square.pixel(i, j) {
                    lanes.0[..count].copy_from_slice(&tiles.from[at + channel..][..count]);
                }
            }
        }
        along_both(|i, j| &last[i][j].0, between, to, f);
    }
}

vectorised! {
    /// Transforms the tiles `first..end` of an input to the rows of `to` from `row` on.
    fn transform_input<E>(tiles: &Tiles<'_, E>, first: usize, end: usize, to: &Planes<E>, row: usize) {
        let (mut last, mut between) = (zeros::<E, SIDE, SIDE>(), zeros::<E, SIDE, SIDE>());
        for tile in first..end {
            let square = Square::of(tiles, tile);
            for channel in (0..to.columns).step_by(LANES) {
                let put = |i, j, lanes: &_| to.put(i * SIDE + j, row + tile - first, channel, lanes);
                transform_square(tiles, &square, channel, &mut last, &mut between, put, of_input::<E, FMA>);
            }
        }
    }

    /// The same for an output's gradient.
    fn transform_output_gradient<E>(tiles: &Tiles<'_, E>, first: usize, end: usize, to: &Planes<E>, row: usize) {
        let (mut last, mut between) = (zeros::<E, STEP, STEP>(), zeros::<E, STEP, SIDE>());
        for tile in first..end {
            let square = Square::of(tiles, tile);
            for channel in (0..to.columns).step_by(LANES) {
                let put = |i, j, lanes: &_| to.put(i * SIDE + j, row + tile - first, channel, lanes);
                transform_square(tiles, &square, channel, &mut last, &mut between, put, of_output::<E, FMA>);
            }
        }
    }

    /// Transforms the products of the tiles `first..end`, which are the rows of `from`, and writes them
    /// to their pixels, channels `first_channel` on.
    fn transform_products<E>(from: &Planes<E>, first: usize, end: usize, to: &Writing<'_, E>, first_channel: usize) {
        let Extent { channels, .. } = to.tiles.extent;
        let mut between = zeros::<E, SIDE, STEP>();
        for tile in first..end {
            let square = Square::<STEP>::of(&to.tiles, tile);
            for column in (0..from.columns).step_by(LANES) {
                let channel = first_channel + column;
                if channel >= channels {
                    break;
                }
                let count = LANES.min(channels - channel);
                let bias = to.bias.map(|bias| &bias[channel..][..count]);
                // SAFETY: the caller has written these rows, by products.
                let products = |i: usize, j: usize| unsafe { from.lanes(i * SIDE + j, tile - first, column) };
                let write = |i: usize, j: usize, lanes: &[E; LANES]| {
                    let Some(pixel) = square.pixel(i, j) else { return };
                    // SAFETY: the pixel and its channels are the output's, and this tile's alone; with
                    // `sum` they have been written before.
                    unsafe {
                        let to_pixel = to.to.at(pixel + channel);
                        // A count known to the compiler, for all but the last channels.
                        if count == LANES {
                            put(to_pixel, lanes, LANES, to.sum, bias);
                        } else {
                            put(to_pixel, lanes, count, to.sum, bias);
                        }
                    }
                };
                along_both(products, &mut between, write, to_output::<E, FMA>);
            }
        }
    }

    /// Transforms the kernels of the rows `first..end` to the rows of `to` from `to_row` on: those of their
    /// columns from `first_column` on, as many as `to` has.
    fn transform_kernels<E>(
        kernels: &Kernels<'_, E>, first: usize, end: usize, first_column: usize, to: &Planes<E>, to_row: usize,
    ) {
        let mut between = zeros::<E, KERNEL, SIDE>();
        let mut taps = zeros::<E, TAPS, LANES>();
        for start in (first..end).step_by(LANES) {
            let rows = LANES.min(end - start);
            for column in (0..to.columns).step_by(LANES) {
                kernels.side_by_side([start, rows], first_column + column, &mut taps);
                let taps = taps.as_flattened();
                for row in 0..rows {
                    let from = |i: usize, j: usize| {
                        let tap = i * KERNEL + j;
                        &taps[row * TAPS + if kernels.turned { TAPS - 1 - tap } else { tap }].0
                    };
                    let to_row = to_row + start - first + row;
                    let put = |i, j, lanes: &_| to.put(i * SIDE + j, to_row, column, lanes);
                    along_both(from, &mut between, put, of_kernel::<E, FMA>);
                }
            }
        }
    }

    /// Transforms gradients of transformed kernels, the rows `first..end` of `from`, and adds them to
    /// those of the kernels of outputs from `first_output + first` on, and of inputs from `first_input` on.
    fn transform_kernel_gradients<E>(
        from: &Planes<E>, first: usize, end: usize, inputs: usize, to: Shared<E>, first_output: usize,
        first_input: usize,
    ) {
        let (mut between, mut kernels) = (zeros::<E, SIDE, KERNEL>(), zeros::<E, KERNEL, KERNEL>());
        for row in first..end {
            for column in (0..from.columns.min(inputs - first_input)).step_by(LANES) {
                // SAFETY: the caller has written these rows, by products.
                let products = |i: usize, j: usize| unsafe { from.lanes(i * SIDE + j, row, column) };
                along_both(products, &mut between, |i, j, lanes| kernels[i][j].0 = *lanes, to_kernel::<E, FMA>);
                let input = first_input + column;
                let count = LANES.min(inputs - input);
                let start = ((first_output + row) * inputs + input) * TAPS;
                // SAFETY: they are weights of this row's output, which is this thread's alone.
                let to = unsafe { std::slice::from_raw_parts_mut(to.at(start), count * TAPS) };
                for (lane, to) in to.chunks_exact_mut(TAPS).enumerate() {
                    for (tap, to) in to.iter_mut().enumerate() {
                        *to += kernels[tap / KERNEL][tap % KERNEL].0[lane];
                    }
                }
            }
        }
    }
}

/// Writes or adds some channels of a pixel.
///
/// # Safety
/// `to` must be valid for `count` elements, written before where they are added to.
#[inline(always)]
unsafe fn put<E: Scalar>(to: *mut E, lanes: &[E; LANES], count: usize, sum: bool, bias: Option<&[E]>) {
    for i in 0..count {
        // SAFETY: the caller's.
        unsafe {
            let value = match bias {
                _ if sum => *to.add(i) + lanes[i],
                Some(bias) => bias[i] + lanes[i],
                None => lanes[i],
            };
            to.add(i).write(value);
        }
    }
}

/// Weights as a matrix of kernels.
#[derive(Clone, Copy)]
struct Kernels<'a, E> {
    weight: &'a [E],
    rows: usize,
    columns: usize,
    /// Whether rows are inputs, and columns outputs; else the other way round.
    by_input: bool,
    /// Whether the kernels are turned by half a circle, as the gradient of the input has them.
    turned: bool,
}

impl<E: Scalar> Kernels<'_, E> {
    /// The kernels of `count` rows from `first` on: tap by tap, those of a row's columns from `column`
    /// on side by side, with zeros where there is none.
    #[inline(always)]
    fn side_by_side(&self, [first, count]: [usize; 2], column: usize, to: &mut Block<E, TAPS, LANES>) {
        let mut square = [Lanes([E::zero(); LANES]); LANES];
        if self.by_input {
            // The rows of a column follow one another: 16 times as many numbers as a kernel has.
            for (i, to) in to.iter_mut().enumerate() {
                let some = LANES.min((count * TAPS).saturating_sub(i * LANES));
                for (lane, line) in square.iter_mut().enumerate() {
                    let columns = self.rows * TAPS * (column + lane);
                    self.copy(
                        if column + lane < self.columns { some } else { 0 },
                        columns + first * TAPS + i * LANES,
                        line,
                    );
                }
                turned(&square, to);
            }
        } else {
            let mut turned_square = square;
            for (row, to) in to.as_flattened_mut().chunks_exact_mut(TAPS).take(count).enumerate() {
                for (lane, line) in square.iter_mut().enumerate() {
                    let start = ((first + row) * self.columns + column + lane) * TAPS;
                    // A whole vector, of which the kernel is the first part, is copied at once.
                    let some = LANES.min(self.weight.len().saturating_sub(start));
                    self.copy(if column + lane < self.columns { some } else { 0 }, start, line);
                }
                turned(&square, &mut turned_square);
                to.copy_from_slice(&turned_square[..TAPS]);
            }
        }
    }

    /// Copies so many weights from `start` on, and zeros behind them.
    #[inline(always)]
    fn copy(&self, count: usize, start: usize, to: &mut Lanes<E>) {
        if count == LANES {
            to.0.copy_from_slice(&self.weight[start..][..LANES]);
        } else {
            to.0.fill(E::zero());
            if count > 0 {
                to.0[..count].copy_from_slice(&self.weight[start..][..count]);
            }
        }
    }
}

/// Where an output goes.
#[derive(Clone, Copy)]
struct Writing<'a, E> {
    to: Shared<E>,
    /// The output's, which have no padding.
    tiles: Tiles<'a, E>,
    sum: bool,
    bias: Option<&'a [E]>,
}

/// The output, added to `sum` where there is one, or to `bias` in every pixel.
pub(super) fn forward<E: Scalar>(
    geometry: &Geometry,
    x: &[E],
    weight: &[E],
    bias: Option<&[E]>,
    sum: Option<&mut [E]>,
) -> Option<Vec<E>> {
    let Geometry { conv, input, output } = *geometry;
    let kernels = Kernels { weight, rows: conv.inputs, columns: conv.outputs, by_input: true, turned: false };
    convolved(x, [input, output], conv.padding as isize, &kernels, bias, sum)
}

/// The input's gradient, added to `sum` where there is one, or to `bias` in every pixel.
pub(super) fn input_gradient<E: Scalar>(
    geometry: &Geometry,
    dy: &[E],
    weight: &[E],
    bias: Option<&[E]>,
    sum: Option<&mut [E]>,
) -> Option<Vec<E>> {
    let Geometry { conv, input, output } = *geometry;
    let kernels = Kernels { weight, rows: conv.outputs, columns: conv.inputs, by_input: false, turned: true };
    let padding = (KERNEL - 1) as isize - conv.padding as isize;
    convolved(dy, [output, input], padding, &kernels, bias, sum)
}

fn convolved<E: Scalar>(
    x: &[E],
    [from, extent]: [Extent; 2],
    padding: isize,
    kernels: &Kernels<'_, E>,
    bias: Option<&[E]>,
    sum: Option<&mut [E]>,
) -> Option<Vec<E>> {
    if let Some(sum) = sum {
        assert_eq!(sum.len(), extent.elements(), "the images that a convolution is added to");
        // SAFETY: it is borrowed, and initialised.
        unsafe { convolve(x, [from, extent], padding, kernels, Shared::new(sum), true, None) };
        return None;
    }
    // SAFETY: `convolve` writes every pixel.
    Some(unsafe {
        written(extent.elements(), |y| {
            convolve(x, [from, extent], padding, kernels, Shared::fresh(y), false, bias);
        })
    })
}

/// Writes a convolution of `x` to every pixel of `to`, or adds it where `sum` says so.
///
/// # Safety
/// `to` must be valid for the elements of the second extent, which nobody else looks at, and
/// initialised where it is added to.
unsafe fn convolve<E: Scalar>(
    x: &[E],
    [from, extent]: [Extent; 2],
    padding: isize,
    kernels: &Kernels<'_, E>,
    to: Shared<E>,
    sum: bool,
    bias: Option<&[E]>,
) {
    assert_eq!(x.len(), from.elements(), "the input of a convolution");
    assert_eq!(kernels.weight.len(), kernels.rows * kernels.columns * TAPS, "the weight of a convolution");
    let counts = [extent.height.div_ceil(STEP), extent.width.div_ceil(STEP)];
    let tiles = Tiles { from: x, extent: from, padding, counts };
    let writing = Writing { to, tiles: Tiles { from: &[], extent, padding: 0, counts }, sum, bias };
    if tiles.count() * tiles.lanes() <= FEW && kernels.columns >= 2 * PANEL {
        by_panels(&tiles, kernels, &writing);
    } else {
        by_tiles(&tiles, kernels, &writing);
    }
}

/// Multiplies the tiles in the first `count` rows of `tiles`, their channels from `first` on, by the kernels
/// in the first `depth` rows of `kernels`. Adds the product to what `to` holds where `first` is not 0.
///
/// # Safety
/// All these must have been written, what is added to as well, and `to` be this thread's.
unsafe fn multiply<E: Scalar>(
    tiles: &Planes<E>,
    kernels: &Planes<E>,
    [first, depth]: [usize; 2],
    count: usize,
    to: &Planes<E>,
) {
    for plane in 0..PRODUCTS {
        // SAFETY: the caller's.
        unsafe {
            let (a, b) = (tiles.matrix(plane, count, first, depth), kernels.matrix(plane, depth, 0, kernels.columns));
            let target = to.target(plane, count, first > 0);
            if first > 0 { target.add(a, b, Threads::One) } else { target.set(a, b, Threads::One) }
        }
    }
}

/// Chunks of tiles, for one group of output channels after the other.
fn by_tiles<E: Scalar>(tiles: &Tiles<'_, E>, kernels: &Kernels<'_, E>, writing: &Writing<'_, E>) {
    let (count, lanes) = (tiles.count(), tiles.lanes());
    let panels = (PRODUCTS * kernels.rows * kernels.columns).div_ceil(WEIGHTS);
    let panel = kernels.columns.div_ceil(panels).next_multiple_of(LANES);
    let chunk = if lanes <= 32 { LONG_CHUNK } else { CHUNK }.min(count.div_ceil(16).next_multiple_of(LANES));
    let mut transformed = Vec::with_capacity(Planes::<E>::len(kernels.rows, panel));
    let len = Planes::<E>::len(chunk, lanes).next_multiple_of(LANES);
    for first in (0..kernels.columns).step_by(panel) {
        let width = panel.min(kernels.columns - first).next_multiple_of(LANES);
        // SAFETY: rows are written by one item each, and read when all are.
        let u = unsafe { Planes::within(transformed.spare_capacity_mut(), kernels.rows, width) };
        (0..kernels.rows.div_ceil(LANES)).into_par_iter().for_each(|i| {
            transform_kernels(kernels, i * LANES, kernels.rows.min((i + 1) * LANES), first, &u, i * LANES);
        });
        let items = (0..count.div_ceil(chunk)).into_par_iter();
        share(items, len + Planes::<E>::len(chunk, width), |scratch, i| {
            let (start, end) = (i * chunk, count.min((i + 1) * chunk));
            let (v, products) = scratch.split_at_mut(len);
            // SAFETY: both are this item's. What is read has been written: the tiles' rows by the
            // transform, the kernels' above, the products' by `multiply`.
            unsafe {
                let (v, products) = (Planes::within(v, chunk, lanes), Planes::within(products, chunk, width));
                transform_input(tiles, start, end, &v, 0);
                multiply(&v, &u, [0, kernels.rows], end - start, &products);
                transform_products(&products, start, end, writing, first);
            }
        });
    }
}

/// All tiles, for panels of output channels.
fn by_panels<E: Scalar>(tiles: &Tiles<'_, E>, kernels: &Kernels<'_, E>, writing: &Writing<'_, E>) {
    let (count, lanes) = (tiles.count(), tiles.lanes());
    let mut transformed = Vec::with_capacity(Planes::<E>::len(count, lanes));
    // SAFETY: rows are written by one item each, and read when all are.
    let v = unsafe { Planes::within(transformed.spare_capacity_mut(), count, lanes) };
    (0..count.div_ceil(SOME)).into_par_iter().for_each(|i| {
        transform_input(tiles, i * SOME, count.min((i + 1) * SOME), &v, i * SOME);
    });
    let depth = if count <= FEW_TILES { DEPTH } else { kernels.rows }.min(kernels.rows);
    let len = Planes::<E>::len(depth, PANEL).next_multiple_of(LANES);
    let items = (0..kernels.columns.div_ceil(PANEL)).into_par_iter();
    share(items, len + Planes::<E>::len(count, PANEL), |scratch, i| {
        let first = i * PANEL;
        let width = PANEL.min(kernels.columns - first).next_multiple_of(LANES);
        let (u, products) = scratch.split_at_mut(len);
        // SAFETY: both are this item's, and the tiles are not written any more. What is read has been
        // written: the kernels' rows by the transform, the products' by `multiply`.
        unsafe {
            let (u, products) = (Planes::within(u, depth, width), Planes::within(products, count, width));
            for start in (0..kernels.rows).step_by(depth) {
                let end = kernels.rows.min(start + depth);
                transform_kernels(kernels, start, end, first, &u, 0);
                multiply(&v, &u, [start, end - start], count, &products);
            }
            transform_products(&products, 0, count, writing, first);
        }
    });
}

/// Elements of all tiles of both sides up to which they are transformed once and held.
const FEW_OF_BOTH: usize = 80 << 10;

/// Elements of a chunk of tiles of both sides.
const CHUNK_OF_BOTH: usize = 1 << 16;

/// Elements of transformed weights up to which each part of the tiles gets a sum of its own.
const FEW_WEIGHTS: usize = 1 << 16;

/// Tiles that a part transforms at a time.
const CHUNK_OF_PART: usize = 64;

/// What the gradient of a weight is made of: tiles of the input and of the output's gradient.
struct Pairs<'a, E> {
    inputs: Tiles<'a, E>,
    outputs: Tiles<'a, E>,
}

/// Transformed tiles of both.
#[derive(Clone, Copy)]
struct Transformed<E> {
    inputs: Planes<E>,
    outputs: Planes<E>,
}

impl<E: Scalar> Transformed<E> {
    /// Adds the products of the first `tiles` tiles to a plane of `to`, whose rows are the outputs from
    /// `first` on; writes them instead, where `add` does not say so.
    ///
    /// # Safety
    /// The tiles must have been transformed, and the plane be this thread's; written, where it is added
    /// to.
    unsafe fn product(&self, to: &Planes<E>, plane: usize, [output, input]: [usize; 2], tiles: usize, add: bool) {
        // SAFETY: the caller's.
        unsafe {
            let a = self.outputs.matrix(plane, tiles, output, to.rows).transposed();
            let b = self.inputs.matrix(plane, tiles, input, to.columns);
            let target = to.target(plane, to.rows, add);
            if add { target.add(a, b, Threads::One) } else { target.set(a, b, Threads::One) }
        }
    }
}

impl<E: Scalar> Pairs<'_, E> {
    /// Elements of so many transformed pairs.
    fn len(&self, count: usize) -> usize {
        Planes::<E>::len(count, self.inputs.lanes()) + Planes::<E>::len(count, self.outputs.lanes())
    }

    /// Room for so many transformed pairs.
    ///
    /// # Safety
    /// As [`Planes::within`].
    unsafe fn within(&self, scratch: &mut [MaybeUninit<E>], count: usize) -> Transformed<E> {
        let (inputs, outputs) = scratch.split_at_mut(Planes::<E>::len(count, self.inputs.lanes()));
        // SAFETY: the caller's.
        unsafe {
            Transformed {
                inputs: Planes::within(inputs, count, self.inputs.lanes()),
                outputs: Planes::within(outputs, count, self.outputs.lanes()),
            }
        }
    }

    /// Transforms the tiles `first..end` to the rows from `row` on.
    fn transform(&self, first: usize, end: usize, to: &Transformed<E>, row: usize) {
        transform_input(&self.inputs, first, end, &to.inputs, row);
        transform_output_gradient(&self.outputs, first, end, &to.outputs, row);
    }

    /// The same on all threads.
    fn transform_all(&self, first: usize, end: usize, to: &Transformed<E>) {
        (0..(end - first).div_ceil(SOME)).into_par_iter().for_each(|i| {
            self.transform(first + i * SOME, end.min(first + (i + 1) * SOME), to, i * SOME);
        });
    }
}

/// Adds the weight's gradient to `dw`.
pub(super) fn weight_gradient<E: Scalar>(geometry: &Geometry, x: &[E], dy: &[E], dw: &mut [E]) {
    let Geometry { conv, input, output } = *geometry;
    assert_eq!((x.len(), dy.len()), (input.elements(), output.elements()), "images of a convolution");
    assert_eq!(dw.len(), conv.inputs * conv.outputs * TAPS, "the weight's gradient of a convolution");
    let counts = [output.height.div_ceil(STEP), output.width.div_ceil(STEP)];
    let pairs = Pairs {
        inputs: Tiles { from: x, extent: input, padding: conv.padding as isize, counts },
        outputs: Tiles { from: dy, extent: output, padding: 0, counts },
    };
    let (inputs, outputs) = (pairs.inputs.lanes(), pairs.outputs.lanes());
    if pairs.inputs.count() * (inputs + outputs) <= FEW_OF_BOTH {
        weights_by_panels(geometry, &pairs, Shared::new(dw));
    } else if PRODUCTS * conv.outputs * inputs <= FEW_WEIGHTS {
        weights_by_parts(geometry, &pairs, Shared::new(dw));
    } else {
        weights_by_chunks(geometry, &pairs, Shared::new(dw));
    }
}

/// All tiles, for panels of input and output channels, whose sums stay in the second-level cache.
fn weights_by_panels<E: Scalar>(geometry: &Geometry, pairs: &Pairs<'_, E>, dw: Shared<E>) {
    let (inputs, outputs, count) = (geometry.conv.inputs, geometry.conv.outputs, pairs.inputs.count());
    let mut transformed = Vec::with_capacity(pairs.len(count));
    // SAFETY: rows are written by one item each, and read when all are.
    let tiles = unsafe { pairs.within(transformed.spare_capacity_mut(), count) };
    pairs.transform_all(0, count, &tiles);
    let panel = PANEL.min(outputs.div_ceil(2));
    let width = PANEL.min(pairs.inputs.lanes());
    let across = inputs.div_ceil(width);
    let items = (0..outputs.div_ceil(panel) * across).into_par_iter();
    share(items, Planes::<E>::len(panel, width), |scratch, i| {
        let (output, input) = (i / across * panel, i % across * width);
        let (rows, columns) = (panel.min(outputs - output), width.min(pairs.inputs.lanes() - input));
        // SAFETY: it is this item's, and read when the products have written it.
        unsafe {
            let sums = Planes::within(scratch, rows, columns);
            (0..PRODUCTS).for_each(|plane| tiles.product(&sums, plane, [output, input], count, false));
            transform_kernel_gradients(&sums, 0, rows, inputs, dw, output, input);
        }
    });
}

/// A sum for each part of the tiles, then the sum of them.
fn weights_by_parts<E: Scalar>(geometry: &Geometry, pairs: &Pairs<'_, E>, dw: Shared<E>) {
    let (inputs, outputs, count) = (geometry.conv.inputs, geometry.conv.outputs, pairs.inputs.count());
    let (lanes, part) = (pairs.inputs.lanes(), rows_of_part(count));
    let chunk = CHUNK_OF_PART.min(part);
    let len = Planes::<E>::len(outputs, lanes);
    let mut parts = vec![E::zero(); PARTS * len];
    share(parts.par_chunks_exact_mut(len).enumerate(), pairs.len(chunk), |scratch, (i, sums)| {
        let end = count.min((i + 1) * part);
        // SAFETY: both are this item's; the sums are initialised, and the tiles' rows are written before
        // they are read.
        unsafe {
            let (tiles, sums) = (pairs.within(scratch, chunk), Planes::new(Shared::new(sums), outputs, lanes));
            for first in (i * part..end).step_by(chunk) {
                let some = chunk.min(end - first);
                pairs.transform(first, first + some, &tiles, 0);
                (0..PRODUCTS).for_each(|plane| tiles.product(&sums, plane, [0, 0], some, true));
            }
        }
    });
    let (sum, others) = parts.split_at_mut(len);
    add_in_order(sum, others);
    // SAFETY: they are borrowed here, and initialised.
    let sums = unsafe { Planes::new(Shared::new(sum), outputs, lanes) };
    transform_kernel_gradients(&sums, 0, outputs, inputs, dw, 0, 0);
}

/// Chunks of tiles, for one group of output channels after the other.
fn weights_by_chunks<E: Scalar>(geometry: &Geometry, pairs: &Pairs<'_, E>, dw: Shared<E>) {
    let (inputs, outputs, count) = (geometry.conv.inputs, geometry.conv.outputs, pairs.inputs.count());
    let lanes = pairs.inputs.lanes();
    let chunk = (CHUNK_OF_BOTH / (lanes + pairs.outputs.lanes()) / LANES * LANES).clamp(32, 128).min(count);
    let mut transformed = Vec::with_capacity(pairs.len(chunk));
    // SAFETY: rows are written by one item each, and read when all are.
    let tiles = unsafe { pairs.within(transformed.spare_capacity_mut(), chunk) };
    let panel = outputs.div_ceil((PRODUCTS * outputs * lanes).div_ceil(WEIGHTS));
    let mut held = Vec::with_capacity(Planes::<E>::len(panel, lanes));
    for first in (0..outputs).step_by(panel) {
        let rows = panel.min(outputs - first);
        // SAFETY: a plane is written by one item at a time, and read when the products have written it.
        let sums = unsafe { Planes::within(held.spare_capacity_mut(), rows, lanes) };
        for start in (0..count).step_by(chunk) {
            let end = count.min(start + chunk);
            pairs.transform_all(start, end, &tiles);
            (0..PRODUCTS).into_par_iter().for_each(|plane| {
                // SAFETY: the tiles have been transformed, and the plane is this item's, which an earlier
                // chunk has written where it is added to.
                unsafe { tiles.product(&sums, plane, [first, 0], end - start, start > 0) };
            });
        }
        (0..rows.div_ceil(SOME)).into_par_iter().for_each(|i| {
            transform_kernel_gradients(&sums, i * SOME, rows.min((i + 1) * SOME), inputs, dw, first, 0);
        });
    }
}
