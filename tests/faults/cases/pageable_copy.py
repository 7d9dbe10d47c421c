"""Workers make batches faster than they are used, but pin_memory is left out: every copy goes through pageable memory."""
import torch
from gpu_images import Images, network


def main():
    loader = torch.utils.data.DataLoader(Images(512 * 400), batch_size=512, num_workers=10)
    model = network()
    criterion = torch.nn.CrossEntropyLoss()
    optimizer = torch.optim.SGD(model.parameters(), lr=0.01)
    for images, labels in loader:
        images = images.to("cuda")
        labels = labels.to("cuda")
        loss = criterion(model(images.float().div_(255)), labels)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()


if __name__ == "__main__":
    main()
