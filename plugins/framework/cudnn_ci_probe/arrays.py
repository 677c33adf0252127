"""CuPy: what it was built for, what it sees, and what it computes with arrays."""
from .answer import clip


def cupy(framework, p, answer):
    runtime = framework.cuda.runtime
    answer.say("built", {"cuda": framework.cuda.driver.get_build_version(), "cudnn": None})
    answer.step("devices")
    try:
        count = runtime.getDeviceCount()
    except runtime.CUDARuntimeError as error:
        answer.error(error)
        count = 0
    name = runtime.getDeviceProperties(0)["name"] if count else None
    answer.say("devices", {"count": count, "name": clip(name.decode(errors="replace") if isinstance(name, bytes) else name) if count else None})
    if not count:
        return
    a, b = (framework.array(p[n], dtype="float32").reshape(p[n + "_shape"]) for n in "ab")
    answer.step("elementwise")  # compiled by NVRTC
    answer.result("elementwise", elementwise=framework.asnumpy(2 * a + 1))
    answer.step("matmul")  # by cuBLAS
    answer.result("matmul", matmul=framework.asnumpy(a @ b))
    answer.step("cupyx.cudnn")
    try:
        from cupyx import cudnn
        version = framework.cuda.cudnn.getVersion()
    except Exception:  # most releases have none, and none finds its libraries in every image
        return
    answer.say("loaded", {"cudnn": version})
    x, w, g = (framework.array(p[n], dtype="float32").reshape(p[n + "_shape"]) for n in "xwg")
    where = (tuple(p["pad"]), tuple(p["stride"]), (1, 1), 1)
    for mode in ("default", "benchmark", "deterministic"):
        answer.step("convolution, " + mode)
        y, dx, dw = framework.zeros_like(g), framework.zeros_like(x), framework.zeros_like(w)
        search = {"auto_tune": mode == "benchmark", "tensor_core": "never"}
        cudnn.convolution_forward(x, w, None, y, *where, **search)
        search["deterministic"] = mode == "deterministic"
        cudnn.convolution_backward_data(w, g, None, dx, *where, **search)
        cudnn.convolution_backward_filter(x, g, dw, *where, **search)
        answer.result(mode, y=framework.asnumpy(y), dx=framework.asnumpy(dx), dw=framework.asnumpy(dw))
