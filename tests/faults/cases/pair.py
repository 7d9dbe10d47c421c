"""Two faults at once: one at the input, one in the loop."""

import logging
import logging.handlers
import os
import tempfile

import far_collector
import torch
from handoff import Scenes, collate
from sampler_slow import HardExamples, Rows
from slow_samples import MixedTables
from torch.utils.data import DataLoader, TensorDataset
from training import Table, model_of, options
from validation_pause import validate


def few_workers(asked):
    return DataLoader(Table(), asked.batch_size, shuffle=True, num_workers=1, persistent_workers=True)


def no_workers(asked):
    return DataLoader(Table(), asked.batch_size, shuffle=True)


def slow_samples(asked):
    return DataLoader(MixedTables(40), asked.batch_size, shuffle=True, num_workers=2, persistent_workers=True)


def slow_sampler(asked):
    sampler = HardExamples(torch.rand(asked.weights), asked.batch_size, asked.steps)
    return DataLoader(Rows(), batch_sampler=sampler, num_workers=1)


def small_objects(asked):
    return DataLoader(Scenes(12, True), asked.batch_size, num_workers=2, collate_fn=collate)


def main():
    asked = options(
        input="no_workers",
        weights=2_000_000,
        pause="checkpoint",
        every=10,
        held_out=192,
        trip_ms=150.0,
        embeddings=250_000,
        batch_size=16,
        step_ms=40.0,
        steps=100,
    )
    loader = globals()[asked.input](asked)
    test = DataLoader(TensorDataset(torch.randn(asked.held_out, 256)), asked.batch_size)
    model = model_of(asked)
    model.embedding = torch.nn.Embedding(asked.embeddings, 256)
    optimizer = torch.optim.SGD(
        [weight for name, weight in model.named_parameters() if "embedding" not in name], lr=0.1
    )
    address, collector = far_collector.start(asked.trip_ms)
    log = logging.getLogger("train")
    log.setLevel(logging.INFO)
    log.addHandler(logging.handlers.HTTPHandler(address, "/metrics", method="POST"))
    step = 0
    with tempfile.TemporaryDirectory() as folder:
        while step < asked.steps:
            for batch in loader:
                loss = model(batch[0])
                optimizer.zero_grad()
                loss.backward()
                optimizer.step()
                step += 1
                if step % asked.every == 0:
                    if asked.pause == "checkpoint":
                        torch.save(model.state_dict(), os.path.join(folder, "last.pt"))
                    elif asked.pause == "validation":
                        validate(model, test)
                    else:
                        log.info("step %d", step)
                if step == asked.steps:
                    break
    collector.terminate()


if __name__ == "__main__":
    main()
