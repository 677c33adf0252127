"""A Python wheel around the single file of bundling/single.py: https://packaging.python.org/en/latest/specifications/binary-distribution-format/.
Its bytes depend on nothing but what is in it."""
import base64
import hashlib
import json
import pathlib
import re
import shutil
import subprocess
import time
import zipfile

from . import build

# The C library that worker and plugins need (build.GLIBC) is 2.17, which manylinux2014 is the older name of.
PLATFORM = "manylinux_2_17_{0}.manylinux2014_{0}"
METADATA = """Metadata-Version: 2.1
Name: cudnn-ci
Version: {version}
Summary: Is this image's CUDA stack fit for its GPU? A gate in front of a container registry.
License: MIT
Requires-Python: >=3.8
Classifier: Environment :: GPU :: NVIDIA CUDA
Classifier: Operating System :: POSIX :: Linux
Classifier: Programming Language :: Python :: 3
Classifier: Topic :: Software Development :: Testing
Description-Content-Type: text/markdown

{description}"""
WHEEL = "Wheel-Version: 1.0\nGenerator: ci/bundle\nRoot-Is-Purelib: false\n"
ENTRY_POINTS = """[console_scripts]
cudnn-ci-run = cudnn_ci:run_main

[pytest11]
cudnn-ci = cudnn_ci.pytest_plugin
"""
# Of the tree, beside what the single file carries: the SDK and the documents, without their pictures.
DATA = ["include", "lib", "share"]
PICTURES = ".webp"
LICENSES = ["LICENSE", "THIRD_PARTY_NOTICES"]


def sbom(version, notices, date):
    """SPDX 2.3 of what is inside, by the headings of THIRD_PARTY_NOTICES."""
    names = re.findall(r"^([^\n]+)\n-{3,}$", notices, flags=re.MULTILINE)

    def package(number, name, **more):
        return {"SPDXID": f"SPDXRef-{number}", "name": name, "downloadLocation": "NOASSERTION", "filesAnalyzed": False, **more}
    created = time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(date))
    packages = [package(0, "cudnn-ci", versionInfo=version, licenseDeclared="MIT"), *(package(i, name) for i, name in enumerate(names, 1))]
    contains = [{"spdxElementId": "SPDXRef-0", "relationshipType": "CONTAINS", "relatedSpdxElement": p["SPDXID"]} for p in packages[1:]]
    return json.dumps({"spdxVersion": "SPDX-2.3", "dataLicense": "CC0-1.0", "SPDXID": "SPDXRef-DOCUMENT", "name": f"cudnn-ci-{version}",
                       "documentNamespace": f"urn:cudnn-ci:{version}:{hashlib.sha256(notices.encode()).hexdigest()}",
                       "creationInfo": {"created": created, "creators": ["Tool: ci/bundle"]}, "packages": packages,
                       "relationships": [{"spdxElementId": "SPDXRef-DOCUMENT", "relationshipType": "DESCRIBES", "relatedSpdxElement": "SPDXRef-0"},
                                         *contains]}, indent=1) + "\n"


def record_line(name, content):
    digest = base64.urlsafe_b64encode(hashlib.sha256(content).digest()).rstrip(b"=").decode()
    return f"{name},sha256={digest},{len(content)}\n"


def files_of(tree, program, package, version, arch, date):
    """All entries but RECORD: {name: (content, whether it may be executed)}, in order."""
    info = f"cudnn_ci-{version}.dist-info"
    documents = tree / "share/doc/cudnn-ci"
    found = {f"cudnn_ci/{path.name}": (path.read_bytes(), False) for path in sorted(package.glob("*.py"))}
    for part in DATA:
        for path in sorted((tree / part).rglob("*")):
            if path.is_file() and path.suffix != PICTURES:
                found[f"cudnn_ci/data/{path.relative_to(tree).as_posix()}"] = (path.read_bytes(), False)
    found[f"cudnn_ci-{version}.data/scripts/cudnn-ci"] = (program.read_bytes(), True)
    tags = "".join(f"Tag: py3-none-{platform}\n" for platform in PLATFORM.format(arch).split("."))
    texts = {"METADATA": METADATA.format(version=version, description=(documents / "README.md").read_text(encoding="utf-8")),
             "WHEEL": WHEEL + tags, "entry_points.txt": ENTRY_POINTS,
             "sboms/cudnn-ci.spdx.json": sbom(version, (documents / "THIRD_PARTY_NOTICES").read_text(encoding="utf-8"), date)}
    for name in LICENSES:
        texts[f"licenses/{name}"] = (documents / name).read_text(encoding="utf-8")
    found.update({f"{info}/{name}": (text.encode(), False) for name, text in texts.items()})
    return found


def squeeze(path):
    """Deflates the entries once more, with more patience than zlib has: 3 % less to download."""
    program = shutil.which("advzip")
    if program is None:
        raise build.Failure("no advzip: run ci/deps bundle")
    subprocess.run([program, "--recompress", "--shrink-extra", "--quiet", path], check=True)


def write(tree, program, package, folder, version, arch, date):
    """Makes the wheel of the single file `program`, with the Python modules of `package` and the texts of the folder `tree`; returns
    its path."""
    path = pathlib.Path(folder) / f"cudnn_ci-{version}-py3-none-{PLATFORM.format(arch)}.whl"
    fresh = path.with_name(f".{path.name}.part")
    stamp = time.gmtime(max(date, 315532800))[:6]  # a zip file knows no year before 1980
    record = f"cudnn_ci-{version}.dist-info/RECORD"
    files = files_of(pathlib.Path(tree), pathlib.Path(program), pathlib.Path(package), version, arch, date)
    lines = "".join(record_line(name, content) for name, (content, _) in files.items()) + f"{record},,\n"
    files[record] = (lines.encode(), False)
    with zipfile.ZipFile(fresh, "w", zipfile.ZIP_DEFLATED, compresslevel=9) as wheel:
        for name, (content, executable) in files.items():
            entry = zipfile.ZipInfo(name, stamp)
            entry.create_system, entry.compress_type = 3, zipfile.ZIP_DEFLATED
            entry.external_attr = (0o100755 if executable else 0o100644) << 16
            wheel.writestr(entry, content, compresslevel=9)
    return fresh.rename(path)
