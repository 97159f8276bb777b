"""``python -m benchmarks.peers install [NAME...]`` makes the peers' environments; ``list`` says which there are."""

from __future__ import annotations

import sys

from benchmarks.peers.environments import PEERS, folder, install, installed

USAGE = "usage: python -m benchmarks.peers list | install [NAME...]"


def main(arguments: list[str]) -> int:
    """Exit status 1: an installation failed; 2: not understood."""
    verb, names = (arguments[0], arguments[1:]) if arguments else ("", [])
    unknown = [name for name in names if name not in PEERS]
    if verb not in ("list", "install") or (verb == "list" and names):
        print(USAGE, file=sys.stderr)
        return 2
    if unknown:
        print(f"no peer {', '.join(unknown)}; there are {', '.join(PEERS)}", file=sys.stderr)
        return 2
    failed = False
    for peer in PEERS.values():
        if verb == "install" and (not names or peer.name in names):
            print(f"{peer.name}: installing {peer.requirement} into {folder() / peer.name}", flush=True)
            failed |= not install(peer)
        print(f"{peer.name}: {'installed' if installed(peer) else 'not installed'}", flush=True)
    return int(failed)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
