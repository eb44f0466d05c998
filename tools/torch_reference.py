#!/usr/bin/env python3
"""PyTorch's side of the comparison: one training step of one model in one mode, as one JSON line.

    LD_PRELOAD=./libpeakmalloc.so python torch_reference.py MODEL MODE [--batch N] [--steps N] [--threads N]

`compare.py` builds the library and runs this beside `benches`, which measures the same shapes:
    gpt         8 pre-norm blocks of width 256, 4 heads, 1024 wide inside, vocabulary 96; 8 sequences of 256
    resnet18    a 3x3 stem without a pool, 10 classes; 32 images of 32x32
    resnet50    a 7x7 stem and a pool, 10 classes; 16 images of 64x64
    unet        levels of 16, 32, 64 and 128 channels, 2 classes; 8 images of 64x64
MODE is plain, checkpoint (every block or level) or, for all but unet, sequential:K (checkpoint_sequential).

A step is forward, loss and backward, without an optimizer; two steps warm up. The line holds
    step_s          median seconds of a step
    peak_bytes      the most heap bytes a step added to what was live before it, parameter gradients included
    params_bytes    bytes of the parameters
and what was measured: system, model, mode, batch, threads.
"""
import argparse
import ctypes
import json
import os
import statistics
import time

import torch
import torch.nn as nn
import torch.nn.functional as F
from torch.utils.checkpoint import checkpoint, checkpoint_sequential

WARM_UP = 2
KNOWN_MODELS = ("gpt", "resnet18", "resnet50", "unet")


class Mode:
    """How a model's regions run."""

    def __init__(self, text):
        kind, _, count = text.partition(":")
        if kind not in ("plain", "checkpoint", "sequential") or (kind == "sequential") != (count.isdigit() and int(count) > 0):
            raise argparse.ArgumentTypeError(f"unknown mode `{text}`; the known ones are plain, checkpoint, sequential:K")
        self.text, self.kind, self.segments = text, kind, int(count or 0)

    def call(self, function, *inputs):
        """One region."""
        return checkpoint(function, *inputs, use_reentrant=False) if self.kind == "checkpoint" else function(*inputs)

    def run(self, layers, x, tail=()):
        """A chain of regions, then what is never a region of its own; PyTorch's segments take both."""
        if self.kind == "sequential":
            return checkpoint_sequential(nn.Sequential(*layers, *tail), self.segments, x, use_reentrant=False)
        for layer in layers:
            x = self.call(layer, x)
        for layer in tail:
            x = layer(x)
        return x


class TransformerBlock(nn.Module):
    """Pre-norm: attention, then two wide layers, each added to its input."""

    def __init__(self, width, heads, inside):
        super().__init__()
        self.heads = heads
        self.norm1, self.norm2 = nn.LayerNorm(width), nn.LayerNorm(width)
        self.into, self.out = nn.Linear(width, 3 * width), nn.Linear(width, width)
        self.ff1, self.ff2 = nn.Linear(width, inside), nn.Linear(inside, width)

    def attend(self, x):
        q, k, v = (part.unflatten(-1, (self.heads, -1)).transpose(1, 2) for part in self.into(x).chunk(3, dim=-1))
        return self.out(F.scaled_dot_product_attention(q, k, v, is_causal=True).transpose(1, 2).flatten(2))

    def forward(self, x):
        x = x + self.attend(self.norm1(x))
        return x + self.ff2(F.gelu(self.ff1(self.norm2(x))))


class Gpt(nn.Module):
    VOCABULARY, SEQUENCE, WIDTH = 96, 256, 256

    def __init__(self):
        super().__init__()
        self.tok = nn.Embedding(self.VOCABULARY, self.WIDTH)
        self.pos = nn.Parameter(torch.zeros(self.SEQUENCE, self.WIDTH))
        self.blocks = nn.ModuleList(TransformerBlock(self.WIDTH, 4, 1024) for _ in range(8))
        self.norm, self.head = nn.LayerNorm(self.WIDTH), nn.Linear(self.WIDTH, self.VOCABULARY)

    def forward(self, tokens, mode):
        return self.head(self.norm(mode.run(self.blocks, self.tok(tokens) + self.pos))).flatten(0, 1)

    def batch(self, size):
        tokens, targets = torch.randint(self.VOCABULARY, (2, size, self.SEQUENCE))
        return tokens, targets.flatten()


def normed(channels, to, kernel, stride=1):
    """A convolution that keeps the size at stride 1, without a bias since batch norm follows."""
    return [nn.Conv2d(channels, to, kernel, stride, kernel // 2, bias=False), nn.BatchNorm2d(to)]


class Residual(nn.Module):
    """relu(f(x) + short(x))."""

    def __init__(self, f, short):
        super().__init__()
        self.f, self.short = nn.Sequential(*f), nn.Sequential(*short)

    def forward(self, x):
        return F.relu(self.f(x) + self.short(x))


def basic(channels, width, stride):
    """Two 3x3 convolutions (He et al. 2016, figure 5 left)."""
    f = [*normed(channels, width, 3, stride), nn.ReLU(), *normed(width, width, 3)]
    return width, Residual(f, normed(channels, width, 1, stride) if stride > 1 or channels != width else [])


def bottleneck(channels, width, stride):
    """1x1, 3x3, 1x1 (figure 5 right), the stride in the 3x3."""
    wide = 4 * width
    layers = [*normed(channels, width, 1), nn.ReLU()], [*normed(width, width, 3, stride), nn.ReLU()], normed(width, wide, 1)
    f = [nn.Sequential(*part) for part in layers]
    return wide, Residual(f, normed(channels, wide, 1, stride) if stride > 1 or channels != wide else [])


class ResNet(nn.Module):
    def __init__(self, stem, block, depths, side):
        super().__init__()
        self.side = side
        layers, channels = [nn.Sequential(*stem)], 64
        for level, depth in enumerate(depths):
            for index in range(depth):
                channels, layer = block(channels, 64 << level, 2 if level > 0 and index == 0 else 1)
                layers.append(layer)
        self.body = nn.ModuleList(layers)
        self.pool, self.head = nn.Sequential(nn.AdaptiveAvgPool2d(1), nn.Flatten()), nn.Linear(channels, 10)

    def forward(self, x, mode):
        return mode.run(self.body, x, tail=[nn.Sequential(self.pool, self.head)])

    def batch(self, size):
        return torch.randn(size, 3, self.side, self.side), torch.randint(10, (size,))


class UNet(nn.Module):
    WIDTHS, SIDE = (16, 32, 64, 128), 64

    def __init__(self):
        super().__init__()

        def level(channels, to):
            return nn.Sequential(*normed(channels, to, 3), nn.ReLU(), *normed(to, to, 3), nn.ReLU())
        widths = self.WIDTHS
        self.down = nn.ModuleList(map(level, (3, *widths[:-1]), widths))
        self.up = nn.ModuleList(level(below + same, same) for same, below in reversed(list(zip(widths, widths[1:]))))
        self.head = nn.Conv2d(widths[0], 2, 1)

    def forward(self, x, mode):
        if mode.kind == "sequential":
            raise SystemExit("unet has no sequential mode: its skips are not a chain")
        skips = []
        for index, level in enumerate(self.down):
            x = mode.call(level, F.max_pool2d(x, 2) if index else x)
            skips.append(x)
        skips.pop()
        for level in self.up:
            def rise(below, skip, level=level):
                return level(torch.cat([F.interpolate(below, scale_factor=2.0), skip], dim=1))
            x = mode.call(rise, x, skips.pop())
        return self.head(x)

    def batch(self, size):
        return torch.randn(size, 3, self.SIDE, self.SIDE), torch.randint(2, (size, self.SIDE, self.SIDE))


def build(name):
    """The model and its usual batch size."""
    if name == "gpt":
        return Gpt(), 8
    if name == "resnet18":
        return ResNet([*normed(3, 64, 3), nn.ReLU()], basic, (2, 2, 2, 2), 32), 32
    if name == "resnet50":
        return ResNet([*normed(3, 64, 7, 2), nn.ReLU(), nn.MaxPool2d(3, 2, 1)], bottleneck, (3, 4, 6, 3), 64), 16
    return UNet(), 8


class Heap:
    """The counters of the preloaded library."""

    def __init__(self):
        self.library = ctypes.CDLL(None)
        if not hasattr(self.library, "peakmalloc_live"):
            raise SystemExit("libpeakmalloc.so is not preloaded; see the head of this file")
        self.library.peakmalloc_live.restype = self.library.peakmalloc_peak.restype = ctypes.c_size_t

    def start(self):
        self.library.peakmalloc_reset()
        self.before = self.library.peakmalloc_live()

    def above(self):
        return self.library.peakmalloc_peak() - self.before


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("model", choices=KNOWN_MODELS)
    parser.add_argument("mode", type=Mode)
    parser.add_argument("--batch", type=int)
    parser.add_argument("--steps", type=int, default=7)
    parser.add_argument("--threads", type=int, default=os.cpu_count())
    args = parser.parse_args()

    heap = Heap()
    torch.manual_seed(0)
    torch.set_num_threads(args.threads)
    model, batch = build(args.model)
    batch = args.batch or batch
    x, targets = model.batch(batch)
    seconds, peaks = [], []
    for _ in range(WARM_UP + args.steps):
        model.zero_grad(set_to_none=True)
        heap.start()
        start = time.perf_counter()
        F.cross_entropy(model(x, args.mode), targets).backward()
        seconds.append(time.perf_counter() - start)
        peaks.append(heap.above())
    print(json.dumps({
        "system": "torch " + torch.__version__.split("+")[0],
        "model": args.model,
        "mode": args.mode.text,
        "batch": batch,
        "threads": args.threads,
        "step_s": round(statistics.median(seconds[WARM_UP:]), 4),
        "peak_bytes": max(peaks[WARM_UP:]),
        "params_bytes": sum(p.numel() * p.element_size() for p in model.parameters()),
    }))


if __name__ == "__main__":
    main()
