"""A training job's loading side: a real torch DataLoader over rows of token ids, held as the arguments say.

Every step sleeps, as a step on a GPU would leave the loader time to fill its queue. Nothing takes more than the rows at any
time, so that the peak is the loader's."""
import argparse
import random
import string
import time


def arguments():
    parser = argparse.ArgumentParser()
    parser.add_argument("--rows-as", choices=["list", "numpy", "arrow"], default="numpy")
    parser.add_argument("--values", choices=["int64", "int32", "int16", "bytes"], default="int64")
    parser.add_argument("--rows", type=int, default=20_000)
    parser.add_argument("--tokens", type=int, default=512)
    parser.add_argument("--batch", type=int, default=16)
    parser.add_argument("--workers", type=int, default=2)
    parser.add_argument("--prefetch", type=int, default=2)
    parser.add_argument("--start", choices=["fork", "spawn", "forkserver"], default="fork")
    parser.add_argument("--persistent", action="store_true")
    parser.add_argument("--epochs", type=int, default=1)
    parser.add_argument("--steps", type=int, default=0, help="of an epoch; 0 for all")
    parser.add_argument("--sleep", type=float, default=0.002)
    parser.add_argument("--hold", type=float, default=1.0, help="seconds of the first step, in which the queue fills")
    parser.add_argument("--no-shuffle", action="store_true")
    return parser.parse_args()


class Listed:
    """Rows as Python objects: lists of ints, or texts."""

    def __init__(self, rows, tokens, values):
        draw = random.Random(7)
        if values == "bytes":
            self.rows = ["".join(draw.choices(string.ascii_letters, k=tokens)) for _ in range(rows)]
        else:
            self.rows = [[draw.randrange(1000, 32000) for _ in range(tokens)] for _ in range(rows)]

    def __len__(self):
        return len(self.rows)

    def __getitem__(self, index):
        import torch

        row = self.rows[index]
        return torch.frombuffer(bytearray(row, "ascii"), dtype=torch.uint8) if isinstance(row, str) else torch.tensor(row)


class Numpy:
    """Rows in one array."""

    def __init__(self, rows, tokens, values):
        import numpy

        kind = "uint8" if values == "bytes" else values
        top = 128 if values == "bytes" else 32000
        self.rows = numpy.empty((rows, tokens), dtype=kind)
        draw = numpy.random.default_rng(7)
        for row in self.rows:
            row[:] = draw.integers(0, top, tokens)

    def __len__(self):
        return len(self.rows)

    def __getitem__(self, index):
        import torch

        return torch.from_numpy(self.rows[index])


class Arrow:
    """Rows in an Arrow array."""

    def __init__(self, rows, tokens, values):
        import numpy
        import pyarrow

        flat = numpy.random.default_rng(7).integers(0, 32000, rows * tokens, dtype=values)
        self.rows = pyarrow.FixedSizeListArray.from_arrays(pyarrow.array(flat), tokens)

    def __len__(self):
        return len(self.rows)

    def __getitem__(self, index):
        import torch

        return torch.tensor(self.rows[index].values.to_numpy())


def main():
    given = arguments()
    import torch
    from torch.utils.data import DataLoader

    torch.set_num_threads(1)
    dataset = {"list": Listed, "numpy": Numpy, "arrow": Arrow}[given.rows_as](given.rows, given.tokens,
                                                                               given.values)
    workers = {} if given.workers == 0 else {
        "prefetch_factor": given.prefetch,
        "multiprocessing_context": given.start,
        "persistent_workers": given.persistent,
    }
    loader = DataLoader(dataset, batch_size=given.batch, shuffle=not given.no_shuffle, num_workers=given.workers,
                        **workers)
    for _ in range(given.epochs):
        for step, batch in enumerate(loader):
            time.sleep(given.hold if step == 0 else given.sleep)
            batch.max()
            if given.steps and step + 1 >= given.steps:
                break


if __name__ == "__main__":
    main()
