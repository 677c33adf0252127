"""Broken environments on a real GPU, made of its own files and variables, and what the gate must say of each.

Nothing here changes a setting of the GPU, the driver or the machine: copies, links, variables, and mounts in a namespace
of the gate's own.
"""
from environments import CONVOLUTION, DIAGNOSIS, Environment, Row, first
from machine import CUDART, NVRTC, Copy, held_memory, mounts

UNLOADABLE, MIXED = "cudnn-sublibrary-unloadable", "cudnn-mixed-directories"
DRIVER = [check for check in DIAGNOSIS if check.startswith("driver.")]
PARTS = ["graph", "ops", "cnn", "adv", "heuristic", "engines_precompiled", "engines_runtime_compiled"]
LFS_POINTER = b"version https://git-lfs.github.com/spec/v1\noid sha256:" + b"a" * 64 + b"\nsize 4451728\n"
FOREIGN_MACHINE = (18, bytes([243, 0]))  # e_machine: RISC-V
NO_UUID = "GPU-00000000-0000-0000-0000-000000000000"
CRASH = "#include <stdlib.h>\n__attribute__((constructor)) static void Crash(void) { abort(); }\n"


def runner(name, about, slug, make):
    return Row(name, about, (slug,), "runner", make)


def image(name, about, slugs, make):
    return Row(name, about, (slugs,) if isinstance(slugs, str) else slugs, "image", make, without_gpu=True)


def hidden(name, value, *words, code=100):
    """CUDA_VISIBLE_DEVICES leaves nothing; `value` may be a function of the number of GPUs."""
    def make(machine, _):
        count = len(machine.gpus())
        text = value(count) if callable(value) else value
        return Environment({"CUDA_VISIBLE_DEVICES": text}, words=[f"cuInit: {code}", f"CUDA_VISIBLE_DEVICES='{text}'", *words])
    return runner(f"visible_{name}", "no visible GPU", "no-visible-device", make)


def visibility():
    return [
        hidden("empty", "", "it hides every GPU"),
        hidden("minus_one", "-1", "first bad entry: '-1'"),
        hidden("beyond_the_last", lambda n: str(n + 99), "first bad entry"),
        hidden("twice_the_same", "0,0", "first bad entry: '0'", code=101),
        hidden("bad_before_good", lambda n: f"{n},0", "first bad entry"),
        hidden("unknown_uuid", NO_UUID, f"first bad entry: '{NO_UUID}'"),
        hidden("mig_instance_without_mig", NO_UUID.replace("GPU-", "MIG-")),
        hidden("no_dev_files", "NoDevFiles", "first bad entry: 'NoDevFiles'"),
        runner("visible_list_cut", "no visible GPU", "too-few-gpus", lambda m, _: Environment(
            {"CUDA_VISIBLE_DEVICES": f"0,{len(m.gpus())}"}, {"runner.gpus": ">=2"}, words=["1 GPU(s) visible, >=2 promised"])),
    ]


def promises():
    def next_minor(machine, _):
        major, minor, *_ = machine.own_cudnn().version.split(".")
        wanted = f">={major}.{int(minor) + 1} <10"
        return Environment(promise={"image.cudnn": wanted}, words=[f"cuDNN {machine.cudnn.version} found, {wanted} promised"])

    def keep(key, value, *words):
        return lambda machine, _: Environment(promise={key: value(machine) if callable(value) else value}, words=list(words))

    def no_toolkit(machine, folder):
        # A program that brings its own runtime: the toolkit here is none, and the image says what it needs.
        copy = Copy(folder / "lib")
        for name in [*CUDART.values(), *NVRTC.values()]:
            copy.write(name, b"")
        return Environment(first(copy, NVIDIA_REQUIRE_CUDA="cuda>=99.0"),
                           {"runner.driver": None, "image.toolkit": None, "image.cudnn": None},
                           checks=DRIVER, words=["NVIDIA_REQUIRE_CUDA='cuda>=99.0' does not hold here"])

    return [
        runner("promise_gpus", "no visible GPU", "too-few-gpus", keep("runner.gpus", ">=64", ">=64 promised")),
        runner("promise_driver", "driver too old", "driver-below-contract", keep("runner.driver", ">=9999", ">=9999 promised")),
        runner("promise_compute_capability", "GPU outside the promise", "compute-capability-outside-contract",
               keep("runner.compute_capability", ">=99.0", ">=99.0 promised")),
        image("promise_toolkit", "toolkit outside the promise", "toolkit-outside-contract",
              keep("image.toolkit", lambda m: f">={m.cuda + 1}", "found, >=")),
        image("promise_no_toolkit", "toolkit outside the promise", "toolkit-not-promised", keep("image.toolkit", "absent", "libcudart.so")),
        image("promise_cudnn", "cuDNN outside the promise", "cudnn-outside-contract", next_minor),
        image("promise_no_cudnn", "cuDNN outside the promise", "cudnn-not-promised", keep("image.cudnn", "absent", "libcudnn.so")),
        runner("image_requires_a_newer_driver", "driver too old", "image-requirement-unsatisfied", no_toolkit),
    ]


def driver_libraries():
    def libcuda(data, *words):
        def make(machine, folder):
            machine.gpus()
            copy = Copy(folder / "lib")
            if data is None:
                copy.take(machine.libcuda, "libcuda.so.1").cut("libcuda.so.1")
            else:
                copy.write("libcuda.so.1", data)
            # Over the host's: in a folder in front of it, it would be the image's.
            return Environment(before=mounts(f"mount --bind {copy}/libcuda.so.1 {machine.libcuda}"), words=list(words))
        return make

    def linked_stub(machine, folder):
        (folder / "libcuda.so.1").symlink_to(machine.stub())
        return Environment(first(folder), words=["is the stub", f"LD_LIBRARY_PATH entry {folder}"])

    def copied_stub(machine, folder):
        return Environment(first(Copy(folder / "lib").write("libcuda.so.1", machine.stub().read_bytes())), words=["is the stub"])

    def compat(machine, _):
        folder, version = machine.compat()
        return Environment(first(folder), words=["cuInit: 80", version])

    def another_version(machine, folder):
        source, version = machine.compat()
        copy = Copy.of(source, folder / "lib", r"lib.*\.so.*")
        return Environment(first(copy), words=[f"kernel module {machine.driver}", f"libcuda.so.{version}"])

    def another_module(machine, folder):
        file = folder / "version"
        file.write_text("NVRM version: NVIDIA UNIX x86_64 Kernel Module  999.10.05  Fri Jan  1 00:00:00 UTC 2027\n")
        machine.gpus()
        return Environment(before=mounts(f"mount --bind {file} /proc/driver/nvidia/version"), words=["kernel module 999.10.05"])

    def dead_uvm(machine, _):
        machine.gpus()
        return Environment(before=mounts("mount --bind /dev/null /dev/nvidia-uvm"), words=["cuInit: 999", "/dev/nvidia-uvm"])

    unloadable = "driver-library-unloadable"
    return [
        image("stub_first", "stub in the driver's place", "driver-stub-library", linked_stub),
        image("stub_copied", "stub in the driver's place", "driver-stub-library", copied_stub),
        image("compat_older_than_the_driver", "compat library that does not fit", "driver-compat-mismatch", compat),
        image("library_of_another_driver", "two driver versions", "driver-compat-mismatch", another_version),
        runner("module_of_another_driver", "two driver versions", "driver-module-mismatch", another_module),
        runner("uvm_node_dead", "uvm node unusable", "uvm-node-unusable", dead_uvm),
        runner("libcuda_empty", "damaged driver library", unloadable, libcuda(b"", "file too short")),
        runner("libcuda_is_text", "damaged driver library", unloadable, libcuda(b"x" * 4096, "invalid ELF header")),
        runner("libcuda_truncated", "damaged driver library", unloadable, libcuda(None, "truncated")),
    ]


def processes():
    def preload(variable):
        return lambda machine, folder: Environment({variable: machine.compile(folder, "crash", CRASH)}, words=[variable])

    def dead_gpu(machine, folder):
        uuids = machine.gpus()
        source = (machine.sources / "fault_preload.c").read_text()
        return Environment({"LD_PRELOAD": machine.compile(folder, "dead", source), "CUDNN_CI_FAULT": "device",
                            "CUDNN_CI_FAULT_DEVICE": uuids[0], "CUDNN_CI_FAULT_MARK": str(folder / "mark"),
                            "CUDA_VISIBLE_DEVICES": uuids[0]}, {"image.allow_preload": ["*"]})

    def memory(mebibytes):
        def make(machine, _):
            machine.gpus()
            return Environment(beside=held_memory(mebibytes << 20), words=["MiB of device memory are free"])
        return make

    return [
        image("preload_crashes", "preloaded library", "preload-breaks-processes", preload("LD_PRELOAD")),
        image("audit_crashes", "preloaded library", "preload-breaks-processes", preload("LD_AUDIT")),
        runner("gpu_stops_computing", "GPU that does not compute", "device-lost", dead_gpu),
        runner("memory_held_all", "device memory held by others", "device-memory-held", memory(64)),
        runner("memory_held_but_300_mib", "device memory held by others", "device-memory-held", memory(300)),
    ]


def cudnn(spoil, *words, subject=False):
    """A copy of the loader's own cuDNN, spoiled, before all others on the loader's path or as a subject."""
    def make(machine, folder):
        copy = machine.copy(machine.own_cudnn(), folder / "lib")
        spoil(copy)
        told = [word.replace("{}", str(copy)) for word in words]
        if subject:
            return Environment(subjects={"mine": f"path:{copy}"}, words=told)
        return Environment(first(copy), words=told)
    return make


def cudnn_files():
    def missing(part):
        # The loader finds the machine's own in its place.
        about = "part of cuDNN 9 missing" if part in ("graph", "ops", "cnn", "adv") else "heuristics or engines missing"
        return image(f"cudnn_{part}_missing", about, MIXED,
                     cudnn(lambda c: c.remove(f"libcudnn_{part}"), "{}", f"libcudnn_{part}.so.9"))

    def damaged(name, spoil, *words):
        return image(f"cudnn_{name}", "truncated file", UNLOADABLE, cudnn(spoil, *words))

    def passed_over(name, spoil, *words):
        return image(f"cudnn_{name}", "unusable file", MIXED, cudnn(spoil, *words))

    ops, graph, engines = "libcudnn_ops.so.9", "libcudnn_graph.so.9", "libcudnn_engines_precompiled.so.9"
    def another(name, part):
        # Loads like its own, and says nothing of a version; where the machine's own install is behind it, cuDNN may go on with that.
        def spoil(copy):
            cnn = (copy.folder / "libcudnn_cnn.so.9").resolve()
            names = {path.name for path in copy.folder.glob(f"libcudnn_{part}.so*")} | {f"libcudnn_{part}.so"}
            copy.remove(f"libcudnn_{part}")
            for name in names:
                copy.take(cnn, name)
        return image(name, "another library under cuDNN's name", "cudnn-other-library", cudnn(spoil, f"libcudnn_{part}.so", "is libcudnn_cnn.so.9 by its soname"))

    return [
        *[missing(part) for part in PARTS],
        another("heuristic_is_another_library", "heuristic"),
        another("engines_are_another_library", "engines_precompiled"),
        damaged("engines_truncated", lambda c: c.cut(engines), "libcudnn_engines_precompiled.so", "is truncated"),
        damaged("graph_truncated", lambda c: c.cut(graph), "libcudnn_graph.so", "is truncated"),
        damaged("ops_empty", lambda c: c.write(ops, b""), "libcudnn_ops.so", "is empty"),
        damaged("ops_is_a_git_lfs_pointer", lambda c: c.write(ops, LFS_POINTER), "is a git-lfs pointer"),
        damaged("graph_without_segments", lambda c: c.patch(graph, 64, bytes(56 * 16)), "libcudnn_graph.so"),
        damaged("main_empty", lambda c: c.write("libcudnn.so.9", b""), "libcudnn.so", "is empty"),
        passed_over("ops_foreign", lambda c: c.patch(ops, *FOREIGN_MACHINE), "is built for another machine"),
        passed_over("ops_dangling", lambda c: c.dangle("libcudnn_ops", ops), "is a link to nowhere/"),
        image("cudnn_subject_without_ops", "part of cuDNN 9 missing", MIXED,
              cudnn(lambda c: c.remove("libcudnn_ops"), "{}", ops, subject=True)),
        image("cudnn_subject_missing", "subject missing", "subject-missing",
              lambda m, folder: Environment(subjects={"mine": f"path:{folder}/nowhere"}, words=[f"{folder}/nowhere"])),
        image("zlib_unusable", "zlib missing", UNLOADABLE, lambda m, folder: Environment(
            first(Copy(folder / "lib").write("libz.so.1", b"")), words=["libz.so.1"])),
    ]


def cudnn_mixtures():
    def parts_of_another(*names):
        def make(machine, folder):
            other = machine.other_cudnn()
            copy = Copy(folder / "lib")
            for name in names:
                copy.take(other.folder / name)
            return Environment(first(copy), words=[str(copy), str(machine.own_cudnn().folder)])
        return make

    def replaced(name):
        def make(machine, folder):
            other = machine.other_cudnn()
            copy = machine.copy(machine.own_cudnn(), folder / "lib").take(other.folder / name, name)
            return Environment(first(copy), words=[machine.cudnn.version, other.version])
        return make

    def engines_of_another(machine, folder):
        # As measured: the older engines in the newer install. These files carry no version, so a convolution has to tell.
        newer, older = sorted([machine.own_cudnn(), machine.other_cudnn()], reverse=True,
                              key=lambda c: [int(number) for number in c.version.split(".")])
        name = "libcudnn_engines_precompiled.so.9"
        copy = machine.copy(newer, folder / "lib").take(older.folder / name, name)
        return Environment(first(copy), checks=[*DIAGNOSIS, CONVOLUTION])

    def shadowed(machine, _):
        other, own = machine.other_cudnn(), f"=={machine.own_cudnn().version}"
        return Environment(first(other.folder), {"image.cudnn": own},
                           words=[f"cuDNN {other.version} found, {own} promised", str(other.folder)])

    def preloaded(machine, _):
        other = machine.other_cudnn()
        return Environment({"LD_PRELOAD": str(other.folder / "libcudnn.so.9")})

    def flavour(machine, _):
        other = machine.foreign_cudnn()
        return Environment(first(other.folder), words=[f"is built for CUDA {other.cuda}"])

    return [
        image("ops_of_another_version", "mixed cuDNN versions", "cudnn-mixed-versions", replaced("libcudnn_ops.so.9")),
        image("graph_of_another_first", "mixed cuDNN versions", MIXED, parts_of_another("libcudnn_graph.so.9")),
        image("ops_and_cnn_of_another_first", "mixed cuDNN versions", MIXED, parts_of_another("libcudnn_ops.so.9", "libcudnn_cnn.so.9")),
        Row("engines_of_another_version", "mixed cuDNN versions",
            ("cudnn-no-plans", "cudnn-plans-failed", "cudnn-mixed-versions", "cudnn-sublibrary-unloadable"), "image", engines_of_another),
        image("another_version_shadows", "cuDNN outside the promise", "cudnn-outside-contract", shadowed),
        image("another_version_preloaded", "mixed cuDNN versions", (MIXED, "cudnn-mixed-versions"), preloaded),
        image("for_another_cuda_major", "cuDNN for another CUDA major", "cudnn-flavour-mismatch", flavour),
    ]


def toolkit_files():
    def spoiled(stem, spoil, *words):
        def make(machine, folder):
            name, path = machine.builtins() if stem == "builtins" else machine.toolkit_file(stem)
            copy = Copy(folder / "lib").take(path, name)
            spoil(copy, name)
            return Environment(first(copy), words=[name, *words])
        return make

    def empty(copy, name):
        copy.write(name, b"")

    def cut(copy, name):
        copy.cut(name)

    def another(machine, folder):
        # Under the name of one library the file of another.
        name, _ = machine.toolkit_file("libcublasLt")
        machine.toolkit_file("libcublas")
        copy = Copy(folder / "lib").write(name, machine.toolkit_file("libcudart")[1].read_bytes())
        return Environment(first(copy), words=[name])

    def not_cudart(machine, folder):
        name, _ = machine.toolkit_file("libcudart")
        copy = Copy(folder / "lib").write(name, machine.builtins()[1].read_bytes())
        return Environment(first(copy), words=[name, "has no symbol cudaRuntimeGetVersion"])

    def spoiled_product(machine, folder):
        machine.gpus()
        machine.toolkit_file("libcublasLt")
        source = (machine.sources / "fault_preload.c").read_text()
        return Environment({"LD_PRELOAD": machine.compile(folder, "product", source), "CUDNN_CI_FAULT": "product"},
                           {"image.allow_preload": ["*"]}, words=["float32: 1 of ", "first at row 0, column 0"])

    return [
        image("cudart_empty", "no CUDA runtime", "toolkit-runtime-missing", spoiled("libcudart", empty)),
        image("cudart_truncated", "truncated file", "toolkit-runtime-missing", spoiled("libcudart", cut, "is truncated")),
        image("cudart_is_another_library", "no CUDA runtime", "toolkit-runtime-missing", not_cudart),
        image("nvrtc_empty", "NVRTC or its builtins missing", "nvrtc-missing", spoiled("libnvrtc", empty)),
        image("nvrtc_truncated", "NVRTC or its builtins missing", "nvrtc-missing", spoiled("libnvrtc", cut, "is truncated")),
        image("nvrtc_builtins_empty", "NVRTC or its builtins missing", "nvrtc-compile-failed", spoiled("builtins", empty)),
        image("nvrtc_builtins_truncated", "NVRTC or its builtins missing", "nvrtc-compile-failed", spoiled("builtins", cut, "is truncated")),
        image("cublaslt_empty", "cuBLASLt missing or foreign", ("cublas-unusable", "cublaslt-unusable"), spoiled("libcublasLt", empty)),
        image("cublaslt_truncated", "cuBLASLt missing or foreign", ("cublas-unusable", "cublaslt-unusable"), spoiled("libcublasLt", cut, "is truncated")),
        image("cublaslt_is_another_library", "cuBLASLt missing or foreign", ("cublas-unusable", "cublaslt-unusable"), another),
        image("matrix_product_is_wrong", "matrix product that is wrong or fails", "cublas-gemm-failed", spoiled_product),
    ]


def rows():
    return [*visibility(), *promises(), *driver_libraries(), *processes(), *cudnn_files(), *cudnn_mixtures(), *toolkit_files()]
