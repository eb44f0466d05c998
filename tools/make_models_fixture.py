#!/usr/bin/env python3
"""Makes tests/fixtures/{resnet18,resnet50,unet}_torch.txt: what PyTorch says of the image models.

    python3 -m venv /tmp/torch && /tmp/torch/bin/pip install torch numpy
    /tmp/torch/bin/python tools/make_models_fixture.py

The tests compare this project's models with the files; nothing but this script needs Python.

The models are those of `torch_reference.py` at their full widths, in f64 and training mode, on small images. Millions of
weights and gradients would make large files. So weights and images are not stored but made, there as here, by one
formula from a tensor's name and an element's index, and of a gradient its length and its product with a vector of that
formula are stored. A file's lines are
    output V V ..              the logits, row-major
    loss V                     mean cross-entropy
    gradient NAME LENGTH PRODUCT
    buffer NAME LENGTH PRODUCT of a running statistic after the step
with the names of `models::resnet` and `models::unet`.
"""
import pathlib
import re

import numpy
import torch
import torch.nn.functional as F

from torch_reference import Mode, build

OUT = pathlib.Path(__file__).resolve().parent.parent / "tests" / "fixtures"
# Images, their height and width.
SHAPES = {"resnet18": (2, 12, 12), "resnet50": (2, 40, 40), "unet": (2, 16, 24)}
UNET_NAMES = {"down.0": "down1", "down.1": "down2", "down.2": "down3", "down.3": "bottom",
              "up.0": "up3", "up.1": "up2", "up.2": "up1"}


def noise(name, count):
    """`count` numbers in [-1, 1) that depend on the name: SplitMix64 from the name's FNV-1a hash on."""
    seed = 0xCBF29CE484222325
    for byte in name.encode():
        seed = (seed ^ byte) * 0x100000001B3 % 2**64
    with numpy.errstate(over="ignore"):
        z = numpy.uint64(seed) + numpy.arange(1, count + 1, dtype=numpy.uint64) * numpy.uint64(0x9E3779B97F4A7C15)
        z = (z ^ (z >> numpy.uint64(30))) * numpy.uint64(0xBF58476D1CE4E5B9)
        z = (z ^ (z >> numpy.uint64(27))) * numpy.uint64(0x94D049BB133111EB)
        z = z ^ (z >> numpy.uint64(31))
    return (z >> numpy.uint64(11)).astype(numpy.float64) / 2**52 - 1


def tensor(name, like, offset, scale):
    return torch.from_numpy(offset + scale * noise(name, like.numel())).view(like.shape)


def made(name, like):
    """The value of a parameter or a running statistic."""
    if name.endswith("running_var") or (name.endswith("weight") and like.dim() == 1):
        return tensor(name, like, 1.0, 0.3)
    if like.dim() == 1:
        return tensor(name, like, 0.0, 0.2)
    return tensor(name, like, 0.0, (3 / like[0].numel()) ** 0.5)


def our_name(model, name):
    if model == "unet":
        return re.sub(r"^(down|up)\.\d", lambda found: UNET_NAMES[found.group()], name)
    return name


def probe(name, values):
    values = values.detach().flatten()
    product = values @ torch.from_numpy(noise(f"probe.{name}", values.numel()))
    return f"{name} {values.norm().item()!r} {product.item()!r}"


def write(name):
    count, height, width = SHAPES[name]
    torch.set_default_dtype(torch.float64)
    model, _ = build(name)
    with torch.no_grad():
        for own, value in model.state_dict().items():
            if value.is_floating_point():
                value.copy_(made(our_name(name, own), value))
    x = tensor("x", torch.empty(count, 3, height, width), 0.0, 1.7)
    output = model(x, Mode("plain"))
    # Classes that follow no pattern of the image's.
    classes = output.shape[1]
    targets = torch.arange(output.numel() // classes) * 7 % classes
    loss = F.cross_entropy(output.movedim(1, -1).reshape(-1, classes), targets)
    loss.backward()

    lines = ["output " + " ".join(repr(v) for v in output.flatten().tolist()), f"loss {loss.item()!r}"]
    lines += [f"gradient {probe(our_name(name, own), p.grad)}" for own, p in model.named_parameters()]
    lines += [f"buffer {probe(our_name(name, own), b)}" for own, b in model.named_buffers() if b.is_floating_point()]
    (OUT / f"{name}_torch.txt").write_text("\n".join(lines) + "\n")


if __name__ == "__main__":
    for name in SHAPES:
        write(name)
