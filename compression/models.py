"""What is kept of compression: replays that were worked out once, policies as versions, and runs.

A stored replay is a cache: it can be deleted at any time and is worked out again from the session.
Versions and adoptions are only ever added to.
"""

from __future__ import annotations

from decimal import Decimal

from django.conf import settings
from django.db import models
from django.urls import reverse
from django.utils.translation import gettext_lazy as _

from sessions.models import Project, Session


class StoredReplay(models.Model):
    """One policy on one version of one session; ``body`` is zlib-compressed JSON (``replay_document``)."""

    session = models.ForeignKey(Session, models.DB_CASCADE, related_name="replays", db_index=False)
    revision = models.PositiveIntegerField()
    policy_digest = models.CharField(max_length=64)
    history = models.CharField(max_length=20)
    engine_version = models.PositiveSmallIntegerField()
    prices_digest = models.CharField(max_length=64, blank=True, help_text=_("Of the project's own prices, if any."))
    body = models.BinaryField()
    created_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        verbose_name = _("stored replay")
        verbose_name_plural = _("stored replays")
        constraints = [
            models.UniqueConstraint(
                fields=["session", "policy_digest", "history", "engine_version", "revision", "prices_digest"],
                name="one_replay_per_session_and_policy",
            )
        ]

    def __str__(self) -> str:
        return f"{self.policy_digest[:8]} on session {self.session_id}, revision {self.revision}"


class PolicyVersion(models.Model):
    """One saved policy of a project. Written once: a later wish is a later version."""

    project = models.ForeignKey(Project, models.DB_CASCADE, related_name="policy_versions", db_index=False)
    number = models.PositiveIntegerField(_("version"))
    name = models.CharField(_("name"), max_length=80)
    fields = models.JSONField(help_text=_("The whole policy, defaults included, as the schema of its time had it."))
    digest = models.CharField(max_length=64, help_text=_("Of everything that changes a result."))
    note = models.CharField(_("note"), max_length=300, blank=True)
    origin = models.CharField(_("made from"), max_length=100, blank=True)
    author = models.ForeignKey(settings.AUTH_USER_MODEL, models.DB_SET_NULL, null=True, related_name="+")
    created_at = models.DateTimeField(_("saved"), auto_now_add=True)

    class Meta:
        verbose_name = _("policy version")
        verbose_name_plural = _("policy versions")
        ordering = ["-number"]
        constraints = [models.UniqueConstraint(fields=["project", "number"], name="one_policy_version_per_number")]

    def __str__(self) -> str:
        return f"v{self.number} {self.name}"


class Adoption(models.Model):
    """A policy version came into force. Append-only: undoing is adopting what was in force before.

    ``version`` is None where the preset that every project starts with came back into force.
    """

    project = models.ForeignKey(Project, models.DB_CASCADE, related_name="adoptions")
    version = models.ForeignKey(PolicyVersion, models.DB_CASCADE, null=True, related_name="adoptions")
    undoes = models.ForeignKey("self", models.DB_SET_NULL, null=True, related_name="+")
    by = models.ForeignKey(settings.AUTH_USER_MODEL, models.DB_SET_NULL, null=True, related_name="+")
    at = models.DateTimeField(_("in force since"), auto_now_add=True)

    class Meta:
        verbose_name = _("adoption")
        verbose_name_plural = _("adoptions")
        ordering = ["-pk"]

    def __str__(self) -> str:
        return f"{self.version or 'the preset'} in force"


class Run(models.Model):
    """A recorded replay of one policy over sessions of a project. Its figures are those of its results."""

    class State(models.TextChoices):
        QUEUED = "queued", _("waiting")
        RUNNING = "running", _("running")
        DONE = "done", _("done")
        CANCELLED = "cancelled", _("cancelled")

    project = models.ForeignKey(Project, models.DB_CASCADE, related_name="runs")
    label = models.CharField(_("policy"), max_length=120)
    version = models.ForeignKey(PolicyVersion, models.DB_SET_NULL, null=True, related_name="runs")
    fields = models.JSONField(help_text=_("The whole policy that ran."))
    policy_digest = models.CharField(max_length=64)
    engine_version = models.PositiveSmallIntegerField()
    prices_digest = models.CharField(max_length=64, blank=True, help_text=_("Of the project's own prices, if any."))
    state = models.CharField(_("state"), max_length=10, choices=State, default=State.QUEUED)
    started_by = models.ForeignKey(settings.AUTH_USER_MODEL, models.DB_SET_NULL, null=True, related_name="+")
    created_at = models.DateTimeField(_("started"), auto_now_add=True)
    queued_at = models.DateTimeField(null=True, help_text=_("When tasks were last queued for it."))
    finished_at = models.DateTimeField(_("finished"), null=True)

    class Meta:
        verbose_name = _("run")
        verbose_name_plural = _("runs")
        ordering = ["-pk"]

    def __str__(self) -> str:
        return f"run {self.pk} of {self.label}"

    def get_absolute_url(self) -> str:
        return reverse("compression:run", args=[self.project.slug, self.pk])

    @property
    def is_over(self) -> bool:
        return self.state in (Run.State.DONE, Run.State.CANCELLED)


class RunResult(models.Model):
    """One session of a run. Waiting until a worker claims it; a claim that grew old is free again.

    Figures are columns, so that a table of ten thousand sorts in the database; ``summary`` has them all. The columns
    of the cache are null in results that are older than they are; dollars are null, too, where no price is known.
    """

    class State(models.TextChoices):
        WAITING = "waiting", _("waiting")
        CLAIMED = "claimed", _("running")
        DONE = "done", _("done")
        FAILED = "failed", _("failed")

    run = models.ForeignKey(Run, models.DB_CASCADE, related_name="results", db_index=False)
    session = models.ForeignKey(Session, models.DB_CASCADE, related_name="run_results")
    state = models.CharField(max_length=10, choices=State, default=State.WAITING)
    claimed_at = models.DateTimeField(null=True)
    claims = models.PositiveSmallIntegerField(default=0, help_text=_("How many workers took it on."))
    finished_at = models.DateTimeField(null=True)
    session_revision = models.PositiveIntegerField(null=True)
    reused = models.BooleanField(default=False, help_text=_("The same pair had been worked out before."))
    error = models.CharField(max_length=300, blank=True)
    summary = models.JSONField(default=dict)
    turns = models.PositiveIntegerField(default=0)
    sent_before = models.PositiveBigIntegerField(default=0)
    sent_after = models.PositiveBigIntegerField(default=0)
    request_tokens = models.PositiveBigIntegerField(default=0)
    request_freed = models.BigIntegerField(default=0)
    tool_before = models.PositiveBigIntegerField(default=0)
    tool_after = models.PositiveBigIntegerField(default=0)
    session_saved = models.FloatField(null=True)
    request_saved = models.FloatField(null=True)
    tool_saved = models.FloatField(null=True)
    rlr_n = models.PositiveIntegerField(default=0, help_text=_("Names needed after they had left or been stubbed."))
    rlr_kept = models.PositiveIntegerField(default=0, help_text=_("Those of them still in view."))
    rlr_reached = models.PositiveIntegerField(default=0, help_text=_("Those of them in view or reachable."))
    rlr_view = models.FloatField(null=True)
    overflow_turn = models.PositiveIntegerField(null=True)
    overflow_turn_none = models.PositiveIntegerField(null=True)
    events = models.PositiveIntegerField(default=0)
    thrash = models.FloatField(null=True)
    violations = models.PositiveIntegerField(default=0)
    counter_error = models.FloatField(null=True)
    ladder = models.PositiveIntegerField(null=True, help_text=_("Steps of the fallback ladder."))
    cost_usd = models.DecimalField(max_digits=24, decimal_places=12, null=True)
    cost_usd_none = models.DecimalField(
        max_digits=24, decimal_places=12, null=True, help_text=_("Had no policy acted, with the same cache.")
    )
    cache_read = models.PositiveBigIntegerField(null=True)
    cache_write = models.PositiveBigIntegerField(null=True)
    cache_uncached = models.PositiveBigIntegerField(null=True)
    rewrites = models.PositiveIntegerField(null=True, help_text=_("Calls that sent a living prefix anew."))
    expiries = models.PositiveIntegerField(null=True, help_text=_("Calls that found their prefix expired."))
    unforced_breaks = models.PositiveIntegerField(null=True, help_text=_("What moved in the prefix without an event."))
    break_even = models.FloatField(null=True, help_text=_("Calls until an event has paid, median of its events."))

    class Meta:
        verbose_name = _("result")
        verbose_name_plural = _("results")
        constraints = [models.UniqueConstraint(fields=["run", "session"], name="one_result_per_session")]
        indexes = [models.Index(fields=["run", "state"], name="results_by_state")]

    def __str__(self) -> str:
        return f"run {self.run_id} on session {self.session_id}"

    @property
    def has_costs(self) -> bool:
        """Whether the figures of the cache were worked out; with an unknown price there are still no dollars."""
        return self.cache_read is not None

    @property
    def saved_usd(self) -> Decimal | None:
        """Dollars against no policy, negative where the policy is dearer; None without a price."""
        if self.cost_usd is None or self.cost_usd_none is None:
            return None
        return self.cost_usd_none - self.cost_usd

    @property
    def input_tokens(self) -> int:
        """All input, as the provider's cache sees it."""
        return (self.cache_read or 0) + (self.cache_write or 0) + (self.cache_uncached or 0)

    @property
    def hit_rate(self) -> float | None:
        """Share of all input that was read from the cache."""
        return round((self.cache_read or 0) / self.input_tokens, 6) if self.input_tokens else None


class Snapshot(models.Model):
    """The original of something that a live agent's compressed request holds an address of.

    Bodies are bytes (UTF-8), because a tool may print what no text column takes. ``body`` is None once it was
    deleted: the address then answers "gone". Originals of recorded sessions are ``sessions.Original``.
    """

    project = models.ForeignKey(Project, models.DB_CASCADE, related_name="snapshots", db_index=False)
    sha256 = models.CharField(max_length=64)
    body = models.BinaryField(null=True)
    created_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        verbose_name = _("snapshot")
        verbose_name_plural = _("snapshots")
        constraints = [models.UniqueConstraint(fields=["project", "sha256"], name="one_snapshot_per_project")]

    def __str__(self) -> str:
        return self.sha256[:12]


class SnapshotReference(models.Model):
    """A text that was put in an original's place, by the sha256 of that text: so it is known when it comes back."""

    snapshot = models.ForeignKey(Snapshot, models.DB_CASCADE, related_name="references", db_index=False)
    stub_sha256 = models.CharField(max_length=64, db_index=True)

    class Meta:
        verbose_name = _("snapshot reference")
        verbose_name_plural = _("snapshot references")
        constraints = [models.UniqueConstraint(fields=["snapshot", "stub_sha256"], name="one_reference_per_stub")]

    def __str__(self) -> str:
        return f"{self.stub_sha256[:12]} for {self.snapshot_id}"


class LiveEvent(models.Model):
    """What one compression changed in the requests of a live session, so that the same history is changed the same
    way when the agent sends it again. ``prefix_sha256`` is of the first ``prefix_messages`` messages as they came.
    """

    project = models.ForeignKey(Project, models.DB_CASCADE, related_name="live_events", db_index=False)
    session = models.CharField(max_length=200)
    prefix_messages = models.PositiveIntegerField()
    prefix_sha256 = models.CharField(max_length=64)
    body = models.BinaryField(help_text=_("The change as JSON, zlib-compressed."))
    created_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        verbose_name = _("live event")
        verbose_name_plural = _("live events")
        ordering = ["pk"]
        indexes = [models.Index(fields=["project", "session"], name="live_events_by_session")]

    def __str__(self) -> str:
        return f"{self.session}, {self.prefix_messages} messages"


class Sweep(models.Model):
    """Many policies over the same sessions: a grid, or a search that learns from its own results.

    ``space`` holds the fields that are varied (``sweep_space``), ``fields`` the whole policy that they are varied in.
    Its trials are all that a search knows: whichever worker asks reads them and gets the next values.
    """

    class Kind(models.TextChoices):
        GRID = "grid", _("grid")
        SEARCH = "search", _("search")

    project = models.ForeignKey(Project, models.DB_CASCADE, related_name="sweeps")
    kind = models.CharField(_("kind"), max_length=10, choices=Kind)
    label = models.CharField(_("policy"), max_length=120)
    fields = models.JSONField(help_text=_("The whole policy that the values are put into."))
    space = models.JSONField()
    seed = models.PositiveIntegerField(default=0)
    held_out = models.FloatField(default=0.0, help_text=_("Share of the sessions that nothing is tuned on."))
    wanted = models.PositiveIntegerField(help_text=_("Trials, without those that things are held against."))
    engine_version = models.PositiveSmallIntegerField()
    prices_digest = models.CharField(max_length=64, blank=True, help_text=_("Of the project's own prices, if any."))
    state = models.CharField(_("state"), max_length=10, choices=Run.State, default=Run.State.QUEUED)
    started_by = models.ForeignKey(settings.AUTH_USER_MODEL, models.DB_SET_NULL, null=True, related_name="+")
    created_at = models.DateTimeField(_("started"), auto_now_add=True)
    queued_at = models.DateTimeField(null=True, help_text=_("When tasks were last queued for it."))
    finished_at = models.DateTimeField(_("finished"), null=True)

    class Meta:
        verbose_name = _("sweep")
        verbose_name_plural = _("sweeps")
        ordering = ["-pk"]

    def __str__(self) -> str:
        return f"sweep {self.pk} of {self.label}"

    def get_absolute_url(self) -> str:
        return reverse("compression:sweep", args=[self.project.slug, self.pk])

    @property
    def is_over(self) -> bool:
        return self.state in (Run.State.DONE, Run.State.CANCELLED)


class SweepSession(models.Model):
    """A session of a sweep, and whether it is one of those that nothing is tuned on."""

    sweep = models.ForeignKey(Sweep, models.DB_CASCADE, related_name="members", db_index=False)
    session = models.ForeignKey(Session, models.DB_CASCADE, related_name="+")
    is_held_out = models.BooleanField(default=False)

    class Meta:
        verbose_name = _("session of a sweep")
        verbose_name_plural = _("sessions of sweeps")
        constraints = [models.UniqueConstraint(fields=["sweep", "session"], name="one_member_per_session")]

    def __str__(self) -> str:
        return f"session {self.session_id} of sweep {self.sweep_id}"


class Trial(models.Model):
    """One policy of a sweep. Waiting until a worker claims it; a claim that grew old is free again.

    ``figures`` are the sums of its results, of the sessions that are tuned on and of those held out; the columns are
    those of the former, so that tables sort in the database.
    """

    class Kind(models.TextChoices):
        NONE = "none", _("no compression")
        IN_FORCE = "in_force", _("in force")
        CANDIDATE = "candidate", _("candidate")

    class State(models.TextChoices):
        WAITING = "waiting", _("waiting")
        CLAIMED = "claimed", _("running")
        DONE = "done", _("done")
        FAILED = "failed", _("failed")
        SKIPPED = "skipped", _("skipped")

    sweep = models.ForeignKey(Sweep, models.DB_CASCADE, related_name="trials", db_index=False)
    number = models.PositiveIntegerField()
    kind = models.CharField(max_length=10, choices=Kind, default=Kind.CANDIDATE)
    values = models.JSONField(default=dict, help_text=_("What it says differently from the sweep's policy."))
    policy_digest = models.CharField(max_length=64, blank=True)
    state = models.CharField(max_length=10, choices=State, default=State.WAITING)
    claimed_at = models.DateTimeField(null=True, help_text=_("When its worker was last heard of."))
    claims = models.PositiveSmallIntegerField(default=0, help_text=_("How many workers took it on."))
    finished_at = models.DateTimeField(null=True)
    error = models.CharField(max_length=300, blank=True, help_text=_("Why it failed or was skipped."))
    figures = models.JSONField(default=dict)
    cost_usd = models.DecimalField(max_digits=24, decimal_places=12, null=True)
    sent_after = models.PositiveBigIntegerField(default=0)
    session_saved = models.FloatField(null=True)
    rlr_view = models.FloatField(null=True)
    rlr_lost = models.PositiveIntegerField(default=0, help_text=_("Names used later that had left the view."))
    events = models.PositiveIntegerField(default=0)
    broken = models.PositiveIntegerField(default=0, help_text=_("Sessions that violate, overflow, thrash or fail."))

    class Meta:
        verbose_name = _("trial")
        verbose_name_plural = _("trials")
        constraints = [models.UniqueConstraint(fields=["sweep", "number"], name="one_trial_per_number")]
        indexes = [models.Index(fields=["sweep", "state"], name="trials_by_state")]

    def __str__(self) -> str:
        return f"trial {self.number} of sweep {self.sweep_id}"


class TrialResult(models.Model):
    """One session under the policy of one trial."""

    trial = models.ForeignKey(Trial, models.DB_CASCADE, related_name="results", db_index=False)
    session = models.ForeignKey(Session, models.DB_CASCADE, related_name="+")
    session_revision = models.PositiveIntegerField()
    error = models.CharField(max_length=300, blank=True)
    turns = models.PositiveIntegerField(default=0)
    sent_before = models.PositiveBigIntegerField(default=0)
    sent_after = models.PositiveBigIntegerField(default=0)
    cost_usd = models.DecimalField(max_digits=24, decimal_places=12, null=True)
    cache_read = models.PositiveBigIntegerField(default=0)
    cache_write = models.PositiveBigIntegerField(default=0)
    cache_uncached = models.PositiveBigIntegerField(default=0)
    break_even = models.FloatField(null=True, help_text=_("Calls until an event has paid, median of its events."))
    rlr_n = models.PositiveIntegerField(default=0)
    rlr_kept = models.PositiveIntegerField(default=0)
    rlr_reached = models.PositiveIntegerField(default=0)
    overflow_turn = models.PositiveIntegerField(null=True)
    events = models.PositiveIntegerField(default=0)
    thrash = models.FloatField(default=0)
    violations = models.PositiveIntegerField(default=0)

    class Meta:
        verbose_name = _("result of a trial")
        verbose_name_plural = _("results of trials")
        constraints = [models.UniqueConstraint(fields=["trial", "session"], name="one_result_per_trial_and_session")]

    def __str__(self) -> str:
        return f"trial {self.trial_id} on session {self.session_id}"


class PolicyWebhook(models.Model):
    """Where a project says that another policy came into force. ``secret`` signs; it is never shown again."""

    project = models.OneToOneField(Project, models.DB_CASCADE, related_name="policy_webhook")
    url = models.CharField(_("address"), max_length=500)
    secret = models.CharField(_("secret"), max_length=200)
    set_at = models.DateTimeField(_("set"), auto_now=True)

    class Meta:
        verbose_name = _("policy webhook")
        verbose_name_plural = _("policy webhooks")

    def __str__(self) -> str:
        return f"webhook of {self.project_id}"


class PolicyDelivery(models.Model):
    """One message of a policy webhook and how it went. ``body`` is what every attempt sends, byte for byte."""

    class State(models.TextChoices):
        WAITING = "waiting", _("waiting")
        DELIVERED = "delivered", _("delivered")
        FAILED = "failed", _("failed")

    webhook = models.ForeignKey(PolicyWebhook, models.DB_CASCADE, related_name="deliveries")
    event = models.CharField(max_length=40)
    body = models.TextField()
    state = models.CharField(max_length=10, choices=State, default=State.WAITING)
    attempts = models.PositiveSmallIntegerField(default=0)
    status = models.PositiveSmallIntegerField(null=True, help_text=_("What the last attempt was answered."))
    error = models.CharField(max_length=300, blank=True, help_text=_("What was wrong with the last attempt, in words."))
    created_at = models.DateTimeField(auto_now_add=True)
    tried_at = models.DateTimeField(null=True)

    class Meta:
        verbose_name = _("policy delivery")
        verbose_name_plural = _("policy deliveries")
        ordering = ["-pk"]

    def __str__(self) -> str:
        return f"{self.event}, {self.state}"


class ProjectPrices(models.Model):
    """What a project pays for a million tokens, in dollars: the user's own figures, never worked out here."""

    class Scope(models.TextChoices):
        UNKNOWN = "unknown", _("only for models that no table of prices knows")
        ALL = "all", _("for every model, in place of the table")

    project = models.OneToOneField(Project, models.DB_CASCADE, related_name="prices")
    scope = models.CharField(_("what they are for"), max_length=10, choices=Scope, default=Scope.UNKNOWN)
    input = models.DecimalField(_("input"), max_digits=12, decimal_places=6)
    output = models.DecimalField(_("output"), max_digits=12, decimal_places=6)
    cache_read = models.DecimalField(_("read from the cache"), max_digits=12, decimal_places=6)
    cache_write = models.DecimalField(_("written to the cache for 5 minutes"), max_digits=12, decimal_places=6)
    cache_write_long = models.DecimalField(_("written to the cache for an hour"), max_digits=12, decimal_places=6)
    note = models.CharField(_("where they come from"), max_length=200, blank=True)
    set_at = models.DateTimeField(_("set"), auto_now=True)

    class Meta:
        verbose_name = _("prices of a project")
        verbose_name_plural = _("prices of projects")

    def __str__(self) -> str:
        return f"prices of {self.project_id}"
