#!/usr/bin/env python3
"""Makes ckpt-runtime/tests/fixtures/images_torch.safetensors: small image layers, and what PyTorch says of them.

    python3 -m venv /tmp/torch && /tmp/torch/bin/pip install torch safetensors numpy
    /tmp/torch/bin/python tools/make_images_fixture.py

The tests of `ckpt_runtime::nn` compare its layers with the file; nothing but this script needs Python.

Every tensor is f64. A case NAME has
    NAME.x, NAME.y, NAME.d          the input, the output, and the gradient that the output is given
    NAME.grad.x                     the input's gradient
    NAME.PARAM, NAME.grad.PARAM     each parameter, drawn at random, and its gradient
    NAME.BUFFER, NAME.after.BUFFER  each running statistic, drawn at random, and what training made of it
and a case of two inputs NAME.a and NAME.b in place of NAME.x. `inferred.y` is the output of batch norm in inference,
with the tensors of `inferred`.
"""
import pathlib

import torch
import torch.nn as nn
import torch.nn.functional as F
from safetensors.torch import save_file

OUT = pathlib.Path(__file__).resolve().parent.parent / "ckpt-runtime" / "tests" / "fixtures" / "images_torch.safetensors"

torch.manual_seed(0)
torch.set_default_dtype(torch.float64)
tensors = {}


def draw(layer):
    with torch.no_grad():
        for n, t in [*layer.named_parameters(), *layer.named_buffers()]:
            if t.is_floating_point():
                t.normal_()
                if n.endswith("running_var"):
                    t.abs_()


def case(name, call, *inputs, names=("x",)):
    """Runs a layer and its backward pass, and stores all of it."""
    layer = call if isinstance(call, nn.Module) else nn.Identity()
    draw(layer)
    buffers = [(n, b) for n, b in layer.named_buffers() if b.is_floating_point()]
    tensors.update({f"{name}.{n}": b.clone() for n, b in buffers})
    inputs = [i.requires_grad_() for i in inputs]
    y = call(*inputs)
    d = torch.randn_like(y)
    y.backward(d)
    tensors.update({f"{name}.y": y.detach(), f"{name}.d": d})
    tensors.update({f"{name}.after.{n}": b for n, b in buffers})
    for n, i in [*zip(names, inputs), *layer.named_parameters()]:
        tensors.update({f"{name}.{n}": i.detach(), f"{name}.grad.{n}": i.grad})


def images(*shape):
    return torch.randn(2, *shape)


case("batch_norm", nn.BatchNorm2d(3), images(3, 4, 5) + 1)
for act in [nn.GELU, nn.ReLU, nn.SiLU]:
    case(f"batch_norm_{act.__name__.lower()}", nn.Sequential(nn.BatchNorm2d(3), act()), images(3, 4, 5))
case("group_norm", nn.GroupNorm(2, 6), images(6, 3, 4) + 1)
case("max_pool", nn.MaxPool2d(2), images(3, 5, 4))
# Small whole numbers, so that many are equal.
case("max_pool_padded", nn.MaxPool2d(3, 2, 1), images(3, 5, 6).round())
case("max_pool_dilated", nn.MaxPool2d(3, 1, 1, dilation=2), images(3, 5, 6).round())
case("avg_pool", nn.AvgPool2d(2), images(3, 5, 4))
case("avg_pool_padded", nn.AvgPool2d(3, 2, 1), images(3, 5, 6))
case("global_avg_pool", nn.Sequential(nn.AdaptiveAvgPool2d(1), nn.Flatten()), images(3, 4, 5))
for scale in [2, 3]:
    case(f"nearest_{scale}", nn.Upsample(scale_factor=scale), images(2, 3, 4))
    case(f"bilinear_{scale}", nn.Upsample(scale_factor=scale, mode="bilinear"), images(2, 3, 4))
case("concat", lambda a, b: torch.cat((a, b), 1), images(2, 3, 4), images(3, 3, 4), names=("a", "b"))
case("upsample_concat", lambda a, b: torch.cat((F.interpolate(a, scale_factor=2), b), 1), images(2, 2, 3), images(3, 4, 6),
     names=("a", "b"))

norm, x = nn.BatchNorm2d(3).eval(), images(3, 4, 5)
draw(norm)
tensors.update({"inferred.x": x, "inferred.y": norm(x).detach()})
tensors.update({f"inferred.{n}": t for n, t in norm.state_dict().items() if t.is_floating_point()})

OUT.parent.mkdir(parents=True, exist_ok=True)
save_file({n: t.detach().clone().contiguous() for n, t in tensors.items()}, OUT)
print(f"{OUT}: {len(tensors)} tensors, {OUT.stat().st_size} bytes")
