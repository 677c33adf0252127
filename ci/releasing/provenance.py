"""The statement of where a release comes from: https://github.com/in-toto/attestation/blob/main/spec/v1/statement.md with
https://slsa.dev/spec/v1.1/provenance. It holds no time: the same commit gives the same bytes."""
import ast
import re
import subprocess

from . import artifacts

BUILD_TYPE = "urn:cudnn-ci:release:1"  # harness/docs/build.md describes it
BUILDER = "urn:cudnn-ci:builder:unidentified"
STATEMENT = "https://in-toto.io/Statement/v1"
PREDICATE = "https://slsa.dev/provenance/v1"
PACKAGES = ["libboost-dev", "nlohmann-json3-dev", "libcli11-dev", "libutfcpp-dev"]  # of Debian, compiled in


def python_pins(root):
    """What ci/deps pins for the compiler and the site: [(name, version, [sha256])]."""
    text = (root / "ci/deps").read_text(encoding="utf-8").replace("\\\n", "")
    found = []
    for group in ("zig", "site"):
        lists = re.findall(rf"^  install_tools {group} (.+)$", text, flags=re.MULTILINE)
        if len(lists) != 1:
            raise artifacts.Failure(f"ci/deps does not pin the group {group}")
        for name, version, hashes in re.findall(r'"?([A-Za-z][\w.-]*)==([\w.]+)((?: +--hash=sha256:[0-9a-f]{64})*)', lists[0]):
            found.append((name, version, re.findall(r"[0-9a-f]{64}", hashes)))
    return found


def header_pins(root):
    """What ci/cuda-headers pins: {requirement: sha256 of its headers}."""
    pins = {}
    for node in ast.parse((root / "ci/cuda-headers").read_text(encoding="utf-8")).body:
        if isinstance(node, ast.Assign) and node.targets[0].id in ("WHEELS", "FRONTEND"):
            pins.update(ast.literal_eval(node.value))
    if not pins:
        raise artifacts.Failure("ci/cuda-headers pins nothing")
    return pins


def debian_packages():
    """The packages whose headers are compiled in, as they are on this machine: [(name, version)]."""
    run = subprocess.run(["dpkg-query", "-W", "-f", "${Package} ${Version}\n", *PACKAGES], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL,
                         text=True, check=False)
    return sorted(tuple(line.split(" ", 1)) for line in run.stdout.splitlines() if len(line.split()) == 2)


def dependencies(root, source, built):
    """resolvedDependencies: the commit, and, of what this run built, the tools and libraries that decide its bytes."""
    found = [{"name": "source", "uri": source.uri, "digest": {"gitCommit": source.commit}}]
    if source.changed:
        found[0]["annotations"] = {"uncommittedChanges": True}
    for name, version, hashes in python_pins(root):
        if not built and name == "ziglang":
            continue
        entries = [{"digest": {"sha256": value}} for value in hashes] or [{}]
        found += [{"name": name, "uri": f"pkg:pypi/{name.lower()}@{version}", **entry} for entry in entries]
    if built:
        for requirement, digest in header_pins(root).items():
            name, version = requirement.split("==")
            found.append({"name": name, "uri": f"pkg:pypi/{name}@{version}", "annotations": {"sha256OfHeaders": digest}})
        found += [{"name": name, "uri": f"pkg:deb/debian/{name}@{version}"} for name, version in debian_packages()]
        for path in sorted((root / ".deps/tinyxml2").glob("tinyxml2.*")):
            found.append({"name": f"tinyxml2/{path.name}", "digest": {"sha256": artifacts.sha256(path)}})
    return found


def statement(root, folder, source, *, built, builder=BUILDER):
    """The statement about the files of a release in a folder. `built`: whether ci/bundle ran for it, or its artifacts were given."""
    subjects = [{"name": name, "digest": {"sha256": artifacts.sha256(folder / name)}} for name in artifacts.subjects(source.version)]
    return {"_type": STATEMENT, "subject": subjects, "predicateType": PREDICATE, "predicate": {
        "buildDefinition": {
            "buildType": BUILD_TYPE,
            "externalParameters": {"command": "ci/release", "version": source.version, "commit": source.commit,
                                   "architectures": artifacts.ARCHITECTURES, "artifacts": "built" if built else "given"},
            "internalParameters": {"SOURCE_DATE_EPOCH": source.date},
            "resolvedDependencies": dependencies(root, source, built)},
        "runDetails": {"builder": {"id": builder}}}}


def faults_of(value, version, digests):
    """What is wrong with a statement about files with these digests ({name: sha256}), [text]."""
    try:
        subjects = {entry["name"]: entry["digest"]["sha256"] for entry in value["subject"]}
        definition = value["predicate"]["buildDefinition"]
        commit = definition["resolvedDependencies"][0]["digest"]["gitCommit"]
        facts = [(value["_type"], STATEMENT), (value["predicateType"], PREDICATE), (definition["buildType"], BUILD_TYPE),
                 (definition["externalParameters"]["version"], version), (definition["externalParameters"]["commit"], commit),
                 (len(subjects), len(value["subject"])), (bool(value["predicate"]["runDetails"]["builder"]["id"]), True)]
    except (KeyError, TypeError, IndexError) as error:
        return [f"is no provenance of a release: {error!r}"]
    faults = [f"says {said!r} where {wanted!r} belongs" for said, wanted in facts if said != wanted]
    for name in sorted(set(subjects) | set(digests)):
        if subjects.get(name) != digests.get(name):
            faults.append(f"does not speak of {name} as it is" if name in subjects else f"does not speak of {name}")
    return faults
