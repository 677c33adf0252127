"""What of NVIDIA's libraries is in this process's memory."""
import os
import re

from .answer import MOST_FILES


def mapped():
    """The libraries of NVIDIA in this process's memory."""
    files = set()
    with open("/proc/self/maps", encoding="utf-8", errors="replace") as maps:
        for line in maps:
            path = line[line.find("/"):].rstrip("\n") if "/" in line else ""
            if re.match(r"lib(cudnn|cublas|cudart|cuda|nccl|nvrtc|nvidia)", os.path.basename(path)):
                files.add(path)
    return sorted(files)[:MOST_FILES]


def loaded_cudnn(files):
    """What the cuDNN in this process says of itself; it is loaded already, so that asking changes nothing."""
    import ctypes
    for path in files:
        if re.match(r"libcudnn\.so\.\d+", os.path.basename(path)):
            library = ctypes.CDLL(path, mode=os.RTLD_NOLOAD | os.RTLD_NOW)
            for function in (library.cudnnGetVersion, library.cudnnGetCudartVersion):
                function.restype = ctypes.c_size_t
            return {"file": path, "version": library.cudnnGetVersion(), "cudart": library.cudnnGetCudartVersion()}
    return None


def say_nccl(answer):
    """What the NCCL in this process says of itself, where it is a library of its own."""
    import ctypes
    for path in mapped():
        if re.match(r"libnccl\.so", os.path.basename(path)):
            version = ctypes.c_int()
            if ctypes.CDLL(path, mode=os.RTLD_NOLOAD | os.RTLD_NOW).ncclGetVersion(ctypes.byref(version)) == 0:
                answer.say("nccl", {"file": path, "version": version.value})
