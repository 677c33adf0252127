#!/usr/bin/env python3
"""ci/cuda-headers against a small index of its own: what is read, what is refused, what is left behind."""
import hashlib
import http.server
import importlib.machinery
import importlib.util
import io
import json
import os
import pathlib
import re
import stat
import sys
import tempfile
import threading
import unittest
import zipfile

SCRIPT = pathlib.Path(__file__).resolve().parent.parent.parent / "ci/cuda-headers"
LOADER = importlib.machinery.SourceFileLoader("cuda_headers", str(SCRIPT))
SPEC = importlib.util.spec_from_loader("cuda_headers", LOADER)
cuda_headers = importlib.util.module_from_spec(SPEC)
LOADER.exec_module(cuda_headers)

HEADERS = {"cuda.h": b"#define CUDA\n", "crt/inner.h": b"#define INNER\n", "nv/target": b"#define NV\n"}


def wheel():
    """Three headers, one of them without a suffix, what is none, and 8 MiB of library."""
    content = io.BytesIO()
    with zipfile.ZipFile(content, "w") as archive:
        for name, text in HEADERS.items():
            archive.writestr(f"nvidia/cuda/include/{name}", text)
        archive.writestr("nvidia/cuda/include/../../../evil.h", b"evil")
        archive.writestr("other/include/foreign.h", b"foreign")
        archive.writestr("nvidia/cuda/include/notes.txt", b"notes")
        archive.writestr("nvidia/cuda/include/cccl/cub.h", b"not asked for")
        archive.writestr("nvidia/cuda/lib/libcuda.so", os.urandom(8 << 20))
    return content.getvalue()


class Index(http.server.BaseHTTPRequestHandler):
    content, ranges, sent = b"", True, 0

    def do_HEAD(self):
        self.send_response(200)
        self.send_header("Content-Length", str(len(self.content)))
        self.end_headers()

    def do_GET(self):
        asked = re.fullmatch(r"bytes=(\d+)-(\d+)", self.headers.get("Range", ""))
        part = self.content[int(asked[1]):int(asked[2]) + 1] if asked and self.ranges else self.content
        self.send_response(206 if asked and self.ranges else 200)
        self.send_header("Content-Length", str(len(part)))
        self.end_headers()
        self.wfile.write(part)
        type(self).sent += len(part)

    def log_message(self, *_):
        pass


class CudaHeaders(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.dir = pathlib.Path(folder.name)
        Index.content, Index.ranges, Index.sent = wheel(), True, 0
        server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Index)
        threading.Thread(target=server.serve_forever, daemon=True).start()
        self.addCleanup(server.server_close)
        self.addCleanup(server.shutdown)
        (self.dir / "a-1-py3-none-any.whl").write_bytes(Index.content)
        report = {"install": [{"download_info": {"url": f"http://127.0.0.1:{server.server_port}/a.whl"}}]}
        pip = self.dir / "pip"
        pip.write_text(f"""#!{sys.executable}
import shutil, sys
if sys.argv[1] == "install":
    print({json.dumps(report)!r})
else:
    shutil.copy({str(self.dir / "a-1-py3-none-any.whl")!r}, sys.argv[sys.argv.index("--dest") + 1])
""")
        pip.chmod(pip.stat().st_mode | stat.S_IXUSR)
        self.pip = [str(pip)]
        (self.dir / "down").mkdir()
        for name in ("http_proxy", "HTTP_PROXY"):
            os.environ.pop(name, None)

    def open(self):
        return cuda_headers.open_wheel(self.pip, "a==1", self.dir / "down")

    def test_reads_the_headers_and_little_else_of_a_wheel(self):
        self.assertEqual(cuda_headers.headers_of(self.open()), HEADERS)
        self.assertLess(Index.sent, 3 << 20)
        self.assertEqual(list((self.dir / "down").iterdir()), [])

    def test_takes_the_whole_wheel_from_an_index_that_gives_no_parts(self):
        Index.ranges = False
        self.assertEqual(cuda_headers.headers_of(self.open()), HEADERS)
        self.assertEqual([p.name for p in (self.dir / "down").iterdir()], ["a-1-py3-none-any.whl"])

    def test_digest_knows_names_and_contents(self):
        digest = cuda_headers.digest_of(HEADERS)
        self.assertEqual(digest, hashlib.sha256(b"crt/inner.h\0#define INNER\ncuda.h\0#define CUDA\nnv/target\0#define NV\n").hexdigest())
        self.assertNotEqual(digest, cuda_headers.digest_of({**HEADERS, "cuda.h": b"#define CUDB\n"}))

    def fetch(self, digest):
        """fetch() with this index in the place of the real one."""
        cuda_headers.WHEELS = {"a==1": digest}
        real = cuda_headers.open_wheel
        cuda_headers.open_wheel = lambda _, wheel_name, folder: real(self.pip, wheel_name, folder)
        cuda_headers.make_pip = lambda _: self.pip
        try:
            cuda_headers.fetch(self.dir / "cache/cuda-headers")
        finally:
            cuda_headers.open_wheel = real

    def test_lays_them_into_the_cache(self):
        self.fetch(cuda_headers.digest_of(HEADERS))
        found = {str(p.relative_to(self.dir / "cache/cuda-headers")) for p in (self.dir / "cache").rglob("*") if p.is_file()}
        self.assertEqual(found, {"include/cuda.h", "include/crt/inner.h", "include/nv/target", "wheels.json"})
        self.assertFalse((self.dir / "evil.h").exists())

    def test_refuses_other_headers_and_leaves_nothing(self):
        with self.assertRaisesRegex(ValueError, "the headers of a==1 have SHA-256"):
            self.fetch("0" * 64)
        self.assertEqual(list((self.dir / "cache").iterdir()), [])


if __name__ == "__main__":
    unittest.main()
