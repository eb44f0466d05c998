#!/usr/bin/env python3
"""Measures models here and in PyTorch in turn, with one instrument, and prints both and the ratios as a table.

    cargo build --release -p benches
    python3 -m venv /tmp/torch && /tmp/torch/bin/pip install torch numpy
    tools/compare.py --torch-python /tmp/torch/bin/python [--only resnet18] [--only gpt/plain] [--runs 7]

Each run is a process of its own with libpeakmalloc.so preloaded, which is built from peakmalloc.c with the C compiler
`cc`. In each round every (model, mode) runs on both sides, one straight after the other, and the side that goes first
changes with the round, so that a machine that changes its speed changes it for both. A cell's figures are medians over
the rounds. Progress goes to stderr, the table to stdout, and with --json FILE every run's own line to FILE.
"""
import argparse
import json
import os
import pathlib
import statistics
import subprocess
import sys
import tempfile

TOOLS = pathlib.Path(__file__).resolve().parent
ROOT = TOOLS.parent
SIDES = ("ckpt", "torch")
CELLS = [(model, mode) for model, modes in {
    "gpt": ("plain", "checkpoint", "sequential:3"),
    "resnet18": ("plain", "checkpoint", "sequential:3"),
    "resnet50": ("plain", "checkpoint", "sequential:4"),
    "unet": ("plain", "checkpoint"),
}.items() for mode in modes]


def positive(text):
    if not text.isdigit() or int(text) == 0:
        raise argparse.ArgumentTypeError(f"takes a number of 1 or more, not `{text}`")
    return int(text)


def arguments():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--torch-python", type=pathlib.Path, help="the Python of an environment with PyTorch; "
                        "without it only ckpt is measured")
    parser.add_argument("--benches", type=pathlib.Path, default=ROOT / "target/release/benches",
                        help="the binary of this project (%(default)s)")
    parser.add_argument("--peakmalloc", type=pathlib.Path, default=TOOLS / "peakmalloc.c",
                        help="the instrument: its C source, or a library that is built already (%(default)s)")
    parser.add_argument("--only", action="append", default=[], metavar="MODEL[/MODE]",
                        help="measure these alone; may be given several times")
    parser.add_argument("--runs", type=positive, default=7, help="rounds (%(default)s)")
    parser.add_argument("--steps", type=positive, default=7, help="counted steps a run (%(default)s)")
    parser.add_argument("--threads", type=positive, default=os.cpu_count(), help="of each side (%(default)s)")
    parser.add_argument("--json", type=pathlib.Path, metavar="FILE", help="keep every run's line")
    return parser.parse_args()


def chosen(only):
    """The cells that --only names, in the usual order; a mode that is not usual is taken as it is."""
    if not only:
        return CELLS
    cells = []
    for word in only:
        model, _, mode = word.partition("/")
        usual = [cell for cell in CELLS if cell[0] == model]
        if not usual:
            raise SystemExit(f"unknown model `{model}`; the known ones are {', '.join(dict(CELLS))}")
        cells += [(model, mode)] if mode else usual
    return cells


def library(source, folder):
    """The instrument as a shared library."""
    if not source.is_file():
        raise SystemExit(f"there is no {source}")
    if source.suffix != ".c":
        return source.resolve()
    built = pathlib.Path(folder) / "libpeakmalloc.so"
    try:
        subprocess.run(["cc", "-O2", "-shared", "-fPIC", "-o", built, source], check=True)
    except FileNotFoundError:
        raise SystemExit("there is no C compiler `cc`; --peakmalloc takes a built library too") from None
    except subprocess.CalledProcessError:
        raise SystemExit(f"{source} does not compile") from None
    return built


def run(command, preload):
    """The JSON line that a command prints last, and the peak by the preloaded instrument."""
    done = subprocess.run(command, env={**os.environ, "LD_PRELOAD": str(preload)}, capture_output=True, text=True)
    words = " ".join(map(str, command))
    if done.returncode != 0:
        raise SystemExit(f"`{words}` failed with {done.returncode}:\n{done.stderr.strip()[-2000:]}")
    try:
        report = json.loads(done.stdout.strip().splitlines()[-1])
    except (IndexError, json.JSONDecodeError):
        raise SystemExit(f"`{words}` printed no JSON line last:\n{done.stdout[-2000:]}") from None
    report["peak"] = report.get("peak_bytes_peakmalloc", report["peak_bytes"])
    return report


def commands(args, model, mode):
    options = [model, mode, "--steps", str(args.steps), "--threads", str(args.threads)]
    sides = {"ckpt": [args.benches, *options]}
    if args.torch_python:
        sides["torch"] = [args.torch_python, TOOLS / "torch_reference.py", *options]
    return sides


def seconds(value):
    return f"{value:.3f} s" if value >= 0.1 else f"{value * 1e3:.1f} ms"


def spread(reports):
    times = [r["step_s"] for r in reports]
    return f"{seconds(min(times))} to {seconds(max(times))}"


def row(model, mode, by_side):
    """One line of the table: medians of both sides and ours over theirs."""
    median = {side: {key: statistics.median(r[key] for r in reports) for key in ("step_s", "peak")}
              for side, reports in by_side.items()}
    ours, theirs = median["ckpt"], median.get("torch")
    cells = [model, mode, f"{ours['peak'] / 1e6:.1f} MB"]
    cells += [f"{theirs['peak'] / 1e6:.1f} MB", f"{ours['peak'] / theirs['peak']:.2f}"] if theirs else ["", ""]
    cells += [seconds(ours["step_s"])]
    cells += [seconds(theirs["step_s"]), f"{ours['step_s'] / theirs['step_s']:.2f}"] if theirs else ["", ""]
    cells += [spread(by_side["ckpt"]), spread(by_side["torch"]) if theirs else ""]
    return "| " + " | ".join(cells) + " |"


def table(results):
    head = ["model", "mode", "peak, ckpt", "peak, PyTorch", "ratio", "step, ckpt", "step, PyTorch", "ratio",
            "ckpt's runs", "PyTorch's runs"]
    lines = ["| " + " | ".join(head) + " |", "|" + "---|" * len(head)]
    return "\n".join(lines + [row(model, mode, by_side) for (model, mode), by_side in results.items()])


def disagreements(results):
    """The models whose modes do not give the same loss and gradients to the bit, in words."""
    seen = {}
    for (model, mode), by_side in results.items():
        for report in by_side["ckpt"]:
            seen.setdefault(model, {}).setdefault((report["loss"], report["grad_hash"]), set()).add(mode)
    return [f"{model}: " + "; ".join(f"{', '.join(sorted(modes))} gave loss {loss} and gradients {gradients}"
                                     for (loss, gradients), modes in kinds.items())
            for model, kinds in seen.items() if len(kinds) > 1]


def main():
    args = arguments()
    cells = chosen(args.only)
    if not args.benches.is_file():
        raise SystemExit(f"there is no {args.benches}: run `cargo build --release -p benches`")
    if args.torch_python and not args.torch_python.is_file():
        raise SystemExit(f"there is no {args.torch_python}")
    results = {cell: {} for cell in cells}
    lines = []
    with tempfile.TemporaryDirectory() as folder:
        preload = library(args.peakmalloc, folder)
        for round_ in range(args.runs):
            for model, mode in results:
                sides = commands(args, model, mode)
                for side in SIDES if round_ % 2 == 0 else reversed(SIDES):
                    if side in sides:
                        report = run(sides[side], preload)
                        results[model, mode].setdefault(side, []).append(report)
                        lines.append(json.dumps({"round": round_ + 1, "side": side, **report}))
                        print(f"round {round_ + 1}/{args.runs}  {model} {mode} {side}: {seconds(report['step_s'])}, "
                              f"{report['peak'] / 1e6:.1f} MB", file=sys.stderr)
    if args.json:
        args.json.write_text("\n".join(lines) + "\n")
    print(table(results))
    wrong = disagreements(results)
    for line in wrong:
        print(f"modes differ in {line}", file=sys.stderr)
    sys.exit(1 if wrong else 0)


if __name__ == "__main__":
    main()
