"""Pictures with boxes, as a detector is trained: the targets stay a list of dictionaries of small tensors, hundreds a batch."""
import torch
from accelerator import Accelerator


class Scenes(torch.utils.data.Dataset):
    def __len__(self):
        return 4000

    def __getitem__(self, index):
        image = torch.full((3, 64, 64), index % 251, dtype=torch.uint8)
        objects = [{"box": torch.tensor([k, k, k + 8, k + 8]), "label": torch.tensor(k % 80), "id": torch.tensor(index)} for k in range(12)]
        return image, objects


def collate(samples):
    images, objects = zip(*samples)
    return torch.stack(images), list(objects)


def main():
    loader = torch.utils.data.DataLoader(Scenes(), batch_size=16, num_workers=2, collate_fn=collate)
    model = Accelerator(step_ms=30)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    for step, (images, objects) in enumerate(loader):
        loss = model(images)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        if step == 120:
            break


if __name__ == "__main__":
    main()
