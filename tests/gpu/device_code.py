"""Libraries with code for different GPUs: what image.device_code says of each, and what really launches here."""
import pathlib
import subprocess
import sys

HERE = pathlib.Path(__file__).resolve().parent
# Name, what nvcc is asked for, more options.
LIBRARIES = [
    ("sass_of_the_card", ["arch=compute_90,code=sm_90"], []),
    ("sass_of_an_older_major", ["arch=compute_80,code=sm_80"], []),
    ("sass_of_a_newer_major", ["arch=compute_100,code=sm_100"], []),
    ("sass_of_two_majors", ["arch=compute_80,code=sm_80", "arch=compute_90,code=sm_90"], []),
    ("sass_of_the_card_alone", ["arch=compute_90a,code=sm_90a"], []),
    ("ptx_of_an_older_card", ["arch=compute_80,code=compute_80"], []),
    ("ptx_of_the_card", ["arch=compute_90,code=compute_90"], []),
    ("ptx_of_the_card_alone", ["arch=compute_90a,code=compute_90a"], []),
    ("ptx_of_a_newer_card", ["arch=compute_100,code=compute_100"], []),
    ("family_of_newer_cards", ["arch=compute_100f,code=sm_100f"], []),
    ("older_sass_and_ptx", ["arch=compute_80,code=sm_80", "arch=compute_80,code=compute_80"], []),
    ("compressed", ["arch=compute_75,code=sm_75", "arch=compute_90,code=sm_90"], ["-Xfatbin=-compress-all"]),
]


def compile_library(folder, name, codes, options):
    """The shared library, alone in a folder of its own."""
    (folder / name).mkdir(parents=True)
    library = folder / name / f"lib{name}.so"
    subprocess.run(["nvcc", "-shared", "-Xcompiler", "-fPIC", *[f"-gencode={code}" for code in codes], *options, "-o", library,
                    HERE / "device_code.cu"], check=True, stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
    return library


def launch(library):
    """0 where the kernel ran, else the number of CUDA's error."""
    script = "import ctypes, sys; sys.exit(min(ctypes.CDLL(sys.argv[1]).RunKernel() & 0xffff, 255))"
    return subprocess.run([sys.executable, "-c", script, library], check=False).returncode
