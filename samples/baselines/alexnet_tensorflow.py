#!/usr/bin/env python3
"""The AlexNet training step of `cairn bench` in TensorFlow's graph mode: --variant graph or xla."""
import os

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")
os.environ.setdefault("CUDA_VISIBLE_DEVICES", "-1")
import common  # noqa: E402  (its clock starts before the import below)
import tensorflow as tf  # noqa: E402


def main():
    args = common.arguments()
    tensors = common.read_safetensors(args.start)
    images = tf.constant(tensors["images"].transpose(0, 2, 3, 1))  # TensorFlow's CPU kernels want NHWC
    labels = tf.constant(tensors["labels"])
    variables, pooled = {}, None
    for kind, *rest in common.OWT:
        if kind not in ("conv", "linear"):
            continue
        w = tensors[rest[0] + ".weight"]
        if kind == "conv":
            pooled, w = w.shape[0], w.transpose(2, 3, 1, 0)  # OIHW to HWIO
        else:
            if pooled:  # the first linear layer reads what was NCHW: its inputs change places
                side = int((w.shape[1] // pooled) ** 0.5)
                w = w.reshape(w.shape[0], pooled, side, side).transpose(0, 2, 3, 1).reshape(w.shape[0], -1)
                pooled = None
            w = w.T
        variables[rest[0]] = (tf.Variable(w), tf.Variable(tensors[rest[0] + ".bias"]))
    flat = [v for pair in variables.values() for v in pair]
    momenta = [tf.Variable(tf.zeros_like(v)) for v in flat]

    def forward(x):
        for kind, *rest in common.OWT:
            if kind == "conv":
                w, b = variables[rest[0]]
                pad = rest[1]["pad"]
                x = tf.nn.conv2d(x, w, rest[1]["stride"], [[0, 0], [pad, pad], [pad, pad], [0, 0]])
                x = tf.nn.relu(tf.nn.bias_add(x, b))
            elif kind == "pool":
                x = tf.nn.max_pool2d(x, 3, 2, "VALID")
            elif kind == "flatten":
                x = tf.reshape(x, [x.shape[0], -1])
            else:
                w, b = variables[rest[0]]
                x = tf.matmul(x, w) + b
                x = tf.nn.relu(x) if rest[1]["relu"] else x
        return x

    @tf.function(jit_compile=args.variant == "xla")
    def step():
        with tf.GradientTape() as tape:
            loss = tf.reduce_mean(tf.nn.sparse_softmax_cross_entropy_with_logits(labels, forward(images)))
        for i, (v, g, m) in enumerate(zip(flat, tape.gradient(loss, flat), momenta)):
            if i % 2 == 0:
                g = g + common.WEIGHT_DECAY * v
            m.assign(common.MOMENTUM * m + g)
            v.assign_sub(common.LEARNING_RATE * m)
        return loss

    common.measure("TensorFlow %s %s" % (tf.__version__, args.variant), step, int(labels.shape[0]), args)


if __name__ == "__main__":
    main()
