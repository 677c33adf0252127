"""The command line of ci/site."""
import argparse
import json
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile

from bundling import archive, command

from . import choices, drawings, findings_pages, front, matrix_keys, pages, program_pages, sdk_pages

DESCRIPTION = """Makes the documentation site: README.md, harness/docs, the keys of a matrix from their schema, all findings and what leads
to them from knowledge/, the SDK's pages from its headers, the choices of algorithms from tests/gpu/choices; with --program all options and
checks, with --gallery pictures of report pages. A folder of files that a browser reads without a server and without a network; the search
works too. The navigation is the contents of harness/docs/README.md. A dead link is an error. The same commit gives the same bytes. Needs
`ci/deps site`."""
EPILOG = """Environment: SOURCE_DATE_EPOCH  the date of every file in the archive (default: the commit's)
Exit status: 0, or 2 when something is missing or a page is wrong"""
ASSETS = ["site.css", "iframe-worker.js", "lookup.js", "favicon.svg"]
EXTENSIONS = ["attr_list", "md_in_html", "sane_lists", "tables", "pymdownx.superfences", {"pymdownx.highlight": {"auto_title": False}},
              {"toc": {"permalink": True}}]
DESCRIPTION_OF_SITE = "cudnn-ci tests a CUDA container image before you push it."
# Where a word of an error message ends: at blanks and marks, but not within a name or a version. lunr parts what is asked for at each
# hyphen in any case, so the pages are parted there, too: the id of a finding is found.
SEPARATOR = r"[\s\-,:;!=\[\]()\"'`|<>/]+|\.(?!\d)"


def configuration(work, nav, version):
    """What mkdocs is told."""
    here = pathlib.Path(__file__).resolve().parent
    # Without the first one a page stays for ever as it was seen first.
    schemes = [{"media": f"(prefers-color-scheme{media})", "primary": "custom", "accent": "custom", **scheme,
                "toggle": {"icon": f"material/{icon}", "name": f"Switch to {other}"}}
               for media, scheme, icon, other in (("", {}, "brightness-auto", "light"), (": light", {"scheme": "default"}, "weather-sunny", "dark"),
                                                  (": dark", {"scheme": "slate"}, "weather-night", "what the system says"))]
    return {"site_name": f"cudnn-ci {version}", "site_description": DESCRIPTION_OF_SITE, "docs_dir": str(work / "pages"), "site_dir": str(work / "site"), "nav": nav, "strict": True,
            "theme": {"name": "material", "font": False, "palette": schemes, "icon": {"logo": "material/gate"}, "favicon": "assets/favicon.svg",
                      "features": ["navigation.tabs", "navigation.top", "navigation.footer", "search.highlight", "content.code.copy", "toc.follow"]},
            "plugins": [{"search": {"separator": SEPARATOR, "lang": "en"}}, "offline"], "hooks": [str(here / "hooks.py")],
            "markdown_extensions": EXTENSIONS, "extra_css": ["assets/site.css"], "extra_javascript": ["assets/lookup-data.js", "assets/lookup.js"],
            "extra": {"polyfills": ["assets/iframe-worker.js"], "homepage": "index.html", "generator": False},
            "validation": {"nav": {"omitted_files": "warn", "not_found": "warn", "absolute_links": "warn"},
                           "links": {"not_found": "warn", "anchors": "warn", "absolute_links": "warn", "unrecognized_links": "warn"}}}


def write_pages(root, folder, gallery=None, program=None):
    """The input of mkdocs; returns its nav. `gallery`: a folder that `ci/gallery draw` made. `program`: the cudnn-ci of an installed tree."""
    said = program_pages.written_by(program) if program else {}
    sources, made = {**pages.sources(root), **pages.of_gallery(gallery)}, {**pages.generated(root), **{name: program_pages.PLACES[name] for name in said}}
    places = {**sources, **made}
    findings = findings_pages.read(root)
    for source, place in places.items():
        target = folder / place
        target.parent.mkdir(parents=True, exist_ok=True)
        if pathlib.PurePosixPath(source).suffix in pages.PICTURES:
            shutil.copyfile(root / source, target)
            continue
        if source == pages.SCHEMA:
            text = matrix_keys.page_of((root / source).read_text(encoding="utf-8"))
        elif source.startswith(choices.FOLDER):
            text = choices.page_of((root / source).read_text(encoding="utf-8"))
        elif source in said:
            text = said[source]
        elif place in findings_pages.PAGES:
            text = findings_pages.PAGES[place](findings)
        elif source in made:
            text = sdk_pages.page_of(source, (root / source).read_text(encoding="utf-8"))
        else:
            text = pages.rewritten(root, source, places)
            text = drawings.with_drawings(root, text) if place == "design.md" else text
        target.write_text(text, encoding="utf-8")
    (folder / "assets").mkdir()
    for name in ASSETS:
        shutil.copyfile(pathlib.Path(__file__).parent / "assets" / name, folder / "assets" / name)
    (folder / "assets/lookup-data.js").write_text(front.data_of(findings), encoding="utf-8")
    return pages.navigation(root, places)


def prune(site):
    """Removes what a site without a server has no use for: pages with absolute addresses, dates, other languages, sources of scripts."""
    for name in ("404.html", "sitemap.xml", "sitemap.xml.gz"):
        (site / name).unlink()
    shutil.rmtree(site / "assets/javascripts/lunr")
    for path in [*site.rglob("*.map")]:
        path.unlink()


def add_licence(site, cache):
    """The theme's scripts and styles are within the site, so its licence is, too."""
    found = sorted(cache.glob("site/lib/python3*/site-packages/mkdocs_material-*.dist-info/licenses/LICENSE"))
    if not found:
        raise pages.Failure("the licence of mkdocs-material is missing: run ci/deps site")
    (site / "licenses").mkdir()
    shutil.copyfile(found[0], site / "licenses/mkdocs-material.txt")


def mkdocs(cache):
    """The program that ci/deps installed."""
    program = cache / "site/bin/mkdocs"
    if not program.is_file():
        raise pages.Failure(f"{program} is missing: run ci/deps site")
    return program


def make(root, out, gallery=None, program=None):
    """Makes the site in the folder `out`, which is made anew, and returns it. `gallery`, `program`: as write_pages has them."""
    cache = pathlib.Path(os.environ.get("XDG_CACHE_HOME") or pathlib.Path.home() / ".cache") / "cudnn-ci"
    generator = mkdocs(cache)
    if out.exists() and not (out / "index.html").is_file() and any(out.iterdir()):
        raise pages.Failure(f"{out} is no site that could be replaced")
    with tempfile.TemporaryDirectory() as folder:
        work = pathlib.Path(folder)
        nav = write_pages(root, work / "pages", gallery, program)
        config = work / "mkdocs.yml"
        config.write_text(json.dumps(configuration(work, nav, command.version_of(root))), encoding="utf-8")
        environment = {**os.environ, "SOURCE_DATE_EPOCH": str(command.date_of(root)), "PYTHONDONTWRITEBYTECODE": "1", "NO_MKDOCS_2_WARNING": "1"}
        # Not --quiet: a warning that is not printed is not counted either.
        run = subprocess.run([generator, "build", "--config-file", config], env=environment, stdout=subprocess.PIPE,
                             stderr=subprocess.STDOUT, text=True, check=False)
        if run.returncode != 0:
            said = "\n".join(line for line in run.stdout.splitlines() if line and not line.startswith(("INFO", "DEBUG")))
            raise pages.Failure(f"{said}\nmkdocs could not make the site")
        prune(work / "site")
        add_licence(work / "site", cache)
        shutil.rmtree(out, ignore_errors=True)
        out.parent.mkdir(parents=True, exist_ok=True)
        shutil.copytree(work / "site", out)
    return out


def main(words):
    parser = argparse.ArgumentParser(prog="ci/site", description=DESCRIPTION, epilog=EPILOG, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--out", metavar="DIR", default="build-site", help="output folder (default: %(default)s)")
    parser.add_argument("--archive", metavar="FILE", help="also write a .tar.gz of it, with one folder named like the file")
    parser.add_argument("--gallery", metavar="DIR", type=pathlib.Path, help="also show the pictures of report pages that `ci/gallery draw` put there")
    parser.add_argument("--program", metavar="FILE", type=pathlib.Path, help="the bin/cudnn-ci of an installed tree: also show all its options and checks")
    arguments = parser.parse_args(words)
    root = pathlib.Path(__file__).resolve().parent.parent.parent
    try:
        out = make(root, pathlib.Path(arguments.out), arguments.gallery, arguments.program)
        print(f"{out}/index.html")
        if arguments.archive:
            print(archive.write(out, pathlib.Path(arguments.archive), command.date_of(root)))
    except (pages.Failure, drawings.Failure, command.build.Failure, OSError, subprocess.CalledProcessError) as error:
        print(f"ci/site: {error}", file=sys.stderr)
        return 2
    return 0
