//! Where a convolution reads and writes.

use super::Convolution;
use crate::kernels::Extent;

/// A convolution between two batches of images.
///
/// The extents are given both: what a transposed convolution makes may be larger than what its
/// convolution reads (PyTorch's `output_padding`), and a stride may leave rows unread.
#[derive(Clone, Copy, Debug)]
pub(super) struct Geometry {
    pub(super) conv: Convolution,
    pub(super) input: Extent,
    pub(super) output: Extent,
}

/// Positions along one axis of a grid, and what each of them reads along that axis of the images:
/// `position * step + offset` for every offset, where that is inside.
#[derive(Clone, Debug)]
pub(super) struct Axis {
    /// Positions.
    pub(super) positions: usize,
    pub(super) step: usize,
    /// Each tap's place along the kernel's axis, and its offset.
    pub(super) taps: Vec<(usize, isize)>,
}

impl Geometry {
    /// # Panics
    /// Where the channels are not the convolution's.
    pub(super) fn new(conv: Convolution, input: Extent, output: Extent) -> Self {
        assert_eq!((conv.inputs, conv.outputs), (input.channels, output.channels), "channels of a convolution");
        assert_eq!(input.images, output.images, "images of a convolution");
        let groups = conv.groups;
        assert!(conv.inputs.is_multiple_of(groups) && conv.outputs.is_multiple_of(groups), "groups of a convolution");
        Self { conv, input, output }
    }

    /// Weights an input and output channel have between them.
    pub(super) fn taps(&self) -> usize {
        self.conv.kernel * self.conv.kernel
    }

    /// Input channels of a group.
    pub(super) fn group_inputs(&self) -> usize {
        self.conv.inputs / self.conv.groups
    }

    /// Output channels of a group.
    pub(super) fn group_outputs(&self) -> usize {
        self.conv.outputs / self.conv.groups
    }

    /// What an output pixel reads of the input's, along the axis of these lengths.
    fn reading(&self, outputs: usize) -> Axis {
        let Convolution { kernel, stride, padding, dilation, .. } = self.conv;
        let taps = (0..kernel).map(|k| (k, (k * dilation) as isize - padding as isize)).collect();
        Axis { positions: outputs, step: stride, taps }
    }

    /// What the output's pixels read, along both axes.
    pub(super) fn forward(&self) -> [Axis; 2] {
        [self.reading(self.output.height), self.reading(self.output.width)]
    }

    /// Which output pixels read the input pixels `phase`, `phase + stride`, .. along an axis of
    /// `inputs`: all of them are read by the same taps. The offsets rise.
    pub(super) fn backward(&self, phase: usize, inputs: usize) -> Axis {
        let Convolution { kernel, stride, padding, dilation, .. } = self.conv;
        let taps = (0..kernel).rev().filter_map(|k| {
            let distance = (phase + padding) as isize - (k * dilation) as isize;
            (distance % stride as isize == 0).then(|| (k, distance / stride as isize))
        });
        Axis { positions: inputs.saturating_sub(phase).div_ceil(stride), step: 1, taps: taps.collect() }
    }

    /// The output pixel, one of `outputs` along an axis, that reads the input pixel `at` by a tap.
    #[inline(always)]
    pub(super) fn reader(&self, at: usize, tap: usize, outputs: usize) -> Option<usize> {
        let distance = (at + self.conv.padding).checked_sub(tap * self.conv.dilation)?;
        let reader = distance / self.conv.stride;
        (distance.is_multiple_of(self.conv.stride) && reader < outputs).then_some(reader)
    }
}

impl Axis {
    /// The taps of one place along the kernel's axis only.
    pub(super) fn only(&self, place: usize) -> Self {
        let taps = self.taps.iter().copied().filter(|(k, _)| *k == place).collect();
        Self { taps, ..*self }
    }

    /// What a position reads through a tap's offset, where that is one of `length`.
    #[inline(always)]
    pub(super) fn read(&self, position: usize, offset: isize, length: usize) -> Option<usize> {
        let at = (position * self.step) as isize + offset;
        (at >= 0 && at < length as isize).then_some(at as usize)
    }

    /// Whether the taps read neighbours, in order.
    pub(super) fn adjoins(&self) -> bool {
        self.taps.windows(2).all(|pair| pair[1].1 == pair[0].1 + 1)
    }
}
