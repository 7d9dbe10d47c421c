"""Metrics go to a collector over HTTP, from the training loop, every fifth step; the collector is far away."""
import http.server
import logging
import logging.handlers
import multiprocessing
import time

import torch
from accelerator import Accelerator


class FarAway(http.server.BaseHTTPRequestHandler):
    def do_POST(self):
        self.rfile.read(int(self.headers["Content-Length"]))
        time.sleep(0.15)  # the round trip to the collector
        self.send_response(200)
        self.end_headers()

    def log_message(self, *arguments):
        pass


def main():
    server = http.server.HTTPServer(("127.0.0.1", 0), FarAway)
    collector = multiprocessing.get_context("fork").Process(target=server.serve_forever, daemon=True)
    collector.start()
    log = logging.getLogger("train")
    log.setLevel(logging.INFO)
    log.addHandler(logging.handlers.HTTPHandler("127.0.0.1:%d" % server.server_port, "/metrics", method="POST"))

    dataset = torch.utils.data.TensorDataset(torch.randn(4800, 256))
    loader = torch.utils.data.DataLoader(dataset, batch_size=32, shuffle=True)
    model = Accelerator(step_ms=40)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    for step, (batch,) in enumerate(loader):
        loss = model(batch)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        if step % 5 == 0:
            log.info("step %d of %d", step, len(loader))
    collector.terminate()


if __name__ == "__main__":
    main()
