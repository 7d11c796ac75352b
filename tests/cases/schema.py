"""The part of JSON Schema 2020-12 that docs/estimate.schema.json uses, with no package needed."""

TYPES = {
    "object": lambda v: isinstance(v, dict),
    "array": lambda v: isinstance(v, list),
    "string": lambda v: isinstance(v, str),
    "boolean": lambda v: isinstance(v, bool),
    "null": lambda v: v is None,
    "integer": lambda v: isinstance(v, int) and not isinstance(v, bool),
    "number": lambda v: isinstance(v, (int, float)) and not isinstance(v, bool),
}
KNOWN = {"$schema", "$id", "$defs", "$ref", "title", "description", "type", "enum", "const", "required", "properties",
         "additionalProperties", "items", "minimum", "minItems"}


def violations(value, schema, root=None, path="$"):
    """What of `value` breaks `schema`, one sentence each."""
    root = root or schema
    unknown = set(schema) - KNOWN
    if unknown:
        raise ValueError(f"{path}: the schema uses {sorted(unknown)}, which this checker does not know")
    if "$ref" in schema:
        return violations(value, resolve(schema["$ref"], root), root, path)
    wanted = schema.get("type")
    if wanted and not any(TYPES[t](value) for t in ([wanted] if isinstance(wanted, str) else wanted)):
        return [f"{path}: {value!r} is not {wanted}"]
    return scalar(value, schema, path) + members(value, schema, root, path) + elements(value, schema, root, path)


def resolve(ref, root):
    node = root
    for part in ref.removeprefix("#/").split("/"):
        node = node[part]
    return node


def scalar(value, schema, path):
    out = []
    if "enum" in schema and value not in schema["enum"]:
        out.append(f"{path}: {value!r} is none of {schema['enum']}")
    if "const" in schema and value != schema["const"]:
        out.append(f"{path}: {value!r} is not {schema['const']!r}")
    if "minimum" in schema and TYPES["number"](value) and value < schema["minimum"]:
        out.append(f"{path}: {value} is below {schema['minimum']}")
    return out


def members(value, schema, root, path):
    if not isinstance(value, dict):
        return []
    out = [f"{path}: '{key}' is missing" for key in schema.get("required", []) if key not in value]
    properties = schema.get("properties", {})
    others = schema.get("additionalProperties", True)
    for key, child in value.items():
        if key in properties:
            out += violations(child, properties[key], root, f"{path}.{key}")
        elif others is False:
            out.append(f"{path}: '{key}' is not in the schema")
        elif isinstance(others, dict):
            out += violations(child, others, root, f"{path}.{key}")
    return out


def elements(value, schema, root, path):
    if not isinstance(value, list):
        return []
    least = schema.get("minItems", 0)
    if len(value) < least:
        return [f"{path}: has {len(value)} elements, not at least {least}"]
    if "items" not in schema:
        return []
    return [v for i, child in enumerate(value) for v in violations(child, schema["items"], root, f"{path}[{i}]")]
