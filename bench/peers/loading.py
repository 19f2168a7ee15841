"""Loaders of 8 workers whose items take 2 ms each."""
import time

from form import Form, Ready
from inputs import uniform

WORKERS, ITEM = 8, 0.002


def torch_form(n, dtype, threads):
    import torch
    from torch.utils.data import DataLoader, Dataset

    x = torch.from_numpy(uniform(3 * 32 * 32, 1, -1, 1, dtype).reshape(3, 32, 32))

    class Items(Dataset):
        def __len__(self):
            return n

        def __getitem__(self, i):
            time.sleep(ITEM)
            return x + i

    loader = DataLoader(Items(), batch_size=4, num_workers=WORKERS, persistent_workers=True)

    def epoch():
        for _ in loader:
            pass

    return Ready("epoch()", {"epoch": epoch}, lambda: [sum(float(b.mean()) for b in loader)])


REGISTRY = {"loader of 8, items wait": lambda case: [Form("torch", "torch", torch_form)]}
