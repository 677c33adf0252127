"""Environments on a real GPU with nothing wrong, or nothing but what deserves a warning: the gate must be green in each.

Beside the diagnosis two convolutions run in each, so that green says that what the environment holds is usable.
"""
import os
import re

from broken_rows import DRIVER, FOREIGN_MACHINE
from environments import CONVOLUTION, DIAGNOSIS, Environment, Row, first
from machine import CUDART, Copy, Unavailable, mounts, resolve

HARMLESS = "int cudnn_ci_harmless(void) { return 0; }\n"
EMPTY = "/dev/null"


def usable(env=None, **more):
    return Environment(env or {}, **{"checks": [*DIAGNOSIS, CONVOLUTION], **more})


def sound(name, about, make, *warnings, without_gpu=False):
    return Row(name, about, warnings, "", make, without_gpu)


def variables(name, **values):
    return sound(name, "unusual variables", lambda m, _: m.gpus() and usable(values))


def installs():
    def beside_a_wheel(machine, _):
        cudnn, _ = machine.wheel()
        return usable(subjects={"system": "loader", "wheel": f"path:{cudnn.folder}"})

    def wheel_subject(machine, _):
        return usable(subjects={"wheel": f"path:{machine.wheel()[0].folder}"})

    def wheel_set(machine, _):
        folders = machine.wheel()[1]
        if not any(os.path.exists(f"{folder}/{CUDART[machine.cuda]}") for folder in folders):
            raise Unavailable("the packages bring no CUDA runtime of this major")
        return usable(first(":".join(folders)))

    def wheels_alone(machine, folder):
        environment = wheel_set(machine, folder)
        own, (_, cudart) = machine.own_cudnn().folder, machine.toolkit_file("libcudart")
        (folder / "empty").mkdir()
        hide = [f"mount --bind {folder}/empty {cudart.parent}"] if cudart.parent != own and "cuda" in str(cudart.parent) else []
        hide += [f"mount --bind {EMPTY} {path}" for path in sorted(own.glob("libcudnn*.so*")) if not path.is_symlink()]
        return usable(environment.env, before=mounts(*hide))

    def without_headers(machine, folder):
        # As a `runtime` image has it: libraries, and neither headers nor the names that only a linker needs.
        copy = machine.copy(machine.own_cudnn(), folder / "lib")
        for path in copy.folder.glob("*.so"):
            path.unlink()
        return usable(first(copy))

    def another_first(machine, _):
        return usable(first(machine.other_cudnn().folder))

    def another_unused(machine, folder):
        machine.copy(machine.other_cudnn(), folder / "opt" / "lib")
        return usable()

    def both_majors(machine, folder):
        other = next((major for major in CUDART if major != machine.cuda and resolve(CUDART[major])), 0)
        if not other:
            raise Unavailable("no runtime of a second CUDA major on the loader's path")
        return usable()

    def both_majors_first(machine):
        machine.gpus()
        if machine.cuda != 13:
            raise Unavailable("no CUDA 13 on the loader's path")
        folders, own = machine.cuda12_folders(), {machine.toolkit_file(stem)[1].parent for stem in ("libcudart", "libnvrtc")}
        return folders, first(":".join(map(str, [*folders, *sorted(own)])))

    def twelve_promised(machine, _):
        (runtime, nvrtc), env = both_majors_first(machine)
        # Of CUDA 12 there is neither cuBLAS nor cuDNN.
        return Environment(env, {"image.toolkit": ">=12.0 <13", "image.cudnn": None},
                           checks=[*DRIVER, "toolkit.runtime", "toolkit.nvrtc", "toolkit.launch"],
                           facts={"toolkit.version": r"12\.\d+", "toolkit.nvrtc.version": r"12\.\d+",
                                  "toolkit.runtime.versions": r".*\b13\..*",  # the other one is seen
                                  "toolkit.runtime.path": re.escape(os.path.realpath(runtime)) + "/.*",
                                  "toolkit.nvrtc.path": re.escape(os.path.realpath(nvrtc)) + "/.*"})

    def thirteen_promised(machine, _):
        _, env = both_majors_first(machine)
        return usable(env, facts={"toolkit.version": r"13\.\d+", "toolkit.nvrtc.version": r"13\.\d+",
                                  "toolkit.runtime.versions": r".*\b12\..*",
                                  "toolkit.runtime.path": re.escape(str(machine.toolkit_file("libcudart")[1])),
                                  "toolkit.nvrtc.path": re.escape(str(machine.toolkit_file("libnvrtc")[1]))})

    def jit_only(machine, folder):
        copy = machine.copy(machine.own_cudnn(), folder / "lib")
        for part in ("ops", "cnn", "adv", "heuristic", "engines_precompiled", "engines_tensor_ir", "ext"):
            copy.remove(f"libcudnn_{part}")
        return Environment(first(copy))

    def newer_driver(machine, _):
        machine.gpus()
        # An older toolkit of this driver's major, and what such an image promises.
        return usable(promise={"runner.driver": ">=525.60.13"})

    def lower_precision(machine, _):
        machine.gpus()
        every = {**CONVOLUTION, "axes": {"dtype": ["float32"], "math": ["default", "tensor", "fma"]}}
        return usable(checks=[*DIAGNOSIS, every])

    return [
        sound("as_it_is", "toolkit image", lambda m, _: usable(), without_gpu=True),
        sound("wheel_beside_a_system_install", "wheel beside a system install", beside_a_wheel),
        sound("wheel_as_subject", "wheel beside a system install", wheel_subject),
        sound("wheels_on_the_loader_path", "wheels on LD_LIBRARY_PATH", wheel_set),
        sound("wheels_without_a_system_install", "wheels alone", wheels_alone),
        sound("runtime_without_headers", "runtime image", without_headers),
        sound("another_cudnn_first", "installs that never meet", another_first),
        sound("another_cudnn_that_nobody_finds", "installs that never meet", another_unused),
        sound("two_cuda_majors", "two CUDA majors", both_majors),
        sound("cuda_12_promised_beside_13", "two CUDA majors", twelve_promised),
        sound("cuda_13_promised_beside_12", "two CUDA majors", thirteen_promised),
        sound("jit_only_cudnn", "JIT-only cuDNN", jit_only, "cudnn-jit-only", "cudnn-jit-completed"),
        sound("driver_newer_than_the_floor", "driver newer than the toolkit", newer_driver),
        sound("tf32_allowed_and_forbidden", "lower precision that was asked for", lower_precision),
    ]


def cudnn_in_use():
    def handles(check):
        many = {"check": check, "params": {"handles": 200, "threads": 16}, "timeout_s": 300}
        return lambda m, _: m.gpus() and Environment(checks=[*DIAGNOSIS[:-1], many])

    def without_memory(left):
        taken = {"check": "cudnn.init_pressure", "params": {"leave_mib": left}}
        return lambda m, _: m.gpus() and usable(checks=[*DIAGNOSIS, taken, CONVOLUTION], arguments=["--disturb"])

    return [
        sound("many_handles_and_threads", "many handles", handles("cudnn.init")),
        sound("handles_on_all_gpus", "many handles", handles("cudnn.init_all")),
        *[sound(f"device_memory_taken_but_{left}_mib", "hardly any device memory", without_memory(left)) for left in (0, 32, 128, 300)],
    ]


def loader_path():
    def foreign_first(machine, folder):
        # Whatever is built for another machine, the loader passes over.
        copy = Copy(folder / "lib")
        main = "libcudnn.so.9"
        for name, path in (machine.toolkit_file("libcudart"), machine.builtins(), (main, machine.own_cudnn().folder / main),
                           ("libcuda.so.1", machine.stub())):
            copy.write(name, path.read_bytes()).patch(name, *FOREIGN_MACHINE)
        return usable(first(copy))

    # Over the host's: in a folder in front of it, it would be the image's.
    def nvml_damaged(machine, folder):
        machine.gpus()
        copy = Copy(folder / "lib").write("libnvidia-ml.so.1", b"x" * 4096)
        return f"mount --bind {copy}/libnvidia-ml.so.1 {machine.nvml}"

    def without_nvml(machine, folder):
        return usable({}, before=mounts(nvml_damaged(machine, folder)))

    def without_nvml_and_proc(machine, folder):
        damaged = nvml_damaged(machine, folder)
        (folder / "empty").touch()
        return usable({}, before=mounts(damaged, f"mount --bind {folder}/empty /proc/driver/nvidia/version"))

    def odd_entries(machine, folder):
        return usable(first(f"/nonexistent::{folder}:."))

    def stubs_folder(machine, _):
        folder = machine.stub().parent
        if (folder / "libcuda.so.1").exists():
            raise Unavailable("this folder of stubs holds libcuda.so.1")
        return usable(first(folder))

    return [
        sound("foreign_libraries_first", "harmless file on the loader's path", foreign_first),
        sound("no_nvml", "no NVML", without_nvml),
        sound("no_nvml_and_no_proc", "no NVML", without_nvml_and_proc),
        sound("odd_entries_on_the_loader_path", "harmless file on the loader's path", odd_entries, without_gpu=True),
        sound("stubs_folder_without_a_soname", "harmless file on the loader's path", stubs_folder),
    ]


def environment_variables():
    def one_gpu(form):
        return lambda m, _: usable({"CUDA_VISIBLE_DEVICES": form(m.gpus()[0])})

    def preloaded(machine, folder):
        return usable({"LD_PRELOAD": f"{machine.compile(folder, 'harmless', HARMLESS)} /nonexistent.so"})

    return [
        variables("unusual_variables", CUDA_MODULE_LOADING="EAGER", CUDA_DEVICE_ORDER="PCI_BUS_ID", NVIDIA_TF32_OVERRIDE="0",
                  CUDA_LAUNCH_BLOCKING="1", CUDA_CACHE_DISABLE="1", CUDNN_LOGLEVEL_DBG="1", GLIBC_TUNABLES="glibc.malloc.tcache_count=0",
                  HOME="/nonexistent", LC_ALL="tr_TR.UTF-8", CUDNN_LIB_CONFIG="FULL"),
        sound("visible_by_uuid", "unusual variables", one_gpu(lambda uuid: uuid)),
        sound("visible_by_the_head_of_a_uuid", "unusual variables", one_gpu(lambda uuid: uuid[:12])),
        variables("mps_pipe_nowhere", CUDA_MPS_PIPE_DIRECTORY="/nonexistent/mps"),
        variables("variables_of_the_container_runtime", NVIDIA_VISIBLE_DEVICES="none", NVIDIA_DRIVER_CAPABILITIES="utility"),
        sound("harmless_preload", "harmless file on the loader's path", preloaded),
    ]


def warned():
    def cublaslt_elsewhere(machine, folder):
        name, path = machine.toolkit_file("libcublasLt")
        machine.toolkit_file("libcublas")
        return usable(first(Copy(folder / "lib").take(path, name)))

    def old_header(machine, folder):
        copy = machine.copy(machine.own_cudnn(), folder / "lib")
        (folder / "include").mkdir()
        (folder / "include" / "cudnn_version.h").write_text("#define CUDNN_MAJOR 8\n#define CUDNN_MINOR 9\n#define CUDNN_PATCHLEVEL 7\n")
        return usable(first(copy))

    def old_metadata(machine, folder):
        (folder / "site-packages" / "nvidia_cudnn_cu13-9.1.0.70.dist-info").mkdir(parents=True)
        return usable(first(machine.copy(machine.own_cudnn(), folder / "site-packages" / "nvidia" / "cudnn" / "lib")))

    return [
        sound("image_requires_more", "image that asks for too much", lambda m, _: m.gpus() and usable({"NVIDIA_REQUIRE_CUDA": "cuda>=99.0"}),
              "image-requires-more-than-it-needs"),
        sound("visible_list_with_a_bad_end", "list of GPUs that is cut", lambda m, _: usable({"CUDA_VISIBLE_DEVICES": f"0,{len(m.gpus())}"}),
              "visible-devices-cut"),
        sound("cublaslt_of_another_folder", "cuBLASLt of another install", cublaslt_elsewhere, "cublas-mixed-directories", without_gpu=True),
        sound("headers_of_another_version", "headers or metadata of another version", old_header, "cudnn-header-mismatch", without_gpu=True),
        sound("package_metadata_of_another_version", "headers or metadata of another version", old_metadata, "cudnn-package-mismatch", without_gpu=True),
    ]


def rows():
    return [*installs(), *cudnn_in_use(), *loader_path(), *environment_variables(), *warned()]
