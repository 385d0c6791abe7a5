"""What the baselines share: the dumped start of a Cairn bench, the net's table, and timing that prints one JSON line.

`cairn bench --dump FOLDER` writes start.safetensors: the initial weights under Cairn's names, the batch ("images", NCHW float32, and
"labels", int32). A baseline starts from the same numbers, so its first losses can be compared with Cairn's before any time is.
"""
import argparse
import json
import resource
import struct
import time

import numpy as np

PROCESS_START = time.perf_counter()
LEARNING_RATE, MOMENTUM, WEIGHT_DECAY = 1e-3, 0.9, 5e-4  # of cairn bench; biases are not decayed

# AlexNet as in 'One weird trick' (torchvision's alexnet), dropout off: kind, weight name, arguments
OWT = [
    ("conv", "features.0", dict(stride=4, pad=2)), ("pool",),
    ("conv", "features.3", dict(stride=1, pad=2)), ("pool",),
    ("conv", "features.6", dict(stride=1, pad=1)),
    ("conv", "features.8", dict(stride=1, pad=1)),
    ("conv", "features.10", dict(stride=1, pad=1)), ("pool",),
    ("flatten",),
    ("linear", "classifier.1", dict(relu=True)),
    ("linear", "classifier.4", dict(relu=True)),
    ("linear", "classifier.6", dict(relu=False)),
]


def arguments():
    p = argparse.ArgumentParser()
    p.add_argument("--start", required=True, help="start.safetensors of cairn bench --dump")
    p.add_argument("--steps", type=int, default=5)
    p.add_argument("--warmup", type=int, default=2)
    p.add_argument("--variant", required=True)
    return p.parse_args()


def read_safetensors(path):
    """Tensors by name, as NumPy arrays (float32 and int32 only)."""
    with open(path, "rb") as f:
        size, = struct.unpack("<Q", f.read(8))
        header = json.loads(f.read(size))
        data = f.read()
    types = {"F32": np.float32, "I32": np.int32}
    tensors = {}
    for name, entry in header.items():
        if name != "__metadata__":
            begin, end = entry["data_offsets"]
            tensors[name] = np.frombuffer(data[begin:end], types[entry["dtype"]]).reshape(entry["shape"]).copy()
    return tensors


def measure(name, step, batch, args):
    """Runs step() -> loss; prints the losses of the first updates, the median time and the memory as JSON."""
    losses, first = [], None
    for _ in range(max(args.warmup, 3)):
        losses.append(float(step()))
        first = first or time.perf_counter() - PROCESS_START
    times = []
    for _ in range(args.steps):
        begin = time.perf_counter()
        float(step())
        times.append((time.perf_counter() - begin) * 1e3)
    ms = float(np.median(times))
    print(json.dumps({"name": name, "ms": ms, "images_per_second": batch / ms * 1e3, "losses": losses[:3],
                      "first_update_seconds": first,
                      "resident_mb": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024 / 1e6}))
