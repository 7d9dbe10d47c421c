"""Rows of a table, and a model that keeps the GPU busy all the time: nothing to gain at the input."""
import torch


def main():
    rows = torch.utils.data.TensorDataset(torch.randn(512 * 250, 256), torch.randint(10, (512 * 250,)))
    loader = torch.utils.data.DataLoader(rows, batch_size=512, shuffle=True, num_workers=4, pin_memory=True)
    model = torch.nn.Sequential(
        torch.nn.Linear(256, 8192), torch.nn.ReLU(),
        *[layer for _ in range(8) for layer in (torch.nn.Linear(8192, 8192), torch.nn.ReLU())],
        torch.nn.Linear(8192, 10),
    ).to("cuda")
    criterion = torch.nn.CrossEntropyLoss()
    optimizer = torch.optim.SGD(model.parameters(), lr=0.001)
    for features, labels in loader:
        features = features.to("cuda", non_blocking=True)
        labels = labels.to("cuda", non_blocking=True)
        loss = criterion(model(features), labels)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()


if __name__ == "__main__":
    main()
