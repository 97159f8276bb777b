"""The site's own settings for workers that a test kills: claims grow old within two seconds."""

from hermes_site.settings import *  # noqa: F403  # all of them

HERMES_RUN_LEASE_SECONDS = 2
