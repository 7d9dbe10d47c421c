import pickle


def save(obj, f, pickle_module=pickle):
    """Saves an object to a file."""
    if isinstance(f, str):
        with open(f, "wb") as opened:
            pickle_module.dump(obj, opened)
    else:
        pickle_module.dump(obj, f)
