"""The tables of all benchmarks, in Markdown."""

from collections import defaultdict

from benchmarks.measuring import binary, number


def markdown(results, printed):
    """The tables, in Markdown."""
    return (
        "\n\n".join(
            [
                "# Benchmarks of retention",
                origin(results),
                *(f"## {name}\n\n{ratios(rows)}" for name, rows in results["pairs"].items() if rows),
                *(f"## {name}\n\n{text.strip()}" for name, text in printed.items()),
                f"## Goals that are not met\n\n{unmet(results)}",
                f"## Where ours is slower than a peer, and how much of its speed it has\n\n{slower(results)}",
            ]
        )
        + "\n"
    )


def origin(results):
    machine, versions, commit = results["machine"], results["versions"], results["commit"]
    words = [
        f"{results['date']}, {machine['cpu']}, {machine['cores']} cores, {machine['memory'] / 2**30:.0f} GiB",
        f"{machine['os']}, load {machine['load']:.1f} at the beginning",
        f"{versions['python']}, retention {versions['retention']}",
        f"Cython {versions['cython'] or 'unknown'}, {versions['compiler'] or 'compiler unknown'}"
        + (f" `{' '.join(versions['flags'])}`" if versions["flags"] else ""),
        f"commit {commit['hash'][:12]}{', with changes' if commit['dirty'] else ''}" if commit else "no checkout",
    ]
    return "; ".join(words) + (". A quick run: not for figures." if results["quick"] else ".")


def ratios(rows):
    """What has a goal, one row each; of the rest a matrix: how many times as fast ours is as each peer."""
    parts = []
    with_goal = [row for row in rows if row["goal"]]
    if with_goal:
        lines = [
            "| ours | against | ours takes | theirs | times as fast (spread) | goal of time or speed | |",
            "|---|---|---:|---:|---:|---|---|",
        ]
        lines += [
            f"| {row['title']} | {row['against']} | {number(row['ours_ns'])} ns | {number(row['theirs_ns'])} ns "
            f"| {row['times_faster']:.2f} ({row['spread'][0]:.2f} to {row['spread'][1]:.2f}) | {row['goal']} "
            f"| {'met' if row['met'] else 'not met'} |"
            for row in with_goal
        ]
        parts.append("\n".join(lines))
    rest = [row for row in rows if not row["goal"]]
    if rest:
        peers = list(dict.fromkeys(row["against"] for row in rest))
        faster = {(row["title"], row["against"]): f"{row['times_faster']:.3g}" for row in rest}
        ours = {row["title"]: row["ours_ns"] for row in rest}
        lines = [f"| ours, times as fast as | takes | {' | '.join(peers)} |", f"|---|---:|{'---:|' * len(peers)}"]
        for title, nanoseconds in ours.items():
            cells = " | ".join(faster.get((title, peer), "") for peer in peers)
            lines.append(f"| {title} | {number(nanoseconds)} ns | {cells} |")
        parts.append("\n".join(lines))
        lacks = {row["against"]: row["lacks"] for row in rest if row["lacks"]}
        if lacks:
            parts.append("\n".join(f"- {peer} lacks: {what}" for peer, what in lacks.items()))
    return "\n\n".join(parts)


def unmet(results):
    lines = [
        f"- {row['title']}, against {row['against']}: {row['times_faster']:.2f} times as fast, {row['goal']} ({name})"
        for name, rows in results["pairs"].items()
        for row in rows
        if row["met"] is False
    ]
    for goal in (results["scale"] or {"goals": []})["goals"]:
        if not goal.get("time_met", True):
            lines.append(f"- {goal['title']}: {goal['time']:.2f} of the time per byte (bench_scale)")
        if not goal["memory_met"]:
            lines.append(f"- {goal['title']}: {goal['memory'] / 2**20:+.1f} MiB (bench_scale)")
    return "\n".join(lines) or "None."


def slower(results):
    """Of each of ours the peers that are faster, and how much of their speed it has."""
    behind = defaultdict(list)
    for name, rows in results["pairs"].items():
        for row in rows:
            # What has a goal is compared with a bound, often less than the same work.
            if row["goal"] is None:
                behind[row["title"], f"({name})"].append((row["times_faster"], row["against"]))
    for table in results["stdout"] or ():
        titles = {row["consumer"]: row["title"] for row in table["rows"]}
        for pair in table["ratios"]:
            where = f"with {table['title']} (bench_stdout)"
            behind[titles[pair["ours"]], where].append((pair["times_faster"], titles[pair["theirs"]]))
    for point in (results["scale"] or {"points": []})["points"]:
        # The floor keeps nothing.
        if point["series"] == "chunk" and not point["ours"] and point["who"] != "last":
            ours = next(
                other
                for other in results["scale"]["points"]
                if other["ours"] and (other["series"], other["value"]) == ("chunk", point["value"])
            )
            found = point["ns_per_push"] / ours["ns_per_push"], point["title"]
            behind[ours["title"], f"of a chunk of {binary(point['value'])} (bench_scale)"].append(found)
    lines = []
    for (ours, where), ratios in behind.items():
        # What is printed as 1.00 is not slower.
        words = [f"{ratio:.2f} of {peer}" for ratio, peer in sorted(ratios) if ratio < 0.995]
        if words:
            lines.append(f"- {ours} {where}: {'; '.join(words)}")
    return "\n".join(lines) or "Nowhere."
