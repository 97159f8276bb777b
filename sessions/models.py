"""What is stored of a recorded session, and the questions that are asked of it.

Rows are written by ``ingest`` alone. The body of a tool result is stored once, as an
``Original`` under its sha256; message parts point to it. Deleting cascades in the database,
so that a project of a million messages goes in one statement.
"""

from __future__ import annotations

from typing import Self

from django.conf import settings
from django.contrib.auth.models import AbstractBaseUser, AnonymousUser
from django.core.exceptions import ValidationError
from django.db import models
from django.urls import reverse
from django.utils.translation import gettext_lazy as _

KEY_LENGTH = 200
TITLE_LENGTH = 300
NAME_LENGTH = 200
# Words that stand in the place of a slug in an address.
RESERVED_SLUGS = frozenset({"new", "upload"})


class ProjectQuerySet(models.QuerySet["Project"]):
    def visible_to(self, user: AbstractBaseUser | AnonymousUser) -> Self:
        """The projects that the user is a member of; a superuser sees all of them."""
        if not user.is_active:
            return self.none()
        if getattr(user, "is_superuser", False):
            return self
        return self.filter(memberships__user=user)


class Project(models.Model):
    name = models.CharField(_("name"), max_length=NAME_LENGTH)
    slug = models.SlugField(_("slug"), max_length=80, unique=True)
    created_at = models.DateTimeField(_("created"), auto_now_add=True)
    members: models.ManyToManyField[models.Model, Membership] = models.ManyToManyField(
        settings.AUTH_USER_MODEL, through="Membership", related_name="projects"
    )

    objects = ProjectQuerySet.as_manager()

    class Meta:
        verbose_name = _("project")
        verbose_name_plural = _("projects")
        ordering = ["name", "pk"]

    def __str__(self) -> str:
        return self.name

    def clean(self) -> None:
        if self.slug in RESERVED_SLUGS:
            message = _("The addresses of Hermes use the word %(slug)s for something else.")
            raise ValidationError({"slug": message % {"slug": self.slug}})

    def get_absolute_url(self) -> str:
        return reverse("sessions:project", args=[self.slug])


class Membership(models.Model):
    class Role(models.TextChoices):
        OWNER = "owner", _("owner")
        MEMBER = "member", _("member")

    user = models.ForeignKey(settings.AUTH_USER_MODEL, models.DB_CASCADE, related_name="memberships")
    project = models.ForeignKey(Project, models.DB_CASCADE, related_name="memberships")
    role = models.CharField(_("role"), max_length=10, choices=Role, default=Role.MEMBER)

    class Meta:
        verbose_name = _("membership")
        verbose_name_plural = _("memberships")
        constraints = [models.UniqueConstraint(fields=["user", "project"], name="one_membership_per_project")]

    def __str__(self) -> str:
        return f"{self.user} · {self.project} ({self.role})"


class Original(models.Model):
    """The body of a tool result as the agent got it, stored once however many messages carry it."""

    sha256 = models.CharField(max_length=64, primary_key=True)
    text = models.TextField()
    size_bytes = models.PositiveBigIntegerField()
    lines = models.PositiveIntegerField()

    class Meta:
        verbose_name = _("original")
        verbose_name_plural = _("originals")

    def __str__(self) -> str:
        return self.sha256[:12]


class SessionQuerySet(models.QuerySet["Session"]):
    def visible_to(self, user: AbstractBaseUser | AnonymousUser) -> Self:
        """The sessions of the projects that the user may see."""
        return self.filter(project__in=Project.objects.visible_to(user))


class Session(models.Model):
    """One recorded session; its address stays the same while its file grows (``revision`` counts the versions)."""

    project = models.ForeignKey(Project, models.DB_CASCADE, related_name="sessions")
    key = models.CharField(max_length=KEY_LENGTH)
    title = models.CharField(_("title"), max_length=TITLE_LENGTH, blank=True)
    agent = models.CharField(_("agent"), max_length=NAME_LENGTH, blank=True)
    format = models.CharField(_("format"), max_length=NAME_LENGTH)
    detection_score = models.FloatField(default=0)
    detection_why = models.TextField(blank=True)
    model = models.CharField(_("model"), max_length=NAME_LENGTH, blank=True)
    started_at = models.DateTimeField(_("started"), null=True, blank=True)
    ended_at = models.DateTimeField(_("ended"), null=True, blank=True)
    file_name = models.CharField(max_length=400, blank=True)
    file_sha256 = models.CharField(max_length=64, blank=True)
    file_size = models.PositiveBigIntegerField(default=0)
    content_sha256 = models.CharField(max_length=64, help_text=_("Of everything that was read out of the file."))
    source_messages = models.PositiveIntegerField(default=0)
    message_count = models.PositiveIntegerField(default=0)
    turn_count = models.PositiveIntegerField(default=0)
    tool_call_count = models.PositiveIntegerField(default=0)
    tool_result_count = models.PositiveIntegerField(default=0)
    tool_error_count = models.PositiveIntegerField(default=0, help_text=_("Tool results that report a failure."))
    boundary_count = models.PositiveIntegerField(
        default=0, help_text=_("Compactions and clearings by the agent itself.")
    )
    media_count = models.PositiveIntegerField(default=0)
    thinking_count = models.PositiveIntegerField(default=0)
    counted_tokens = models.PositiveBigIntegerField(default=0, help_text=_("Uncalibrated, over all messages."))
    peak_context_tokens = models.PositiveBigIntegerField(null=True, help_text=_("The provider's own figure."))
    context_window = models.PositiveBigIntegerField(null=True, help_text=_("What the log states."))
    window_tokens = models.PositiveBigIntegerField(null=True, help_text=_("What a policy takes for the window."))
    system_in_log = models.BooleanField(default=False)
    tools_json = models.TextField(blank=True)
    recorded = models.JSONField(default=dict)
    calibration = models.JSONField(default=dict)
    boundaries = models.JSONField(default=list)
    metadata_counts = models.JSONField(default=dict)
    skipped = models.JSONField(default=list)
    warnings = models.JSONField(default=list)
    parent = models.ForeignKey("self", models.DB_SET_NULL, null=True, blank=True, related_name="children")
    parent_key = models.CharField(max_length=KEY_LENGTH, blank=True)
    spawned_by = models.CharField(max_length=NAME_LENGTH, blank=True)
    revision = models.PositiveIntegerField(default=1)
    created_at = models.DateTimeField(_("imported"), auto_now_add=True)
    updated_at = models.DateTimeField(_("updated"), auto_now=True)
    # The last field, because from here on the name no longer means django.db.models in this class.
    models = models.JSONField(default=list, help_text=_("Names of the models that answered, the first one first."))

    objects = SessionQuerySet.as_manager()

    class Meta:
        verbose_name = _("session")
        verbose_name_plural = _("sessions")
        constraints = [models.UniqueConstraint(fields=["project", "key"], name="one_session_per_key")]
        indexes = [models.Index(fields=["project", "parent_key"], name="sessions_by_parent_key")]

    def __str__(self) -> str:
        return self.title or self.key

    def get_absolute_url(self) -> str:
        return reverse("compression:session", args=[self.project.slug, self.pk])


class Message(models.Model):
    """One role-tagged item. ``tokens`` = those of its parts + 4, uncalibrated.

    A part is a dict of ``kind``, ``tokens`` and the fields that are not empty; a tool result has ``original``
    (a sha256) in the place of ``text``, and its message points to that row, so that it is found both ways.
    """

    session = models.ForeignKey(Session, models.DB_CASCADE, related_name="messages", db_index=False)
    index = models.PositiveIntegerField()
    role = models.CharField(max_length=10)
    turn = models.PositiveIntegerField(null=True, help_text=_("The turn that wrote it or caused it."))
    timestamp = models.FloatField(null=True)
    source_id = models.TextField(blank=True)
    response_id = models.TextField(blank=True)
    model = models.CharField(max_length=NAME_LENGTH, blank=True)
    flags = models.JSONField(default=list)
    tokens = models.PositiveIntegerField(default=0)
    parts = models.JSONField(default=list)
    original = models.ForeignKey(Original, models.DB_SET_NULL, null=True, related_name="messages")

    class Meta:
        verbose_name = _("message")
        verbose_name_plural = _("messages")
        ordering = ["index"]
        constraints = [models.UniqueConstraint(fields=["session", "index"], name="one_message_per_index")]

    def __str__(self) -> str:
        return f"{self.index} {self.role}"


class Turn(models.Model):
    """One model call: request = messages before ``request_end``, response up to ``response_end``, results up to
    ``results_end``. Figures are the provider's own, in tokens, and 0 throughout where ``has_usage`` is false."""

    session = models.ForeignKey(Session, models.DB_CASCADE, related_name="turns", db_index=False)
    index = models.PositiveIntegerField()
    request_end = models.PositiveIntegerField()
    response_end = models.PositiveIntegerField()
    results_end = models.PositiveIntegerField()
    model = models.CharField(max_length=NAME_LENGTH, blank=True)
    time = models.FloatField(null=True)
    has_usage = models.BooleanField(default=False)
    context_tokens = models.PositiveBigIntegerField(default=0)
    cache_read = models.PositiveBigIntegerField(default=0)
    cache_write = models.PositiveBigIntegerField(default=0)
    cache_write_1h = models.PositiveBigIntegerField(default=0)
    output = models.PositiveBigIntegerField(default=0)
    reasoning = models.PositiveBigIntegerField(default=0)

    class Meta:
        verbose_name = _("turn")
        verbose_name_plural = _("turns")
        ordering = ["index"]
        constraints = [models.UniqueConstraint(fields=["session", "index"], name="one_turn_per_index")]

    def __str__(self) -> str:
        return f"turn {self.index}"


class ApiToken(models.Model):
    """Lets a program into one project. Only the token's sha256 is kept."""

    class Scope(models.TextChoices):
        INGEST = "ingest", _("send sessions")
        READ = "read", _("read")
        WRITE = "write", _("read and change")

    project = models.ForeignKey(Project, models.DB_CASCADE, related_name="tokens")
    name = models.CharField(_("name"), max_length=NAME_LENGTH, blank=True)
    scope = models.CharField(_("scope"), max_length=10, choices=Scope)
    token = models.CharField(max_length=64, unique=True, editable=False)
    created_at = models.DateTimeField(_("created"), auto_now_add=True)
    last_used_at = models.DateTimeField(_("last used"), null=True, editable=False)

    class Meta:
        verbose_name = _("API token")
        verbose_name_plural = _("API tokens")

    def __str__(self) -> str:
        return self.name or f"token {self.pk}"


class SignInLink(models.Model):
    """A link that signs one user in, once. Only the token's sha256 is kept."""

    user = models.ForeignKey(settings.AUTH_USER_MODEL, models.DB_CASCADE, related_name="+")
    token = models.CharField(max_length=64, unique=True, editable=False)
    expires_at = models.DateTimeField()
    used_at = models.DateTimeField(null=True)

    class Meta:
        verbose_name = _("sign-in link")
        verbose_name_plural = _("sign-in links")

    def __str__(self) -> str:
        return f"sign-in link {self.pk}"


class SavedFilter(models.Model):
    """A view of a project's sessions table that its user wants back: ``query`` is the address's query string."""

    user = models.ForeignKey(settings.AUTH_USER_MODEL, models.DB_CASCADE, related_name="+", db_index=False)
    project = models.ForeignKey(Project, models.DB_CASCADE, related_name="saved_filters")
    name = models.CharField(_("name"), max_length=60)
    query = models.CharField(max_length=1000)

    class Meta:
        verbose_name = _("saved filter")
        verbose_name_plural = _("saved filters")
        ordering = ["name", "pk"]
        constraints = [models.UniqueConstraint(fields=["user", "project", "name"], name="one_filter_per_name")]

    def __str__(self) -> str:
        return self.name


class PasswordTries(models.Model):
    """How often a password was tried of late, under the hash of a name and an address, or of an address."""

    key = models.CharField(max_length=64, primary_key=True)
    count = models.PositiveIntegerField(default=0)
    since = models.DateTimeField(db_index=True)

    class Meta:
        verbose_name = _("password tries")
        verbose_name_plural = _("password tries")

    def __str__(self) -> str:
        return f"{self.count} since {self.since:%H:%M}"


class KeptAnswer(models.Model):
    """What the API answered to a request with an Idempotency-Key."""

    project = models.ForeignKey(Project, models.DB_CASCADE, related_name="+", db_index=False)
    key = models.CharField(max_length=KEY_LENGTH)
    fingerprint = models.CharField(max_length=200, help_text=_("Of the body that came with the key."))
    status = models.PositiveSmallIntegerField()
    body = models.JSONField()
    created_at = models.DateTimeField(auto_now_add=True, db_index=True)

    class Meta:
        verbose_name = _("kept answer")
        verbose_name_plural = _("kept answers")
        constraints = [models.UniqueConstraint(fields=["project", "key"], name="one_answer_per_key")]

    def __str__(self) -> str:
        return self.key
