#!/usr/bin/env python3
"""What the tests ask of finished reports.

reports.py validate SCHEMAS FOLDER   report.json and every line of journal.jsonl against their schemas
reports.py facts SCHEMAS FILE            what `cudnn-ci facts --json` prints, against its schema
reports.py compare SCHEMAS FILE      what `cudnn-ci compare --json` printed against its schema
reports.py same FOLDER FOLDER...     junit.xml and report.json are equal, apart from what may differ (below)
Exit status: 0 yes, 1 no, with the first differences on stderr.
"""
import json
import pathlib
import re
import sys
import urllib.parse
import xml.etree.ElementTree as ElementTree

# What two runs of one plan with the same outcomes may differ in: times, host, run id, command line (and what is
# derived from it), measurements, workers, attempts with what their processes printed, places of attachments; and in
# what a merged one was merged from.
RUN_KEYS = {"id", "timestamp", "hostname", "seconds", "workers", "command_line", "container_command", "merged"}
CASE_KEYS = {"seconds", "measurements", "attempts", "attachments", "reproduce"}
XML_ATTRIBUTES = {"time", "timestamp", "hostname"}
XML_PROPERTIES = re.compile(r"run_id|attempts|measure\..*|judged\.shards")
# Lines of the verdict's body and of a case's output.
XML_LINES = re.compile(r"^ +excluded .*\n|^ +(reproduce|with docker|reports) .*|^ +shards +\d+: .*\n|^ {14}\S*/[^ \n]*$|^\d+ tries$|^\[\[ATTACHMENT.*|^--- output of try.*",
                       re.MULTILINE)


def validate(schemas, folder):
    import jsonschema
    problems = []

    def validator(name):
        schema = json.loads((schemas / name).read_text())
        jsonschema.Draft202012Validator.check_schema(schema)
        # Against a relative one, older readers find no "#/$defs/...".
        if not urllib.parse.urlsplit(schema["$id"]).scheme:
            problems.append(f"{name}: $id {schema['$id']} is not absolute")
        return jsonschema.Draft202012Validator(schema)

    report = json.loads((folder / "report.json").read_text())
    check = validator("report.schema.json")
    problems += [f"report.json: {e.json_path}: {e.message}" for e in check.iter_errors(report)]
    # A schema that takes everything would pass as well.
    for change in ({"verdict": "won"}, {"exit_code": 2}, {"cases": {}}, {"surprise": 1}, {"retry": "perhaps"}):
        if check.is_valid({**report, **change}):
            problems.append(f"report.schema.json takes {change}")
    check = validator("journal.schema.json")
    lines = (folder / "journal.jsonl").read_text().splitlines()
    for number, line in enumerate(lines, 1):
        event = json.loads(line)
        problems += [f"journal.jsonl:{number}: {e.message[:300]}" for e in check.iter_errors(event)]
        for change in ({"v": "journal/1"}, {"ev": "Surprise"}, {"surprise": 1}, {"h": "0"}):
            if check.is_valid({**event, **change}):
                problems.append(f"journal.schema.json takes {change} in {event['ev']}")
    return problems


def validate_facts(schemas, path):
    import jsonschema
    schema = json.loads((schemas / "facts.schema.json").read_text())
    jsonschema.Draft202012Validator.check_schema(schema)
    check = jsonschema.Draft202012Validator(schema)
    facts = json.loads(path.read_text())
    problems = [f"{path.name}: {e.json_path}: {e.message[:300]}" for e in check.iter_errors(facts)]
    for change in ({"schema": "cudnn-ci/facts/2"}, {"surprise": 1}, {"gpus": {}}, {"cudnn": [{}]}, {"unknown": [1]}, {"auto": {}}):
        if check.is_valid({**facts, **change}):
            problems.append(f"facts.schema.json takes {change}")
    return problems


def validate_comparison(schemas, file):
    import jsonschema
    check = jsonschema.Draft202012Validator(json.loads((schemas / "compare.schema.json").read_text()))
    comparison = json.loads(file.read_text())
    problems = [f"{file.name}: {e.json_path}: {e.message}" for e in check.iter_errors(comparison)]
    for change in ({"exit_code": 3}, {"worse": 1}, {"fixed": [{}]}, {"surprise": 1}):
        if check.is_valid({**comparison, **change}):
            problems.append(f"compare.schema.json takes {change}")
    return problems


def plain_report(folder):
    report = json.loads((folder / "report.json").read_text())
    report["run"] = {k: v for k, v in report["run"].items() if k not in RUN_KEYS}
    report["cases"] = [{k: v for k, v in case.items() if k not in CASE_KEYS} for case in report["cases"]]
    if report["root_cause"]:
        del report["root_cause"]["excluded"]  # says what passed on one host
        del report["root_cause"]["reproduce"], report["root_cause"]["reproduce_in_container"]
    return json.dumps(report, indent=1).splitlines()


def plain_junit(folder):
    root = ElementTree.parse(folder / "junit.xml").getroot()
    for element in root.iter():
        for name in XML_ATTRIBUTES & element.attrib.keys():
            del element.attrib[name]
        if element.text:
            element.text = XML_LINES.sub("", element.text)
        if element.tag == "properties":
            for item in [p for p in element if XML_PROPERTIES.fullmatch(p.get("name"))]:
                element.remove(item)
    return ElementTree.tostring(root, encoding="unicode").splitlines()


def same(folders):
    problems = []
    for plain in (plain_report, plain_junit):
        first = plain(folders[0])
        for folder in folders[1:]:
            other = plain(folder)
            problems += [f"{plain.__name__} {folder.name}:{i}: {a!r} is {b!r}"
                         for i, (a, b) in enumerate(zip(first, other), 1) if a != b][:5]
            if len(first) != len(other):
                problems.append(f"{plain.__name__} {folder.name}: {len(first)} lines are {len(other)}")
    return problems


def main():
    command, *paths = sys.argv[1:]
    folders = [pathlib.Path(p) for p in paths]
    if command == "same":
        problems = same(folders)
    else:
        problems = {"validate": validate, "facts": validate_facts, "compare": validate_comparison}[command](*folders)
    for problem in problems[:20]:
        print(problem, file=sys.stderr)
    return 1 if problems else 0


sys.exit(main())
