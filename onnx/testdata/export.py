# Checks models that package onnx wrote and runs them with ONNX Runtime: python export.py FOLDER, where each
# NAME.onnx has a NAME.npz with arguments and results of two calls.
import glob, sys
import numpy as np, onnx, onnxruntime

failed = 0
for path in sorted(glob.glob(sys.argv[1] + "/*.onnx")):
    name = path.split("/")[-1]
    try:
        onnx.checker.check_model(path, full_check=True)
        data = np.load(path[:-4] + "npz")
        session = onnxruntime.InferenceSession(path, providers=["CPUExecutionProvider"])
        worst = 0.0
        for call in "01":
            args = {v.name: data[f"in {call} {i}"] for i, v in enumerate(session.get_inputs())}
            for i, got in enumerate(session.run(None, args)):
                want = data[f"out {call} {i}"]
                assert got.dtype == want.dtype and got.shape == want.shape, f"{got.dtype}{got.shape}, want {want.dtype}{want.shape}"
                error = np.abs(got.astype(np.float64) - want) / (1 + np.abs(want))
                worst = max(worst, float(np.max(error, initial=0)))
        limit = 1e-3 if name == "halves.onnx" else 1e-5
        assert worst <= limit, f"the error is {worst}"
        print(f"{name}: {worst:.1e}")
    except Exception as e:
        failed += 1
        print(f"{name}: {e}")
sys.exit(failed > 0)
