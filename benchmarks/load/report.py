"""The load's figures as text."""

from __future__ import annotations

from typing import Any

Json = dict[str, Any]


def markdown(found: Json) -> str:
    """The report for `docs/`: the parts that were measured."""
    parts = {
        "burst": _burst,
        "waiting": _waiting,
        "lost": _lost,
        "slow": _slow,
        "users": _users,
        "history": _history,
    }
    return "\n".join(
        line for name, told in parts.items() if name in found for line in told(found[name])
    )


def _burst(found: Json) -> list[str]:
    alone, together, command = found["alone"], found["together"], found["by_command"]
    return [
        f"### {together['submissions']} submissions from {found['clients']} clients at once",
        "",
        f"| durable submissions | one client alone | {found['clients']} at once | ratio |",
        "|---|---|---|---|",
        _row("a second", alone["a_second"], together["a_second"]),
        _row("median, s", alone["median"], together["median"]),
        _row("99 of 100 below, s", alone["p99"], together["p99"]),
        "",
        f"{command['submissions']} more by `metabroker submit` at the same time: median "
        f"{command['median']:.2f} s, 99 of 100 below {command['p99']:.2f} s. The daemon takes "
        f"{1000 * found['cpu_a_submission']:.2f} ms of processor time a submission; its memory "
        f"went from {found['memory']['before']:.0f} to {found['memory']['after']:.0f} MB. "
        f"{_whole(found)} {found['twice']} came twice with one request id, by two clients: "
        f"{found['two_requests_one_job']} request ids share a job and "
        f"{found['jobs_nobody_asked_for']} jobs were made twice. "
        f"{together['failed']} submissions failed.",
        "",
    ]


def _waiting(found: Json) -> list[str]:
    few, many = found["few"], found["many"]
    asked = ("submit", "show", "hold", "cancel", "clusters", "queue_of_50", "queue_of_all")
    return [
        f"### {many['waiting']} waiting jobs",
        "",
        f"| median, s (99 of 100 below) | {few['waiting']} waiting | {many['waiting']} waiting "
        "| ratio |",
        "|---|---|---|---|",
        *(
            f"| {what.replace('_', ' ')} | {few[what]['median']:.4f} ({few[what]['p99']:.4f}) | "
            f"{many[what]['median']:.4f} ({many[what]['p99']:.4f}) | "
            f"{many[what]['median'] / few[what]['median']:.2f} |"
            for what in asked
        ),
        _row("a pass of the scheduler, mean, ms", 1e3 * few["pass_mean"], 1e3 * many["pass_mean"]),
        _row("the longest turn of the core, s", few["longest_turn"], many["longest_turn"]),
        _row("memory, MB", few["memory"], many["memory"]),
        _row("the same, once all jobs were listed, MB", few["memory_after"], many["memory_after"]),
        _row("from start to serving, s", few["started_in"], many["started_in"]),
        "",
        f"Lost: {few['lost'] + many['lost']}.",
        "",
    ]


def _lost(found: Json) -> list[str]:
    few, many = found["few"], found["many"]
    lines = (
        ("one submission beside it, median, s", "submit_median"),
        ("99 of 100 below, s", "submit_p99"),
        ("the longest, s", "submit_longest"),
        ("the longest turn of the core, s", "longest_turn"),
        ("from the first that is moved to the last, s", "moved_in"),
        ("memory before, MB", "memory"),
        ("memory after, MB", "memory_after"),
        ("from start to serving, s", "started_in"),
    )
    return [
        "### A cluster lost that has very many jobs in its queue",
        "",
        f"| | {few['jobs']} jobs | {many['jobs']} jobs | ratio |",
        "|---|---|---|---|",
        *(_row(what, few[key], many[key]) for what, key in lines),
        "",
        f"Not moved: {few['left'] + many['left']}.",
        "",
    ]


def _slow(found: Json) -> list[str]:
    none, ten = found["none_slow"], found["ten_slow"]
    lines = (
        ("one submission, median, s", "submit_median"),
        ("one submission, 99 of 100 below, s", "submit_p99"),
        ("from submission to end in the other 40 clusters, median, s", "response_median"),
        ("the same, 99 of 100 below, s", "response_p99"),
        ("the same in the ten, median, s", "response_in_the_ten"),
    )
    return [
        f"### 50 clusters, 10 of them slow (each command {found['delay']:g} s more)",
        "",
        "| | none slow | ten slow | ratio |",
        "|---|---|---|---|",
        *(_row(what, none[key], ten[key]) for what, key in lines),
        "",
        f"{ten['completed']} jobs COMPLETED, {ten['lost']} lost.",
        "",
    ]


def _users(found: Json) -> list[str]:
    submit = found["submit"]
    return [
        f"### {found['users']} users",
        "",
        f"{submit['submissions']} submissions were acknowledged over TLS, each over a connection "
        f"of its own by a token of its user: {submit['a_second']:.0f} a second (the limits of "
        f"each user among them), median {submit['median']:.3f} s, 99 of 100 below "
        f"{submit['p99']:.2f} s with the pauses that the daemon asks for. Tokens are made at "
        f"{found['tokens_a_second']:.0f} a second. The daemon's memory went from "
        f"{found['memory']['before']:.0f} to {found['memory']['after']:.0f} MB. "
        f"{_whole(found)}",
        "",
        f"{found['users_with_all_they_may']} users have exactly the jobs waiting that they may. "
        f"{found['beyond_the_limit']} submissions were beyond that limit; "
        f"{found['told_whose_limit']} of these answers name the user and the limit. "
        f"{found['too_often']} came too often; {found['told_when_to_come']} of these answers name "
        f"the user, the rate, and when to come again (`Retry-After`, {found['again_after']:.1f} s "
        "on average). For example:",
        "",
        *(f"    {text}" for text in found["for_example"]),
        "",
    ]


def _history(found: Json) -> list[str]:
    few, many = found["few"], found["many"]
    lines = (
        ("from start to serving, s", "started_in"),
        ("of it processor time, s", "start_cpu"),
        ("memory, MB", "memory"),
        ("the same, once all ended jobs were listed, MB", "memory_after"),
        ("`history --limit 100`, median, s", "history_of_100"),
        ("the same of one user of 50, median, s", "history_of_one_user"),
        ("`show` of an ended job, median, s", "show"),
    )
    part, every, removed = many["listed"], many["listed_all"], many["removed"]
    beside, alone = many["beside"], many["alone"]
    return [
        f"### {many['ended']} ended jobs, {many['waiting']} waiting",
        "",
        f"| | {few['ended']} ended | {many['ended']} ended | ratio |",
        "|---|---|---|---|",
        *(_row(what, few[key], many[key]) for what, key in lines),
        "",
        f"| | {part['jobs']} jobs | {every['jobs']} jobs | ratio |",
        "|---|---|---|---|",
        _row("listed page by page, s", part["seconds"], every["seconds"]),
        _row(
            "a thousand of them, ms",
            1e6 * part["seconds"] / part["jobs"],
            1e6 * every["seconds"] / every["jobs"],
        ),
        _row("longest answer of the core meanwhile, s", part["core"], every["core"]),
        "",
        f"| submissions of one client | alone | beside the removal of {removed} jobs | ratio |",
        "|---|---|---|---|",
        _row("median, s", alone["median"], beside["median"]),
        _row("99 of 100 below, s", alone["p99"], beside["p99"]),
        _row("longest answer of the core, s", many["core_alone"], many["core"]),
        "",
        f"That removal took {many['seconds']:.0f} s, each commit of the core less than "
        f"{many['commit_below']:g} s. The daemon's memory was {many['memory_then']:.0f} MB then.",
        "",
    ]


def _whole(found: Json) -> str:
    return f"Of {found['acknowledged']} acknowledged jobs {found['lost']} are lost."


def _row(what: str, first: float, second: float) -> str:
    return f"| {what} | {first:.3g} | {second:.3g} | {second / (first or 1.0):.2f} |"


def sound(found: Json) -> list[str]:
    """What must not be, part by part; nothing, if all is well."""
    wrong = []
    for name, part in found.items():
        halves = [part, *(part.get(key, {}) for key in ("few", "many", "none_slow", "ten_slow"))]
        lost = sum(half.get("lost", 0) for half in halves)
        double = part.get("two_requests_one_job", 0) + part.get("jobs_nobody_asked_for", 0)
        if lost or double:
            wrong.append(f"{name}: {lost} jobs lost, {double} doubled")
    for half in found.get("history", {}).values():
        if half["trouble"] or half["listed_all"]["jobs"] != half["ended"]:
            wrong.append(f"history: {half['trouble'] or 'not all ended jobs are listed'}")
    users = found.get("users")
    if users and users["told_whose_limit"] < users["beyond_the_limit"]:
        wrong.append("users: not every refusal names the user and the limit")
    if users and users["told_when_to_come"] < users["too_often"]:
        wrong.append("users: not every refusal tells when to come again")
    return wrong
