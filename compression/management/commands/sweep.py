"""Tries many policies over the sessions of a project and recommends one."""

from __future__ import annotations

import time
from argparse import ArgumentParser
from pathlib import Path
from typing import Any

from django.core.management.base import CommandError

from compression import sweep_execution, sweeps
from compression.command_line import EngineCommand, bad_input_exits_with_2
from compression.models import Run, Sweep, Trial
from compression.policy_keys import UnknownKey
from compression.runs import NothingToRun
from compression.sweep_document import sweep_document
from compression.sweep_space import InvalidSpace, read_space
from compression.sweep_starting import plan_of
from sessions.models import Project

SECONDS_BETWEEN_LOOKS = 0.5
MOST_NAMED = 6


class Command(EngineCommand):
    help = "Try many policies over a project's sessions: the combinations of a grid, or a search."

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("--project", required=True, metavar="SLUG")
        what = parser.add_mutually_exclusive_group(required=True)
        what.add_argument("--grid", type=Path, metavar="FILE", help="fields with their values, .toml or .json")
        what.add_argument("--trials", type=int, metavar="N", help="search with so many policies")
        what.add_argument("--show", type=int, metavar="ID", help="what a sweep has found by now")
        what.add_argument("--resume", type=int, metavar="ID", help="go on with a sweep that was cancelled")
        what.add_argument("--cancel", type=int, metavar="ID", help="take no further trial")
        parser.add_argument("--space", type=Path, metavar="FILE", help="what a search varies, and within which bounds")
        parser.add_argument("--policy", default="", metavar="KEY", help="preset or version to start from (in-force)")
        parser.add_argument("--seed", type=int, default=0, metavar="N")
        parser.add_argument("--held-out", type=float, default=0.25, metavar="SHARE", help="sessions not tuned on")
        parser.add_argument("--wait", action="store_true", help="work on it here until it is done")
        parser.add_argument("--json", action="store_true", help="one JSON document")

    def handle(self, *args: Any, **options: Any) -> None:
        try:
            with bad_input_exits_with_2():
                sweep = self.wanted(options)
        except (InvalidSpace, UnknownKey, NothingToRun) as complaint:
            raise CommandError(str(complaint), returncode=2) from None
        if options["wait"]:
            self.work_through(sweep)
        document = sweep_document(sweep)
        if options["json"]:
            self.write_json(document)
        else:
            self.write_shown(as_text(document))

    def wanted(self, options: dict[str, Any]) -> Sweep:
        project = Project.objects.filter(slug=options["project"]).first()
        if project is None:
            known = ", ".join(Project.objects.order_by("slug").values_list("slug", flat=True)[:20]) or "none yet"
            raise CommandError(f"There is no project {options['project']!r} (known: {known}).", returncode=2)
        for name in ("show", "resume", "cancel"):
            if options[name] is not None:
                return self.existing(project, options[name], name)
        if options["space"] is not None and options["trials"] is None:
            raise CommandError("--space says what a search varies: give --trials as well", returncode=2)
        path = options["grid"] or options["space"]
        plan = plan_of(
            project, options["policy"], read_space(path, is_grid=options["trials"] is None) if path else None
        )
        return sweeps.start(
            project=project,
            base=plan.base.policy,
            label=plan.base.label,
            space=plan.space,
            trials=options["trials"],
            seed=options["seed"],
            held_out=options["held_out"],
        )

    def existing(self, project: Project, key: int, verb: str) -> Sweep:
        sweep = Sweep.objects.select_related("project").filter(project=project, pk=key).first()
        if sweep is None:
            raise CommandError(f"There is no sweep {key} in the project {project.slug!r}.", returncode=2)
        if verb == "cancel":
            sweeps.cancel(sweep)
        elif verb == "resume" and not sweeps.resume(sweep):
            why = "only a cancelled one, of this engine and these prices, can be resumed"
            raise CommandError(f"Sweep {key} is {sweep.state}: {why}.", returncode=2)
        return sweep

    def work_through(self, sweep: Sweep) -> None:
        """Beside whatever workers there are; ends when nobody has anything left to do."""
        while True:
            worked = sweep_execution.work(sweep.pk)
            progress = sweeps.progress(sweep)
            self.stderr.write(f"{progress.finished} of {progress.total} trials", self.style.SUCCESS)
            if progress.is_over:
                return
            if not worked:
                sweeps.take_up()
                time.sleep(SECONDS_BETWEEN_LOOKS)


def as_text(document: dict[str, Any]) -> str:
    """What a sweep found, in words."""
    progress, found = document["progress"], document["recommendation"]
    lines = [
        f"sweep {document['id']} ({document['kind']}) of {document['policy']}: {document['state']}, "
        f"{progress['done']} of {progress['total']} trials done, {progress['failed']} failed, "
        f"{len(document['skipped'])} skipped",
        f"{document['sessions']['tuned']} sessions tuned on, {document['sessions']['held_out']} held out",
    ]
    for what in ("skipped", "failed"):
        rows = document[what]
        lines += [f"  {what} {said(row['values'])}: {row['reason']}" for row in rows[:MOST_NAMED]]
        lines += [f"  {len(rows) - MOST_NAMED} more {what}: --json names all of them"] * (len(rows) > MOST_NAMED)
    on_front = [row for row in document["points"] if row["on_front"]]
    if on_front:
        lines.append("front, cheapest first:")
        order = {number: at for at, number in enumerate(document["front"])}
        for row in sorted(on_front, key=lambda row: order[row["trial"]]):
            tuned = row["tuned"]
            what = said(row["values"]) if row["kind"] == Trial.Kind.CANDIDATE else row["kind"].replace("_", " ")
            saved = "-" if tuned["saved"] is None else f"{100 * tuned['saved']:.1f} %"
            lines.append(f"  trial {row['trial']}: saved {saved}, lost {tuned['rlr_lost']} of {tuned['rlr_n']}: {what}")
    if found:
        what = said(found["values"]) if found["kind"] == Trial.Kind.CANDIDATE else found["kind"].replace("_", " ")
        lines += [f"recommended: trial {found['trial']} ({what})", f"  {found['reason']}"]
        lines += [f"  {line}" for line in found["more"]]
    if document["state"] in (Run.State.QUEUED, Run.State.RUNNING):
        lines.append(f"see how it goes: {document['url']}")
    return "\n".join(lines)


def said(values: dict[str, Any]) -> str:
    return ", ".join(f"{name} = {value}" for name, value in values.items())
