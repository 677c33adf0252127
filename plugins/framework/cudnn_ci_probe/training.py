"""PyTorch, TensorFlow and JAX: what each was built for, what it sees, and the convolution forward and backward in each of its modes."""
from . import attention
from .answer import clip, flat


def permute(elements, shape, order):
    """The elements of an array of that shape with its axes in another order, as numpy.transpose has them."""
    strides = [1] * len(shape)
    for i in range(len(shape) - 2, -1, -1):
        strides[i] = strides[i + 1] * shape[i + 1]
    offsets = [0]
    for axis in order:
        offsets = [o + i * strides[axis] for o in offsets for i in range(shape[axis])]
    return [elements[o] for o in offsets]


def torch_devices(framework, answer):
    """Says what it was built for and sees. How many devices."""
    cudnn = getattr(framework._C, "_cudnn", None)
    answer.say("built", {"cuda": framework.version.cuda, "hip": getattr(framework.version, "hip", None),
                         "cudnn": list(cudnn.getCompileVersion()) if cudnn else None})
    if cudnn:
        answer.say("loaded", {"cudnn": list(cudnn.getRuntimeVersion())})
    answer.step("devices")
    count = framework.cuda.device_count() if framework.cuda.is_available() else 0
    answer.say("devices", {"count": count, "name": clip(framework.cuda.get_device_name(0)) if count else None})
    return count


def torch(framework, p, answer):
    if not torch_devices(framework, answer):
        return
    framework.backends.cudnn.allow_tf32 = False
    tensors = {n: framework.tensor(p[n], dtype=framework.float32, device="cuda").reshape(p[n + "_shape"]) for n in "xwg"}
    x, w = tensors["x"].requires_grad_(), tensors["w"].requires_grad_()
    for mode in ("default", "benchmark", "deterministic"):
        answer.step("convolution, " + mode)
        framework.backends.cudnn.benchmark = mode == "benchmark"
        framework.backends.cudnn.deterministic = mode == "deterministic"
        y = framework.nn.functional.conv2d(x, w, stride=p["stride"], padding=p["pad"])
        dx, dw = framework.autograd.grad(y, (x, w), tensors["g"])
        framework.cuda.synchronize()
        answer.result(mode, y=y.detach().cpu(), dx=dx.cpu(), dw=dw.cpu())
    attention.torch(framework, p, answer)


def tensorflow(framework, p, answer):
    build = framework.sysconfig.get_build_info()
    cuda = build.get("cuda_version") if build.get("is_cuda_build") else None
    answer.say("built", {"cuda": cuda, "cudnn": build.get("cudnn_version"), "hip": "rocm" if build.get("is_rocm_build") else None})
    answer.step("devices")
    gpus = framework.config.list_physical_devices("GPU")
    config = framework.config.experimental
    answer.say("devices", {"count": len(gpus), "name": clip(config.get_device_details(gpus[0]).get("device_name", "")) if gpus else None})
    if not gpus:
        return
    for gpu in gpus:
        config.set_memory_growth(gpu, True)
    config.enable_tensor_float_32_execution(False)
    framework.config.set_soft_device_placement(False)
    to, back = {"x": (0, 2, 3, 1), "w": (2, 3, 1, 0), "g": (0, 2, 3, 1)}, {"x": (0, 3, 1, 2), "w": (3, 2, 0, 1), "g": (0, 3, 1, 2)}
    shapes = {n: [p[n + "_shape"][axis] for axis in to[n]] for n in "xwg"}
    (ph, pw), strides = p["pad"], [1] + p["stride"] + [1]
    # Determinism cannot be switched off again, so it comes last. Until then cuDNN's algorithms are tried out, as is usual.
    for mode in ("default", "deterministic"):
        answer.step("convolution, " + mode)
        if mode == "deterministic":
            if not hasattr(config, "enable_op_determinism"):
                break
            config.enable_op_determinism()
        with framework.device("/GPU:0"):
            x, w, g = (framework.constant(permute(p[n], p[n + "_shape"], to[n]), dtype=framework.float32, shape=shapes[n]) for n in "xwg")
            with framework.GradientTape() as tape:
                tape.watch([x, w])
                y = framework.nn.conv2d(x, w, strides=strides, padding=[[0, 0], [ph, ph], [pw, pw], [0, 0]])
            dx, dw = tape.gradient(y, [x, w], output_gradients=g)
        results = {"y": (y, "g"), "dx": (dx, "x"), "dw": (dw, "w")}
        answer.result(mode, **{n: permute(flat(array.numpy().tolist()), shapes[of], back[of]) for n, (array, of) in results.items()})


def jax_devices(framework, answer):
    """Says what it was built for and sees. The devices."""
    import importlib
    answer.step("devices")
    try:
        gpus = [d for d in framework.devices() if d.platform in ("gpu", "cuda")]
    except RuntimeError as error:  # where the environment asks for CUDA and nothing else
        answer.error(error)
        gpus = []
    # Only now, when JAX has loaded its libraries in its own order.
    built = {"cuda": None, "cudnn": None}
    for name in ("jax_cuda13_plugin", "jax_cuda12_plugin", "jaxlib.cuda"):
        try:
            versions = importlib.import_module(name + "._versions")
        except ImportError:
            continue
        built = {"cuda": versions.cuda_runtime_build_version(), "cudnn": versions.cudnn_build_version()}
        break
    answer.say("built", built)
    answer.say("devices", {"count": len(gpus), "name": clip(gpus[0].device_kind) if gpus else None})
    return gpus


def jax(framework, p, answer):
    gpus = jax_devices(framework, answer)
    if not gpus:
        return
    x, w, g = (framework.numpy.array(p[n], dtype="float32").reshape(p[n + "_shape"]) for n in "xwg")
    padding = [(pad, pad) for pad in p["pad"]]

    def convolve(x, w):
        return framework.lax.conv_general_dilated(x, w, p["stride"], padding, dimension_numbers=("NCHW", "OIHW", "NCHW"),
                                                  precision=framework.lax.Precision.HIGHEST)

    def both_ways(x, w, g):
        y, pull_back = framework.vjp(convolve, x, w)
        return (y,) + tuple(pull_back(g))

    modes = {"default": {}, "without autotuning": {"xla_gpu_autotune_level": 0}, "deterministic": {"xla_gpu_deterministic_ops": True}}
    for mode, options in modes.items():
        answer.step("convolution, " + mode)
        try:
            compiled = framework.jit(both_ways).lower(x, w, g).compile(**({"compiler_options": options} if options else {}))
        except Exception as error:
            # A release that has no such option, or none at all.
            if options and ("No such compile option" in str(error) or isinstance(error, TypeError)):
                continue
            raise
        y, dx, dw = compiled(x, w, g)
        answer.result(mode, y=y, dx=dx, dw=dw)
    attention.jax(framework, gpus[0], p, answer)
