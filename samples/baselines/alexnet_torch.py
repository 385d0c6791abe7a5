#!/usr/bin/env python3
"""The AlexNet training step of `cairn bench` in PyTorch: --variant contiguous, channels_last or compile."""
import common
import torch
import torch.nn as nn
import torch.nn.functional as F


class AlexNet(nn.Module):
    def __init__(self, tensors):
        super().__init__()
        self.layers = nn.ModuleList()
        for kind, *rest in common.OWT:
            if kind == "conv":
                w, b = (torch.from_numpy(tensors["%s.%s" % (rest[0], s)]) for s in ("weight", "bias"))
                layer = nn.Conv2d(w.shape[1], w.shape[0], w.shape[2], rest[1]["stride"], rest[1]["pad"])
            elif kind == "linear":
                w, b = (torch.from_numpy(tensors["%s.%s" % (rest[0], s)]) for s in ("weight", "bias"))
                layer = nn.Linear(w.shape[1], w.shape[0])
            else:
                self.layers.append(nn.MaxPool2d(3, 2) if kind == "pool" else nn.Flatten())
                continue
            layer.weight.data, layer.bias.data = w, b
            self.layers.append(layer)
            if kind == "conv" or rest[1]["relu"]:
                self.layers.append(nn.ReLU(inplace=True))

    def forward(self, x):
        for layer in self.layers:
            x = layer(x)
        return x


def main():
    args = common.arguments()
    tensors = common.read_safetensors(args.start)
    images, labels = torch.from_numpy(tensors["images"]), torch.from_numpy(tensors["labels"]).long()
    net = AlexNet(tensors)
    if args.variant in ("channels_last", "compile"):
        net = net.to(memory_format=torch.channels_last)
        images = images.to(memory_format=torch.channels_last)
    decayed = [p for n, p in net.named_parameters() if n.endswith("weight")]
    others = [p for n, p in net.named_parameters() if not n.endswith("weight")]
    optimizer = torch.optim.SGD([{"params": decayed, "weight_decay": common.WEIGHT_DECAY}, {"params": others}],
                                lr=common.LEARNING_RATE, momentum=common.MOMENTUM)
    run = torch.compile(net) if args.variant == "compile" else net

    def step():
        optimizer.zero_grad(set_to_none=True)
        loss = F.cross_entropy(run(images), labels)
        loss.backward()
        optimizer.step()
        return loss

    common.measure("PyTorch %s %s" % (torch.__version__.split("+")[0], args.variant), step, len(labels), args)


if __name__ == "__main__":
    main()
