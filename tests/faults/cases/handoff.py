"""Pictures with boxes, as a detector is trained: the targets stay a list of dictionaries of small tensors, or of
Python objects, hundreds a batch."""

import torch
from torch.utils.data import DataLoader
from training import Streamed, options, order, train


class Scenes(torch.utils.data.Dataset):
    def __init__(self, boxes, as_tensors):
        self.boxes, self.as_tensors = boxes, as_tensors
        self.outline = [float(k) for k in range(800)]

    def __len__(self):
        return 4000

    def __getitem__(self, index):
        image = torch.full((3, 64, 64), index % 251, dtype=torch.uint8)
        if not self.as_tensors:
            return image, [{"outline": list(self.outline), "label": k % 80} for k in range(self.boxes)]
        return image, [
            {"box": torch.tensor([k, k, k + 8, k + 8]), "label": torch.tensor(k % 80), "id": torch.tensor(index)}
            for k in range(self.boxes)
        ]


def collate(samples):
    images, objects = zip(*samples)
    return torch.stack(images), list(objects)


def main():
    asked = options(boxes=12, tensors=1, batch_size=16, steps=120)
    scenes = Scenes(asked.boxes, asked.tensors)
    loader = DataLoader(
        Streamed(scenes) if asked.iterable else scenes,
        asked.batch_size,
        num_workers=asked.workers,
        collate_fn=collate,
        **order(asked),
    )
    train(loader, asked)


if __name__ == "__main__":
    main()
