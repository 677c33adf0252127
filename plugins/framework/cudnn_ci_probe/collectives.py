"""Collectives of PyTorch's torch.distributed, a process a rank, and of JAX, one process for all. What is sent lies in files, and so does
what was received: CASE.RANK.in and .out in a folder."""
import os

from . import memory, training


def path(job, index, rank, end):
    return os.path.join(job["folder"], "%d.%d.%s" % (index, rank, end))


def read(job, index, rank):
    """None: this rank sends nothing."""
    try:
        with open(path(job, index, rank, "in"), "rb") as file:
            return file.read()
    except FileNotFoundError:
        return None


def write(job, index, rank, data):
    with open(path(job, index, rank, "out"), "wb") as file:
        file.write(data)


def filled(case):
    """What a result holds before: what was not written shows."""
    word = bytes.fromhex(case["fill"])
    return (word * (case["bytes"] // len(word) + 1))[:case["bytes"]]


def torch_call(dist, case, out, send):
    kind, op = case["collective"], getattr(dist.ReduceOp, {"max": "MAX", "average": "AVG"}.get(case["reduction"], "SUM"))
    if kind == "all_reduce":
        dist.all_reduce(out, op)
    elif kind == "broadcast":
        dist.broadcast(out, case["root"])
    elif kind == "reduce_scatter":
        # The names before PyTorch 1.13.
        getattr(dist, "reduce_scatter_tensor", getattr(dist, "_reduce_scatter_base", None))(out, send, op)
    elif kind == "all_gather":
        getattr(dist, "all_gather_into_tensor", getattr(dist, "_all_gather_base", None))(out, send)
    else:
        dist.all_to_all_single(out, send)


def torch(framework, p, answer):
    job, rank, dist = p["collectives"], p["rank"], framework.distributed
    # Every rank sees all GPUs. One that is missing is told by their number, and the others do not wait for its rank.
    if training.torch_devices(framework, answer) < job["ranks"]:
        return
    if not (dist.is_available() and dist.is_nccl_available()):
        answer.say("lacks", "torch.distributed with NCCL")
        return
    memory.say_nccl(answer)
    framework.cuda.set_device(rank)
    byte = framework.uint8

    def upload(data, dtype):
        return framework.frombuffer(bytearray(data), dtype=byte).to("cuda").view(dtype)

    answer.step("init_process_group")
    store = dist.FileStore(os.path.join(job["folder"], "store"), job["ranks"])
    dist.init_process_group("nccl", store=store, rank=rank, world_size=job["ranks"])
    for index, case in enumerate(job["cases"]):
        answer.step(case["text"])
        dtype, data = getattr(framework, case["dtype"]), read(job, index, rank)
        in_place = case["collective"] in ("all_reduce", "broadcast")
        send = None if in_place else upload(data, dtype)
        out = upload(data if in_place and data is not None else filled(case), dtype)
        torch_call(dist, case, out, send)
        framework.cuda.synchronize()
        result = bytearray(case["bytes"])
        framework.frombuffer(result, dtype=byte).copy_(out.view(byte))
        write(job, index, rank, result)
    answer.step("destroy_process_group")
    dist.destroy_process_group()


# By the name that XLA has for a collective.
HLO = {"all_reduce": "all-reduce", "reduce_scatter": "reduce-scatter", "all_gather": "all-gather", "all_to_all": "all-to-all"}


def jax_call(lax, case):
    calls = {"all_reduce": {"sum": lax.psum, "max": lax.pmax, "average": lax.pmean}.get(case["reduction"]),
             "reduce_scatter": lambda x, axis: lax.psum_scatter(x, axis, tiled=True),
             "all_gather": lambda x, axis: lax.all_gather(x, axis, tiled=True),
             "all_to_all": lambda x, axis: lax.all_to_all(x, axis, 0, 0, tiled=True)}
    return lambda x: calls[case["collective"]](x, "ranks")


def jax(framework, p, answer):
    job, gpus = p["collectives"], training.jax_devices(framework, answer)
    ranks = job["ranks"]
    if len(gpus) < ranks:
        return
    import numpy
    for index, case in enumerate(job["cases"]):
        answer.step(case["text"])
        dtype = numpy.dtype(getattr(framework.numpy, case["dtype"]))
        sent = numpy.stack([numpy.frombuffer(read(job, index, rank), dtype) for rank in range(ranks)])
        compiled = framework.pmap(jax_call(framework.lax, case), axis_name="ranks", devices=gpus[:ranks]).lower(sent).compile()
        # With one device XLA may take the collective out.
        if HLO[case["collective"]] not in (compiled.as_text() or HLO[case["collective"]]):
            answer.say("left_out", case["text"])
        received = numpy.asarray(compiled(sent))
        for rank in range(ranks):
            write(job, index, rank, received[rank].tobytes())
    memory.say_nccl(answer)


PROBES = {"torch": torch, "jax": jax}
