"""An OCI image layout with nothing but the tool, for COPY --from, init containers and image volumes. Made without a container
engine: an image is a few JSON files that name each other by their SHA-256. manifest.json beside index.json is for `docker load`,
which before version 25 knows nothing else."""
import datetime
import gzip
import hashlib
import io
import json
import pathlib
import shutil
import tarfile

from . import archive

PLACE = "opt/cudnn-ci"  # in the image
PLATFORMS = {"x86_64": {"architecture": "amd64", "os": "linux"}, "aarch64": {"architecture": "arm64", "os": "linux"}}
TYPE = "application/vnd.oci.image."


class Layout:
    """A folder that is being filled: blobs by their digest."""

    def __init__(self, folder):
        shutil.rmtree(folder, ignore_errors=True)
        self.blobs = folder / "blobs/sha256"
        self.blobs.mkdir(parents=True)
        (folder / "oci-layout").write_text('{"imageLayoutVersion":"1.0.0"}')
        self.folder = folder

    def add(self, kind, content, **more):
        """Stores a blob; returns its descriptor."""
        digest = hashlib.sha256(content).hexdigest()
        (self.blobs / digest).write_bytes(content)
        return {"mediaType": TYPE + kind, "digest": f"sha256:{digest}", "size": len(content), **more}

    def add_json(self, kind, value, **more):
        return self.add(kind, json.dumps(value, sort_keys=True, separators=(",", ":")).encode(), **more)


def layer_of(tree, date):
    """The tree below PLACE as (compressed layer, digest of the uncompressed one)."""
    plain, packed = io.BytesIO(), io.BytesIO()
    with tarfile.open(fileobj=plain, mode="w", format=tarfile.USTAR_FORMAT) as tar:
        archive.add_tree(tar, tree, PLACE, date)
    with gzip.GzipFile("", "wb", 9, packed, mtime=0) as stream:
        stream.write(plain.getvalue())
    return packed.getvalue(), hashlib.sha256(plain.getvalue()).hexdigest()


def docker_entry(manifest, version, tags):
    """What manifest.json says of one image: the same blobs, under Docker's names."""
    place = lambda blob: "blobs/" + blob["digest"].replace(":", "/")
    return {"Config": place(manifest["config"]), "RepoTags": [f"cudnn-ci:{version}{tag}" for tag in tags],
            "Layers": [place(layer) for layer in manifest["layers"]]}


def write(trees, path, version, date):
    """Makes the tar file `path` of an OCI layout: one image per processor of `trees` ({"x86_64": folder}), under one index."""
    work = path.with_name(f".{path.name}.layout")
    layout = Layout(work)
    created = datetime.datetime.fromtimestamp(date, datetime.timezone.utc).strftime("%Y-%m-%dT%H:%M:%SZ")
    manifests, docker = [], []
    for arch, tree in sorted(trees.items()):
        layer, plain_digest = layer_of(tree, date)
        config = {**PLATFORMS[arch], "created": created, "rootfs": {"type": "layers", "diff_ids": [f"sha256:{plain_digest}"]},
                  "config": {"Entrypoint": [f"/{PLACE}/bin/cudnn-ci"], "User": "65534:65534", "WorkingDir": "/",
                             "Labels": {"org.opencontainers.image.title": "cudnn-ci", "org.opencontainers.image.version": version,
                                        "org.opencontainers.image.licenses": "MIT"}},
                  "history": [{"created": created, "created_by": "ci/bundle"}]}
        manifest = {"schemaVersion": 2, "mediaType": TYPE + "manifest.v1+json", "config": layout.add_json("config.v1+json", config),
                    "layers": [layout.add("layer.v1.tar+gzip", layer)]}
        # One tag is one image to Docker: the plain one is x86_64's, or that of the only one.
        plain = [""] if arch == "x86_64" or len(trees) == 1 else []
        docker.append(docker_entry(manifest, version, [*plain, "-" + PLATFORMS[arch]["architecture"]]))
        manifests.append(layout.add_json("manifest.v1+json", manifest, platform=PLATFORMS[arch]))
    index = {"schemaVersion": 2, "mediaType": TYPE + "index.v1+json", "manifests": manifests}
    named = layout.add_json("index.v1+json", index, annotations={"org.opencontainers.image.ref.name": f"cudnn-ci:{version}"})
    (layout.folder / "index.json").write_text(json.dumps({"schemaVersion": 2, "mediaType": TYPE + "index.v1+json", "manifests": [named]},
                                                        sort_keys=True, separators=(",", ":")))
    (layout.folder / "manifest.json").write_text(json.dumps(docker, sort_keys=True, separators=(",", ":")))
    fresh = path.with_name(f".{path.name}.part")
    with open(fresh, "wb") as stream, tarfile.open(fileobj=stream, mode="w", format=tarfile.USTAR_FORMAT) as tar:
        archive.add_tree(tar, layout.folder, "", date)
    shutil.rmtree(work)
    return pathlib.Path(fresh.rename(path))
