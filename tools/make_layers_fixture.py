#!/usr/bin/env python3
"""Makes ckpt-runtime/tests/fixtures/layers_torch.safetensors: small layers, and what PyTorch says of them.

    python3 -m venv /tmp/torch && /tmp/torch/bin/pip install torch safetensors numpy
    /tmp/torch/bin/python tools/make_layers_fixture.py

The tests of `ckpt_runtime::nn` compare its layers with the file; nothing but this script needs Python.

Every tensor is f64. A case NAME has
    NAME.x, NAME.y, NAME.d          the input, the output, and the gradient that the output is given
    NAME.grad.x                     the input's gradient
    NAME.PARAM, NAME.grad.PARAM     each parameter, drawn at random, and its gradient
and beside these `cross_entropy.targets` and `embedding.x` (i64), `attention.memory` with its gradient, and
`attention.padding` (u8, 1 for what is not seen).
"""
import pathlib

import torch
import torch.nn as nn
import torch.nn.functional as F
from safetensors.torch import save_file

OUT = pathlib.Path(__file__).resolve().parent.parent / "ckpt-runtime" / "tests" / "fixtures" / "layers_torch.safetensors"

torch.manual_seed(0)
torch.set_default_dtype(torch.float64)
tensors = {}


def case(name, layer, *inputs, names=("x",), call=None, keep_output=True):
    """Runs a layer and its backward pass, and stores all of it."""
    with torch.no_grad():
        for p in layer.parameters():
            p.normal_()
    floats = [i.requires_grad_() if i.is_floating_point() else i for i in inputs]
    y = call(layer, *floats) if call else layer(*floats)
    d = torch.randn_like(y)
    y.backward(d)
    tensors.update({f"{name}.y": y.detach(), f"{name}.d": d})
    for n, i in zip(names, floats):
        tensors[f"{name}.{n}"] = i.detach()
        if i.is_floating_point():
            tensors[f"{name}.grad.{n}"] = i.grad
    for n, p in layer.named_parameters():
        tensors[f"{name}.{n}"] = p.detach()
        tensors[f"{name}.grad.{n}"] = p.grad


class Attend(nn.MultiheadAttention):
    def __init__(self):
        super().__init__(8, 2, batch_first=True)

    def forward(self, x, memory=None, padding=None, causal=False):
        memory = x if memory is None else memory
        mask = torch.triu(torch.ones(x.shape[1], memory.shape[1], dtype=torch.bool), 1) if causal else None
        return super().forward(x, memory, memory, key_padding_mask=padding, attn_mask=mask, need_weights=False)[0]


case("linear", nn.Linear(5, 3), torch.randn(2, 4, 5))
for name, act in [("gelu", nn.GELU()), ("relu", nn.ReLU()), ("silu", nn.SiLU())]:
    case(name, act, 2 * torch.randn(3, 7))
    case(f"linear_{name}", nn.Sequential(nn.Linear(5, 3), act), torch.randn(4, 5))
    case(f"{name}_linear", nn.Sequential(act, nn.Linear(5, 3)), torch.randn(4, 5))
case("layer_norm", nn.LayerNorm(6), torch.randn(4, 6))
case("rms_norm", nn.RMSNorm(6, eps=1e-6), torch.randn(4, 6))
case("embedding", nn.Embedding(7, 4), torch.randint(0, 7, (2, 5)))
case("self_attention", Attend(), torch.randn(2, 5, 8))
case("causal_attention", Attend(), torch.randn(2, 5, 8), call=lambda layer, x: layer(x, causal=True))
padding = torch.tensor([[0, 0, 1], [0, 1, 0]], dtype=torch.bool)
case("cross_attention", Attend(), torch.randn(2, 5, 8), torch.randn(2, 3, 8), names=("x", "memory"),
     call=lambda layer, x, m: layer(x, m, padding))
tensors["cross_attention.padding"] = padding.to(torch.uint8)

logits, targets = torch.randn(2, 3, 6).requires_grad_(), torch.randint(0, 6, (2, 3))
loss = F.cross_entropy(logits.view(-1, 6), targets.view(-1))
loss.backward()
tensors.update({"cross_entropy.x": logits.detach(), "cross_entropy.targets": targets, "cross_entropy.y": loss.detach(),
                "cross_entropy.grad.x": logits.grad})

OUT.parent.mkdir(parents=True, exist_ok=True)
save_file({n: t.contiguous() for n, t in tensors.items()}, OUT)
print(f"{OUT}: {len(tensors)} tensors, {OUT.stat().st_size} bytes")
