def pin_memory(data, device=None):
    return data
