"""Between checkpoints the GPU is busy all the time. Every few steps the whole model is saved, and it has nothing to do
for as long as that takes: short and hard, not low all the time."""

import os
import tempfile

import torch
from gpu_images import Pixels
from torch.utils.data import DataLoader
from torchvision.models import resnet50
from training import options


def main():
    asked = options(every=20, embeddings=100_000, batch_size=192, steps=200)
    loader = DataLoader(Pixels(asked.steps, asked.batch_size), batch_size=None, shuffle=True)
    model = resnet50(num_classes=10).to("cuda", memory_format=torch.channels_last)
    model.embedding = torch.nn.Embedding(asked.embeddings, 512).to("cuda")
    criterion = torch.nn.CrossEntropyLoss()
    optimizer = torch.optim.SGD(
        [weight for name, weight in model.named_parameters() if "embedding" not in name], lr=0.01
    )
    with tempfile.TemporaryDirectory() as folder:
        for step, (images, labels) in enumerate(loader, start=1):
            images = images.to("cuda", non_blocking=True).float().div_(255)
            labels = labels.to("cuda", non_blocking=True)
            with torch.autocast("cuda", torch.bfloat16):
                loss = criterion(model(images), labels)
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            if step % asked.every == 0:
                torch.save(model.state_dict(), os.path.join(folder, "last.pt"))


if __name__ == "__main__":
    main()
