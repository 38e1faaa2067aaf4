"""What a soak has found, as text."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

Json = dict[str, Any]
_SPARE = 5  # open files, but for the store's, that a daemon at rest may have more than a fresh one
# The store's: one connection that writes, and those that SQLAlchemy's pool has at most (5, and 10
# for a moment), of which SQLite may keep each file open until nobody has a lock on it; each has the
# database and its log, all of them together the log's index.
_OF_STORE = 2 * (1 + 5 + 10) + 1


def markdown(report: Mapping[str, Any]) -> str:
    """The report for `docs/`."""
    violations = report["violations"]
    lines = [
        f"Seed {report['seed']}, {report['seconds'] / 60:.0f} minutes: "
        f"**{report['jobs']} jobs, {sum(report['faults'].values())} faults, "
        f"{len(violations)} violations**.",
        "",
        *_table("jobs by kind", report["by_kind"]),
        *_table("what their scripts were to do", report["by_fate"]),
        *_table("how they ended", report["by_state"]),
        *_table("faults", report["faults"]),
        *_table("faults by place", report["faults_by_place"]),
        f"{report['attempts']} attempts ({report['more_than_one_attempt']} jobs had more than "
        f"one); {report['scripts_started']} scripts started; {report['submitted_twice']} jobs "
        f"submitted twice with one request id; {report['by_deed'].get('cancel', 0)} cancelled by "
        f"their users, {report['by_deed'].get('hold', 0)} held and released "
        f"({report['changes_refused']} such changes came too late and were refused). "
        f"{report['partly_started']} co-allocated jobs lost a component after their barrier had "
        f"opened (P3's documented limit); {report['end_unknown']} are FAILED as a fault hid how "
        "their component ended.",
        "",
        _left(report["left_after_seconds"]),
        "",
        *(_daemon(report["daemon"]) if "daemon" in report else _brokers(report["brokers"])),
    ]
    if violations:
        lines += ["", "Violations:", ""]
        lines += [f"- job {found['job']}: {found['what']}" for found in violations]
    return "\n".join(lines) + "\n"


def _left(seconds: float | None) -> str:
    if seconds is None:
        return "Something was left in a cluster after all was healed."
    return f"Nothing was left in any cluster {seconds:.1f} s after the last job's end."


def _table(title: str, counts: Mapping[str, int]) -> list[str]:
    return [
        f"| {title} | |",
        "|---|---|",
        *(f"| {name} | {count} |" for name, count in counts.items()),
        "",
    ]


def _brokers(brokers: Json) -> list[str]:
    return [
        f"{brokers['number']} brokers shared a PostgreSQL database: {brokers['terms']} terms, and "
        f"{brokers['turns']} times commands came from another broker than before."
    ]


def _daemon(daemon: Json) -> list[str]:
    lines = [
        f"The daemon had {daemon['lives']} lives that were sampled ({daemon['samples']} samples).",
        "",
        "| | age | memory, MB: first and last third, rise (95 %) | open files | flat |",
        "|---|---|---|---|---|",
    ]
    rows = [(f"life {life['life']}", life) for life in daemon["longest"]]
    for name, life in [*rows, ("all lives at the same age", daemon["same_age"])]:
        memory, files = life["memory"], life["files"]
        lines.append(
            f"| {name} | {life['from']:.0f} to {life['to']:.0f} s | {_trend(memory)} | "
            f"{_trend(files)} | {_flat(memory)} and {_flat(files)} |"
        )
    last, fresh = daemon["quiet"]["last"], daemon["quiet"]["fresh"]
    lines += [
        "",
        f"At rest, when all was over: the last daemon {_rest(last)}; one started anew on the same "
        f"store {_rest(fresh)}.",
    ]
    return lines


def _rest(quiet: Json) -> str:
    return f"{quiet['memory']:.1f} MB, {quiet['of_store']} open files of the store and " + (
        f"{quiet['others']} others"
    )


def _trend(trend: Json) -> str:
    if trend["rise"] is None:
        return "too few samples"
    low, high = trend["interval"]
    first, last = trend["first"], trend["last"]
    return f"{first:.1f} and {last:.1f}, {trend['rise']:+.1f} ({low:+.1f} to {high:+.1f})"


def _flat(trend: Json) -> str:
    return {True: "flat", False: "RISING", None: "unknown"}[trend["flat"]]


def flat(report: Mapping[str, Any]) -> bool:
    """Whether nothing that was long enough to tell is rising (of one broker: several change).

    Open files go up and down with what there is to do, so those of a daemon at rest count."""
    if (daemon := report.get("daemon")) is None:
        return True
    lines = [*daemon["longest"], daemon["same_age"]]
    last, fresh = daemon["quiet"]["last"], daemon["quiet"]["fresh"]
    closed = last["others"] <= fresh["others"] + _SPARE and last["of_store"] <= _OF_STORE
    return closed and all(line["memory"]["flat"] is not False for line in lines)
