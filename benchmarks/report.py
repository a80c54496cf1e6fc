"""The tables of all benchmarks, in Markdown."""


def markdown(results, printed):
    """The tables, in Markdown."""
    return (
        "\n\n".join(
            [
                "# Benchmarks of retention",
                origin(results),
                *(f"## {name}\n\n{ratios(rows)}" for name, rows in results["pairs"].items() if rows),
                *(f"## {name}\n\n{text.strip()}" for name, text in printed.items()),
                f"## Where ours is slower than a peer\n\n{slower(results)}",
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
            f"| {row['title']} | {row['against']} | {row['ours_ns']:,.1f} ns | {row['theirs_ns']:,.1f} ns "
            f"| {row['times_faster']:.2f} ({' to '.join(f'{end:.2f}' for end in row['spread'])}) | {row['goal']} "
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
            lines.append(f"| {title} | {nanoseconds:,.1f} ns | {cells} |")
        parts.append("\n".join(lines))
        lacks = {row["against"]: row["lacks"] for row in rest if row["lacks"]}
        if lacks:
            parts.append("\n".join(f"- {peer} lacks: {what}" for peer, what in lacks.items()))
    return "\n\n".join(parts)


def slower(results):
    lines = [
        f"- {row['times_faster']:.2f} of the speed of {row['against']}: {row['title']} ({name})"
        for name, rows in results["pairs"].items()
        for row in rows
        if row["times_faster"] < 1
    ]
    for table in results["stdout"] or ():
        titles = {row["consumer"]: row["title"] for row in table["rows"]}
        lines += [
            f"- {pair['times_faster']:.2f} of the speed of {titles[pair['theirs']]}: "
            f"{titles[pair['ours']]}, {table['title']} (bench_stdout)"
            for pair in table["ratios"]
            if pair["times_faster"] < 1
        ]
    if results["scale"]:
        points = [point for point in results["scale"]["points"] if point["series"] == "chunk"]
        ours = {point["value"]: point["ns_per_push"] for point in points if point["ours"]}
        lines += [
            f"- {point['ns_per_push'] / ours[point['value']]:.2f} of the speed of {point['title']}: a push of "
            f"{point['value']} bytes (bench_scale)"
            for point in points
            if point["ns_per_push"] < ours[point["value"]]
        ]
    return "\n".join(lines) or "Nowhere."
