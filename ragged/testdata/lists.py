# Writes lists as NumPy's users would: python3 lists.py, in this folder.
import numpy as np

np.savez("depth1.npz", data=np.arange(10, dtype=np.float32), offsets=np.array([0, 1, 3, 3, 10]))
np.savez_compressed("depth2.npz", data=np.arange(8, dtype=np.int16).reshape(4, 2), offsets0=np.array([0, 2, 2, 3], dtype=np.int32), offsets1=np.array([0, 1, 1, 4]))
np.savez("fields.npz", **{"data.x": np.arange(3.0), "data.y": np.arange(6, dtype=np.uint8).reshape(3, 2), "offsets": np.array([0, 3]), "more": np.zeros(2)})
