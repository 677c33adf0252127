"""Compiles the tree for another processor and another C library, with zig, and installs it into a folder."""
import os
import pathlib
import platform
import shlex
import shutil
import subprocess
import sys

# What is loaded into the image's processes needs the image's glibc: this one or a later one. The harness loads nothing and
# is linked statically.
GLIBC = "2.17"
# What is downloaded for every job is small. plugins/CMakeLists.txt names what is compiled for speed all the same.
SMALL = "-Os -flto -ffunction-sections -fdata-sections"
LINKED_SMALL = "-flto -Wl,--gc-sections"
TARGETS = {"static": "{arch}-linux-musl", "loaded": "{arch}-linux-gnu." + GLIBC}
WRAPPERS = {"zig-cc": "cc -target {target}", "zig-c++": "c++ -target {target}", "zig-ar": "ar", "zig-ranlib": "ranlib"}


class Failure(Exception):
    """The message for the user."""


def say(line):
    print(f"ci/bundle: {line}", file=sys.stderr, flush=True)


def run(words, log, **how):
    """Runs a command; its output goes into the file `log`, whose end is shown when the command fails."""
    with open(log, "ab") as stream:
        if subprocess.run(words, stdout=stream, stderr=subprocess.STDOUT, check=False, **how).returncode == 0:
            return
    tail = "\n".join(pathlib.Path(log).read_text(errors="replace").splitlines()[-30:])
    raise Failure(f"{tail}\nfailed: {shlex.join(map(str, words))} (whole log: {log})")


def write_wrappers(folder, zig, target):
    """zig as CMake wants a compiler: one word, known by its name. By rename, and only when changed: ccache looks at the time."""
    folder.mkdir(parents=True, exist_ok=True)
    for name, words in WRAPPERS.items():
        # zig says so of every option that its own libraries make superfluous (-static-libstdc++).
        quiet = " -Wno-unused-command-line-argument" if "{target}" in words else ""
        text = f'#!/bin/sh\nexec {shlex.quote(str(zig))} {words.format(target=target)}{quiet} "$@"\n'
        path = folder / name
        if path.is_file() and path.read_text() == text:
            continue
        fresh = folder / f".{name}.{os.getpid()}"
        fresh.write_text(text)
        fresh.chmod(0o755)
        fresh.rename(path)


def compile_part(part, arch, *, root, work, zig, cache, headers, log, jobs):
    """Configures and builds one part ("static": the harness, "loaded": worker and plugins); returns its build folder."""
    # The harness writes its manual page itself: that of this machine for the others.
    manual_by = ""
    if part == "static" and arch != platform.machine():
        manual_by = compile_part(part, platform.machine(), root=root, work=work, zig=zig, cache=cache, headers=headers, log=log,
                                 jobs=jobs) / "stage/bin/cudnn-ci"
    target = TARGETS[part].format(arch=arch)
    wrappers = cache / "zig-wrappers" / target
    write_wrappers(wrappers, zig, target)
    # The caller's flags must not decide what comes out, nor a base folder of ccache, which makes the paths in __FILE__ relative.
    environment = {name: value for name, value in os.environ.items() if name not in ("CFLAGS", "CXXFLAGS", "CPPFLAGS", "LDFLAGS")}
    environment |= {"ZIG_GLOBAL_CACHE_DIR": str(cache / "zig-cache"), "ZIG_LOCAL_CACHE_DIR": str(cache / "zig-cache"),
                    "CCACHE_COMPILERTYPE": "clang", "CCACHE_BASEDIR": ""}
    # Where the sources lie must not show in what is compiled from them.
    places = [shlex.quote(f"-ffile-prefix-map={folder}={name}") for folder, name in ((root, "."), (work, "build"))]
    flags = " ".join([SMALL, "-g0 -DNDEBUG", *places])
    folder = work / f"{arch}-{part}"
    configure = ["cmake", "-S", root, "-B", folder, "-G", "Ninja", f"-DCMAKE_TOOLCHAIN_FILE={root}/ci/bundling/zig.cmake",
                 f"-DCUDNN_CI_ZIG_FOLDER={wrappers}", f"-DCUDNN_CI_ZIG_ARCH={arch}", "-DCMAKE_BUILD_TYPE=Release",
                 f"-DCMAKE_C_FLAGS_RELEASE={flags}", f"-DCMAKE_CXX_FLAGS_RELEASE={flags}", "-DCUDNN_CI_BUILD_TESTS=OFF",
                 f"-DCUDNN_CI_BUILD_HARNESS={'ON' if part == 'static' else 'OFF'}", f"-DCMAKE_EXE_LINKER_FLAGS=-s -pie {LINKED_SMALL}",
                 f"-DCMAKE_MODULE_LINKER_FLAGS=-s {LINKED_SMALL}",
                 f"-DCUDNN_CI_MANUAL_BY={manual_by}",
                 f"-DCUDNN_CI_HEADERS_DIR={headers['libraries']}", f"-DCUDNN_CI_CUDA_INCLUDE_DIR={headers['cuda']}",
                 f"-DCUDNN_CI_CUDNN_INCLUDE_DIR={headers['cuda']}", f"-DCUDNN_CI_FRONTEND_INCLUDE_DIR={headers['frontend']}"]
    if shutil.which("ccache"):
        configure += ["-DCMAKE_C_COMPILER_LAUNCHER=ccache", "-DCMAKE_CXX_COMPILER_LAUNCHER=ccache"]
    run(configure, log, env=environment)
    run(["cmake", "--build", folder, "--parallel", str(jobs), *(["--target", "cudnn-ci-manual"] if part == "static" else [])], log,
        env=environment)
    return folder


def find_headers(work, cache):
    """Folders of headers without the system's own: {"libraries", "cuda", "frontend"}. Those of the libraries are links into /usr/include."""
    libraries = work / "headers"
    shutil.rmtree(libraries, ignore_errors=True)
    libraries.mkdir()
    for name in ["nlohmann", "CLI", "utf8", "utf8.h", "boost"]:
        source = pathlib.Path("/usr/include") / name
        if not source.exists():
            raise Failure(f"{source} is missing: run ci/deps bundle")
        (libraries / name).symlink_to(source)
    cuda = cache / "cuda-headers/include"
    if not (cuda / "cudnn.h").is_file():
        raise Failure(f"{cuda}/cudnn.h is missing: run ci/deps bundle")
    frontend = cache / "cudnn-frontend/include"
    if not (frontend / "cudnn_frontend.h").is_file():
        raise Failure(f"{frontend}/cudnn_frontend.h is missing: run ci/deps bundle")
    return {"libraries": libraries, "cuda": cuda, "frontend": frontend}


def find_zig(cache):
    """The compiler that ci/deps installed."""
    found = sorted(cache.glob("zig/lib/python3*/site-packages/ziglang/zig"))
    if not found:
        raise Failure(f"no zig in {cache}/zig: run ci/deps bundle")
    return found[0]


def install(tree, arch, *, root, work, cache, log, jobs):
    """Builds both parts for a processor and installs them into the folder `tree`."""
    settings = {"root": root, "work": work, "zig": find_zig(cache), "cache": cache, "headers": find_headers(work, cache), "log": log,
                "jobs": jobs}
    say(f"{arch}: compiling worker and plugins (minutes the first time; {log} grows)")
    loaded = compile_part("loaded", arch, **settings)
    say(f"{arch}: compiling the harness")
    static = compile_part("static", arch, **settings)
    say(f"{arch}: installing")
    run(["cmake", "--install", loaded, "--prefix", tree], log)
    run(["cmake", "--install", static, "--prefix", tree, "--component", "harness"], log)
    install_licenses(tree / "share/doc/cudnn-ci/licenses", settings["zig"], settings["headers"]["frontend"])


def install_licenses(folder, zig, frontend):
    """The licences of what zig links in, as it brings them along, and that of cudnn-frontend. THIRD_PARTY_NOTICES names them."""
    folder.mkdir(parents=True)
    lib = zig.parent / "lib"
    for name, source in {"zig": zig.parent / "LICENSE", "libcxx": lib / "libcxx/LICENSE.TXT", "libcxxabi": lib / "libcxxabi/LICENSE.TXT",
                         "libunwind": lib / "libunwind/LICENSE.TXT", "musl": lib / "libc/musl/COPYRIGHT",
                         "glibc": lib / "libc/glibc/LICENSES",
                         "cudnn-frontend": frontend / "cudnn_frontend_LICENSE.txt"}.items():
        shutil.copyfile(source, folder / f"{name}.txt")
