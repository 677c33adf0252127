"""The notes of a release: a section of CHANGELOG.md."""
import re

from .artifacts import Failure


def notes_of(changelog, version):
    """(the Markdown of the notes, whether the section bears the version). It is the version's own section, and the one of what is not
    released yet where there is none."""
    parts = re.split(r"^## \[([^\]]+)\]([^\n]*)\n", changelog, flags=re.MULTILINE)
    sections = {name: (rest.strip(" -"), text.strip()) for name, rest, text in zip(parts[1::3], parts[2::3], parts[3::3])}
    for name in (version, "Unreleased"):
        date, text = sections.get(name, ("", ""))
        if text:
            # Links to pages of the repository lead nowhere from the notes.
            text = re.sub(r"^\[[^\]]+\]: .*\n?", "", text, flags=re.MULTILINE).strip()
            text = re.sub(r"\[([^\]]+)\]\((?!https?://)[^)]*\)", r"\1", text)
            return f"# cudnn-ci {version}" + (f", {date}" if date else "") + f"\n\n{text}\n", name == version
    raise Failure(f"CHANGELOG.md has no section with text for {version}, and none for Unreleased")
