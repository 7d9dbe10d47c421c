class record_function:
    def __init__(self, name):
        self.name = name

    def __enter__(self):
        return self

    def __exit__(self, exc_type, exc_value, traceback):
        pass


class profile:
    def __enter__(self):
        self._start_trace()
        return self

    def _start_trace(self):
        self.entered = True

    def __exit__(self, exc_type, exc_val, exc_tb):
        self.entered = False
