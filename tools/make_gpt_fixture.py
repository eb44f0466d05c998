#!/usr/bin/env python3
"""Makes tests/fixtures/gpt_torch.safetensors: a small GPT, one batch, and what PyTorch says of them.

    python3 -m venv /tmp/torch && /tmp/torch/bin/pip install torch safetensors numpy
    /tmp/torch/bin/python tools/make_gpt_fixture.py

The tests compare this project's GPT with the file; nothing but this script needs Python.

The architecture is that of the measured comparison (pre-norm blocks, causal attention, learned positions, exact GELU,
untied head) at toy sizes. Every tensor is drawn at random, norms and biases included, so that no term vanishes. Values
are drawn in f32 and stored as f64: an f32 model can load them exactly. Loss, logits and gradients are computed in f64.

Tensors (f64 unless said), named as PyTorch names them and as `models::gpt` does:
    tok.weight, pos.weight, blocks.I.{norm1,norm2,ff.linear1,ff.linear2}.{weight,bias}, norm.*, head.*    the parameters
    blocks.I.attn.{in_proj_weight,in_proj_bias,out_proj.weight,out_proj.bias}
    tokens, targets       i64 [batch, seq]
    logits                [batch, seq, vocab]
    loss                  [], mean cross entropy over batch and positions
    grad.NAME             the gradient of the loss by each parameter
"""
import argparse
import pathlib

import torch
import torch.nn as nn
import torch.nn.functional as F
from safetensors.torch import save_file

LAYERS, D_MODEL, HEADS, FF, VOCAB, SEQ, BATCH = 2, 16, 2, 32, 11, 8, 2
OUT = pathlib.Path(__file__).resolve().parent.parent / "tests" / "fixtures" / "gpt_torch.safetensors"


class FeedForward(nn.Module):
    def __init__(self):
        super().__init__()
        self.linear1, self.linear2 = nn.Linear(D_MODEL, FF), nn.Linear(FF, D_MODEL)

    def forward(self, x):
        return self.linear2(F.gelu(self.linear1(x)))


class Block(nn.Module):
    def __init__(self):
        super().__init__()
        self.norm1, self.norm2 = (nn.LayerNorm(D_MODEL) for _ in range(2))
        self.attn = nn.MultiheadAttention(D_MODEL, HEADS, batch_first=True)
        self.ff = FeedForward()

    def forward(self, x):
        h = self.norm1(x)
        later = nn.Transformer.generate_square_subsequent_mask(SEQ, dtype=x.dtype)
        x = x + self.attn(h, h, h, attn_mask=later, is_causal=True, need_weights=False)[0]
        return x + self.ff(self.norm2(x))


class Gpt(nn.Module):
    def __init__(self):
        super().__init__()
        self.tok, self.pos = nn.Embedding(VOCAB, D_MODEL), nn.Embedding(SEQ, D_MODEL)
        self.blocks = nn.Sequential(*[Block() for _ in range(LAYERS)])
        self.norm = nn.LayerNorm(D_MODEL)
        self.head = nn.Linear(D_MODEL, VOCAB)

    def forward(self, tokens):
        return self.head(self.norm(self.blocks(self.tok(tokens) + self.pos.weight)))


def randomize(model):
    """Weights of a trained network's size: a fan-in scale, and norms near but not at one."""
    with torch.no_grad():
        for name, p in model.named_parameters():
            noise = torch.randn(p.shape, dtype=torch.float32)
            if p.dim() == 1 and name.endswith("weight"):
                value = 1 + 0.3 * noise
            elif p.dim() == 1:
                value = 0.3 * noise
            elif name in ("tok.weight", "pos.weight"):
                value = noise
            else:
                value = noise / p.shape[1] ** 0.5
            p.copy_(value)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--out", type=pathlib.Path, default=OUT)
    args = parser.parse_args()

    torch.manual_seed(20240607)
    model = Gpt().double()
    randomize(model)
    tokens = torch.randint(0, VOCAB, (BATCH, SEQ))
    targets = torch.randint(0, VOCAB, (BATCH, SEQ))
    logits = model(tokens)
    loss = F.cross_entropy(logits.view(-1, VOCAB), targets.view(-1))
    loss.backward()

    tensors = {"tokens": tokens, "targets": targets, "logits": logits, "loss": loss}
    for name, p in model.named_parameters():
        tensors[name] = p
        tensors[f"grad.{name}"] = p.grad
    args.out.parent.mkdir(parents=True, exist_ok=True)
    save_file({k: t.detach().contiguous() for k, t in tensors.items()}, args.out, metadata={"torch": torch.__version__.split("+")[0]})
    print(f"{args.out}: {len(tensors)} tensors, loss {loss.item()}")


if __name__ == "__main__":
    main()
