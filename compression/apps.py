"""What could be left out of a session's context."""

from django.apps import AppConfig
from django.utils.translation import gettext_lazy as _


class CompressionConfig(AppConfig):
    name = "compression"
    label = "compression"
    verbose_name = _("Compression")
