"""The tests' settings with a real channel layer: DATABASE_URL and HERMES_TEST_REDIS_URL say where the servers are."""

import os

from tests.settings import *  # noqa: F403  # all of them

CHANNEL_LAYERS = {
    "default": {
        "BACKEND": "channels_redis.core.RedisChannelLayer",
        "CONFIG": {
            "hosts": [{"address": os.environ["HERMES_TEST_REDIS_URL"], "socket_timeout": 30}],
            "prefix": f"tests-{os.environ.get('PYTEST_XDIST_WORKER', 'alone')}",
        },
    }
}
