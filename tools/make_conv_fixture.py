#!/usr/bin/env python3
"""Makes ckpt-runtime/tests/fixtures/conv_torch.safetensors: small convolutions, and what PyTorch says of them.

    python3 -m venv /tmp/torch && /tmp/torch/bin/pip install torch safetensors numpy
    /tmp/torch/bin/python tools/make_conv_fixture.py

The tests of `ckpt_runtime::nn` compare its layers with the file; nothing but this script needs Python.

Every tensor is f64. A case NAME has
    NAME.x, NAME.y, NAME.d          the input, the output, and the gradient that the output is given
    NAME.grad.x                     the input's gradient
    NAME.PARAM, NAME.grad.PARAM     each parameter, drawn at random, and its gradient
"""
import pathlib

import torch
import torch.nn as nn
from safetensors.torch import save_file

OUT = pathlib.Path(__file__).resolve().parent.parent / "ckpt-runtime" / "tests" / "fixtures" / "conv_torch.safetensors"

torch.manual_seed(0)
torch.set_default_dtype(torch.float64)
tensors = {}


def case(name, layer, *shape):
    """Runs a layer and its backward pass on random images, and stores all of it."""
    with torch.no_grad():
        for p in layer.parameters():
            p.normal_()
    x = torch.randn(shape, requires_grad=True)
    y = layer(x)
    d = torch.randn_like(y)
    y.backward(d)
    tensors.update({f"{name}.x": x, f"{name}.y": y, f"{name}.d": d, f"{name}.grad.x": x.grad})
    for n, p in layer.named_parameters():
        tensors.update({f"{name}.{n}": p, f"{name}.grad.{n}": p.grad})


case("conv2d", nn.Conv2d(3, 4, 3, stride=2, padding=1), 2, 3, 6, 7)
case("dilated", nn.Conv2d(4, 6, 3, padding=2, dilation=2, groups=2), 2, 4, 5, 6)
case("depthwise", nn.Conv2d(5, 5, 3, padding=1, groups=5), 1, 5, 4, 6)
case("pointwise", nn.Conv2d(3, 5, 1), 2, 3, 4, 3)
case("transformed", nn.Conv2d(16, 16, 3, padding=1), 1, 16, 6, 5)
case("unbiased", nn.Conv2d(3, 4, 2, bias=False), 2, 3, 4, 3)
case("transposed", nn.ConvTranspose2d(3, 4, 3, stride=2, padding=1, output_padding=1), 2, 3, 4, 3)
case("transposed_dilated", nn.ConvTranspose2d(4, 6, 2, dilation=2, groups=2), 1, 4, 3, 4)
# More of the output than the convolution reads, by a padding that only the dilation allows.
case("transposed_padded", nn.ConvTranspose2d(2, 3, 3, padding=1, output_padding=1, dilation=2), 2, 2, 4, 3)
case("transposed_unbiased", nn.ConvTranspose2d(4, 2, 2, stride=2, bias=False), 2, 4, 3, 2)

save_file({n: t.detach().contiguous() for n, t in tensors.items()}, OUT)
print(f"{OUT}: {len(tensors)} tensors, {OUT.stat().st_size} bytes")
