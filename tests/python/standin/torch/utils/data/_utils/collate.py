import torch


def default_collate(batch):
    first = batch[0]
    if isinstance(first, (tuple, list)):
        return [default_collate(column) for column in zip(*batch)]
    if isinstance(first, (int, float)):
        return torch.Tensor(batch)
    return batch


def default_convert(data):
    return data
