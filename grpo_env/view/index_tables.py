"""The SQL that makes the tables of the index, of constants and numbers only: names and paths are parameters."""

from __future__ import annotations

from collections.abc import Sequence

from grpo_env.equality import TOLERANCE
from grpo_env.rows.reader import LONGEST

PART_KEYS = ("value", "weight", "status", "answer", "gold", "kind", "rule", "explanation")
MAX_PROMPT = 2000  # characters kept of the last message of a prompt
MAX_NAME = 300  # characters kept of an id, an answer, a gold answer
NAME, WHOLE, NUMBER = "one_line({v})", "TRY_CAST({v} AS BIGINT)", "number({v})"
# An id is compared where there is no group, so that what is cut off must count.
LONG = f"CASE WHEN length({{v}}) > {MAX_NAME} THEN left({{v}}, {MAX_NAME}) || md5({{v}}) ELSE {{v}} END"
CHAT = "starts_with({v}, '[{{\"role\":') AND json_valid({v})"  # a list, or JSON in a Parquet column of texts
LAST = f"left(CASE WHEN {CHAT} THEN json_extract_string({{v}}, '$[#-1].content') ELSE {{v}} END, {MAX_PROMPT})"
# The columns of a row: the key of the score row, and the SQL that makes them of its text.
COLUMNS = {
    "id": ("id", LONG),
    "completion": ("completion", WHOLE),
    "row_group": ("group", "{v}"),
    "task": ("task", NAME),
    "metric": ("metric", NAME),
    "step": ("step", WHOLE),
    "reward": ("total", NUMBER),
    "status": ("status", NAME),
    "finish": ("finish_reason", NAME),
    "tokens": ("num_tokens", WHOLE),
    "seconds": ("seconds", NUMBER),
    "label": ("label", "TRY_CAST({v} AS BOOLEAN)"),
    "given_advantage": ("advantage", NUMBER),
    "characters": ("text", "length({v})"),
    "text": ("text", "{v}"),
    "prompt": ("prompt", LAST),
    "line": ("line", WHOLE),
}
MACROS = (
    # Values of filters, which forms send with other line ends and pages show without invisible characters.
    f"CREATE OR REPLACE MACRO one_line(x) AS regexp_replace(left(x, {MAX_NAME}), '[\\s\\p{{C}}]+', ' ', 'g')",
    "CREATE OR REPLACE MACRO number(x) AS CASE WHEN isfinite(TRY_CAST(x AS DOUBLE)) THEN TRY_CAST(x AS DOUBLE) END",
    f"CREATE OR REPLACE MACRO same(a, b) AS abs(a - b) <= {TOLERANCE} * greatest(1, abs(a), abs(b))",
)


def row_paths(parts: Sequence[str]) -> list[str]:
    """The JSON pointers of everything that the index takes from a row, in the order of ``texts_sql``."""
    paths = [f"/{key}" for key, _ in COLUMNS.values()]
    for name in parts:
        pointer = "/parts/" + "/parts/".join(_escape(key) for key in name.split("."))
        paths += [f"{pointer}/{key}" for key in PART_KEYS]
    return paths


def _escape(key: str) -> str:
    return key.replace("~", "~0").replace("/", "~1")


def texts_sql(kind: str, parts: int, most: int | None) -> str:
    """Selects from files (``jsonl``, ``parquet``), of the first ``most`` rows: numbers, names, the text, the whole row.

    The parameters are ``files``, ``paths`` and ``leaves`` (the last segments of the names of the parts). The part of
    the metric gives ``verdict``, ``answer``, ``gold``, ``kind``, ``rule`` and ``explanation``.
    """
    json = {
        "jsonl": f"SELECT json FROM read_ndjson_objects($files, ignore_errors=true, maximum_object_size={LONGEST + 1})",
        "parquet": "SELECT to_json(rows) AS json FROM read_parquet($files, union_by_name=true) AS rows",
    }[kind]
    json += f" LIMIT {most}" if most else ""
    first = len(COLUMNS) + 1  # lists begin at 1
    at = {column: f"v[{place}]" for place, column in enumerate(COLUMNS, start=1)}
    columns = ["row_number() OVER () - 1 AS n", "keys", "row"]
    columns += [f"{sql.format(v=at[column])} AS {column}" for column, (_, sql) in COLUMNS.items()]
    metric = f"v[{first} + {len(PART_KEYS)} * (list_position($leaves, {at['metric']}) - 1) + {{}}]"
    columns.append(f"number({metric.format(0)}) AS verdict")
    for key in ("answer", "gold", "kind", "rule", "explanation"):
        text = metric.format(PART_KEYS.index(key))
        kept = f"left({text}, {MAX_NAME})" if key in ("answer", "gold") else f"one_line({text})"
        columns.append(f"nullif({kept}, '') AS {key}")
    statuses = [at["status"]]
    for part in range(parts):
        start = first + part * len(PART_KEYS)
        value, weight = f"number(v[{start}])", f"coalesce(number(v[{start + 1}]), 0)"
        columns += [f"{value} AS p{part}", f"{value} * {weight} AS w{part}"]
        statuses.append(f"coalesce(v[{start + 2}], CASE WHEN {value} IS NOT NULL THEN 'scored' END)")
    columns.append(f"list_distinct([{', '.join(statuses)}]) AS statuses")
    taken = "json_extract_string(json, $paths) AS v, json_keys(json, '/parts') AS keys, json::VARCHAR AS row"
    extracted = f"SELECT {taken} FROM ({json})"
    return f"SELECT {', '.join(columns)} FROM ({extracted})"


def rows_sql(tag: str, parts: Sequence[str]) -> str:
    """Selects the rows without text but with their group's number ``g``, ``size`` and ``signal``.

    Adjacent rows with the same name are a group; ``signal`` is its kind, of ``results.report.groups``. ``advantage`` is
    that of the file, otherwise GRPO's with default settings.
    """
    changed = "row_group IS DISTINCT FROM lag(row_group) OVER w OR step IS DISTINCT FROM lag(step) OVER w"
    rows = f"SELECT * EXCLUDE (text, prompt, row, keys) REPLACE (coalesce(row_group, id) AS row_group) FROM texts_{tag}"
    marked = f"SELECT *, ({changed})::BIGINT AS begins FROM ({rows}) WINDOW w AS (ORDER BY n)"
    numbered = f"SELECT * EXCLUDE begins, sum(begins) OVER (ORDER BY n)::BIGINT AS g FROM ({marked})"
    scored = "FILTER (WHERE reward IS NOT NULL)"
    hidden = ["min(verdict) IS NULL", "NOT same(min(verdict), max(verdict))"]
    top = [place for place, name in enumerate(parts) if "." not in name]
    hidden += [f"NOT same(min(w{part}) {scored}, max(w{part}) {scored})" for part in top]
    signal = (
        "CASE WHEN count(*) = 1 THEN 'single' WHEN count(reward) < 2 THEN 'masked signal' "
        "WHEN NOT same(min(reward), max(reward)) THEN 'mixed' "
        f"WHEN coalesce({' OR '.join(f'coalesce({test}, false)' for test in hidden)}, false) THEN 'masked signal' "
        "WHEN min(verdict) >= 1 THEN 'all correct' ELSE 'all wrong' END"
    ).replace("(verdict)", f"(verdict) {scored}")
    moments = "avg(reward) AS mean, min(reward) AS low, max(reward) AS high, stddev_samp(reward) AS std"
    groups = f"SELECT g, count(*) AS size, {signal} AS signal, {moments} FROM numbered GROUP BY g"
    advantage = "coalesce(given_advantage, CASE WHEN same(low, high) THEN 0 * reward ELSE (reward - mean) / std END)"
    return (
        f"WITH numbered AS ({numbered}), groups AS ({groups}) "
        f"SELECT numbered.* EXCLUDE (row_group, given_advantage), size, signal, {advantage} AS advantage "
        "FROM numbered JOIN groups USING (g) ORDER BY n"
    )
