"""Collectives of the fake frameworks, of bytes. Ranks of several processes meet in a folder: each writes what it sends, and reads what the
others have sent.

FAKE_COLLECTIVE is a fault of the collective FAKE_COLLECTIVE_AT ("reduce_scatter average"; every one where that is not set), at rank FAKE_RANK
(the last one):
  tail                  the last 8 elements are not written
  element, missing      one element is another; the rank's part is left out of a sum
  raise, crash, hang    what the call does
  then_memory           one element is another, and behind all these calls there is too little memory
  none                  its library has none: PyTorch without NCCL
"""
import array
import operator
import os
import signal
import time

FAULT = os.environ.get("FAKE_COLLECTIVE", "")
DONE = []  # the collectives with a fault
SIZES = {"float32": 4, "bfloat16": 2, "int32": 4, "uint8": 1}


def at(name, rank, ranks):
    return os.environ.get("FAKE_COLLECTIVE_AT", name) == name and int(os.environ.get("FAKE_RANK", ranks - 1)) == rank


def widened(data, dtype):
    wide = bytearray(data) if dtype == "float32" else bytearray(2 * len(data))
    if dtype == "bfloat16":
        wide[2::4], wide[3::4] = data[0::2], data[1::2]
    return array.array("f", bytes(wide))


def narrowed(numbers, dtype):
    wide, narrow = numbers.tobytes(), bytearray(2 * len(numbers))
    if dtype == "float32":
        return wide
    narrow[0::2], narrow[1::2] = wide[2::4], wide[3::4]
    return bytes(narrow)


def reduced(parts, reduction, dtype):
    if len(parts) == 1:
        return parts[0]
    total = widened(parts[0], dtype)
    for part in parts[1:]:
        total = array.array("f", map(max if reduction == "max" else operator.add, total, widened(part, dtype)))
    if reduction == "average":
        total = array.array("f", (e / len(parts) for e in total))
    return narrowed(total, dtype)


def received(kind, reduction, dtype, parts, rank, root=0):
    """What a rank receives, of what all have sent; None of a rank that sends nothing."""
    ranks, name = len(parts), kind + (" " + reduction if reduction else "")
    faulty = at(name, rank, ranks)
    if FAULT == "then_memory" and DONE and not faulty:
        raise RuntimeError("CUDA out of memory. Tried to allocate 2.00 MiB")
    if faulty:
        DONE.append(name)
    if faulty and FAULT == "raise":
        raise RuntimeError("NCCL error: unhandled system error")
    if faulty and FAULT == "crash":
        os.kill(os.getpid(), signal.SIGSEGV)
    if faulty and FAULT == "hang":
        time.sleep(1000)
    if FAULT == "missing" and reduction and at(name, rank, ranks):
        parts = [bytes(len(part)) if r == 0 else part for r, part in enumerate(parts)]
    if kind == "all_reduce":
        out = reduced(parts, reduction, dtype)
    elif kind == "broadcast":
        out = parts[root]
    elif kind == "all_gather":
        out = b"".join(parts)
    else:
        size = len(parts[0]) // ranks
        chunks = [part[rank * size:(rank + 1) * size] for part in parts]
        out = b"".join(chunks) if kind == "all_to_all" else reduced(chunks, reduction, dtype)
    if faulty and FAULT == "tail":
        return out[:-8 * SIZES[dtype]]
    if faulty and FAULT in ("element", "then_memory"):
        return bytes([out[0] ^ 1]) + out[1:]
    return out


class Ranks:
    """Processes that meet in a folder."""

    def __init__(self, folder, rank, ranks):
        self.folder, self.rank, self.ranks, self.calls = folder, rank, ranks, 0

    def exchange(self, data):
        if self.ranks == 1:
            return [data]
        self.calls += 1
        paths = ["%s/call.%d.%d" % (self.folder, self.calls, rank) for rank in range(self.ranks)]
        with open(paths[self.rank] + ".new", "wb") as file:
            file.write(data)
        os.rename(paths[self.rank] + ".new", paths[self.rank])
        while not all(map(os.path.exists, paths)):
            time.sleep(0.002)
        parts = []
        for path in paths:
            with open(path, "rb") as file:
                parts.append(file.read())
        return parts
