#!/usr/bin/env python
"""Django's command line. A setting that makes no sense ends here in one line, never in a traceback."""

import errno
import os
import sys


def main() -> None:
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "hermes_site.settings")
    from django.core.management import execute_from_command_line

    from hermes_site.env import BadSetting

    for stream in (sys.stdout, sys.stderr):
        # What a terminal's encoding cannot say is escaped: one character must not lose the rest.
        stream.reconfigure(errors="backslashreplace")  # type: ignore[union-attr]  # text streams of our own process
    try:
        try:
            execute_from_command_line(sys.argv)
        finally:
            sys.stdout.flush()
    except BadSetting as error:
        sys.stderr.write(f"{error}\n")
        sys.exit(2)
    except BrokenPipeError:
        # Whoever read our output has seen enough, as in `manage.py window ... | head`.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        sys.exit(1)
    except OSError as error:
        if error.errno not in (errno.ENOSPC, errno.EDQUOT, errno.EFBIG, errno.EIO):
            raise
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        sys.stderr.write(f"Nothing more can be written: {error.strerror}.\n")
        sys.exit(1)


if __name__ == "__main__":
    main()
