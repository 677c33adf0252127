"""Wheels of the Python package index, and words that hide what this machine has of its own."""
import glob
import os
import subprocess
import sys
import tempfile
import zipfile


def unpack(requirement, site):
    """Adds what the wheel of pip's `requirement` holds to the folder `site`. Raises CalledProcessError with pip's words on stderr."""
    os.makedirs(site, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=os.path.dirname(site)) as download:
        subprocess.run([sys.executable, "-m", "pip", "download", "--quiet", "--no-deps", "--no-cache-dir", "--only-binary=:all:",
                        "--dest", download, requirement], check=True)
        [path] = glob.glob(download + "/*.whl")
        with zipfile.ZipFile(path) as wheel:
            wheel.extractall(site)


def alone():
    """Words before a command that hide this machine's CUDA from the loader; none where this user may not."""
    words = ["unshare", "--map-root-user", "--mount", "sh", "-c", "mount --bind /dev/null /etc/ld.so.cache && exec \"$@\"", "sh"]
    return words if subprocess.run([*words, "true"], check=False, capture_output=True).returncode == 0 else []
