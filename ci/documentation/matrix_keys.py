"""The page of all keys of a matrix, of its JSON Schema."""
import json

HEAD = """# The keys of a matrix

Every key of `cudnn-ci/matrix/1`, from `matrix.schema.json`. An editor completes and checks a matrix with it: set `$schema` to its
path. [The format of a matrix](matrices.md) explains the keys with examples.

"""


def cell(text):
    return text.replace("|", "\\|").replace("\n", " ")


def code(value):
    text = value if isinstance(value, str) else json.dumps(value)
    return f"`{cell(text)}`"


def resolved(schema, root):
    """A schema with what its $ref says, the nearer words first; and the name of the definition, or ""."""
    name = schema.get("$ref", "").rpartition("/")[2]
    return {**root["$defs"].get(name, {}), **schema}, name


def type_of(schema, root):
    """What a value may be, in words. Objects with keys of their own are linked to."""
    schema, name = resolved(schema, root)
    if "const" in schema:
        return f"{code(json.dumps(schema['const']))}"
    if "enum" in schema:
        return ", ".join(code(json.dumps(value)) for value in schema["enum"])
    if "anyOf" in schema and "type" not in schema:
        return " or ".join(type_of(part, root) for part in schema["anyOf"])
    if "if" in schema:
        return " or ".join(type_of(schema[part], root) for part in ("else", "then"))
    if name == "range":
        return "[range](#range)"
    if schema.get("type") == "array":
        return f"list of {type_of(schema['items'], root)}" if schema.get("items") else "list"
    if "properties" in schema and name:
        return f"[{name}](#{name})"
    return schema.get("type", "any value")


def bounds_of(schema, root):
    """The limits of a value, [text]."""
    schema, _ = resolved(schema, root)
    found = []
    for key, words in (("minimum", "at least {}"), ("exclusiveMinimum", "above {}"), ("maximum", "at most {}"), ("minLength", "at least {} bytes"),
                       ("maxLength", "at most {} characters"), ("minItems", "at least {} items"), ("maxItems", "at most {} items"),
                       ("minProperties", "at least {} keys"), ("maxProperties", "at most {} keys")):
        if key in schema and (key, schema[key]) not in (("minLength", 1), ("minItems", 1), ("minProperties", 1)):
            found.append(words.format(f"{schema[key]:,}"))
        elif key in schema:
            found.append("not empty")
    return list(dict.fromkeys(found))


def meaning_of(schema, root):
    """The last column: what a key means, its default, bounds and examples."""
    merged, name = resolved(schema, root)
    own = schema.get("description") or ("" if name in ("range", "percent") else merged.get("description", ""))
    parts = [cell(own)]
    if "default" in schema:
        parts.append(f"Default: {code(schema['default'])}.")
    bounds = [] if name == "range" else bounds_of(schema, root)
    if bounds:
        parts.append(f"{', '.join(bounds).capitalize()}.")
    if "examples" in schema:
        parts.append("Example: " + ", ".join(code(json.dumps(value)) for value in schema["examples"]) + ".")
    return " ".join(part for part in parts if part)


def table_of(schema, root):
    """The keys of an object."""
    required = schema.get("required", [])
    lines = ["| key | value | meaning |", "|---|---|---|"]
    for key, value in schema["properties"].items():
        wanted = ", required" if key in required else ""
        lines.append(f"| `{key}` | {type_of(value, root)}{wanted} | {meaning_of(value, root)} |")
    return "\n".join(lines)


def page_of(text):
    """The Markdown of the page, of the schema's text."""
    root = json.loads(text)
    parts = [HEAD, "## At the top\n\n", root["description"], "\n\n", table_of(root, root), "\n"]
    parts.append("\nOne of " + " and ".join(f"`{key}`" for choice in root["anyOf"] for key in choice["required"]) + " is required.\n")
    for key, value in root["properties"].items():
        if "properties" in value:
            parts += [f"\n## {key}\n\n", value["description"], "\n\n", table_of(value, root), "\n"]
    for name, value in root["$defs"].items():
        if "properties" in value:
            parts += [f"\n## {name}\n\n", value["description"], "\n\n", table_of(value, root), "\n"]
    rule = root["$defs"]["range"]
    parts += ["\n## range\n\n", rule["description"], f" At most {rule['maxLength']} characters.\n"]
    return "".join(parts)
