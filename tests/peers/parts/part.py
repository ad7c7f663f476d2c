"""The shape of a process of the lab in Python, as part.mjs is in JavaScript: settings as one JSON line on stdin, one line on
stdout when it is ready, and the end of stdin ends it."""

import contextlib
import json
import os
import socket
import sys
import tempfile
import threading

LOOPBACK = "127.0.0.1"
# Whatever a library prints goes to the log; the parent reads the one line of `ready` alone.
_parent = os.fdopen(os.dup(1), "w")
os.dup2(2, 1)


def settings():
    told = json.loads(sys.stdin.readline())
    threading.Thread(target=_leave_at_the_end_of_stdin, daemon=True).start()
    return told


def _leave_at_the_end_of_stdin():
    sys.stdin.read()
    os._exit(0)


def ready(**words):
    _parent.write(json.dumps(words) + "\n")
    _parent.flush()


@contextlib.contextmanager
def certificate(tls):
    """Files of the certificate and its key, which Python's ssl wants; gone after they were read."""
    with tempfile.TemporaryDirectory(prefix="bursar-peers-") as folder:
        names = [os.path.join(folder, name) for name in ("certificate.pem", "key.pem")]
        for name, text in zip(names, (tls["certificate"], tls["key"])):
            with open(os.open(name, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "w") as file:
                file.write(text)
        yield names


def listener():
    """A listening socket on a free port of loopback."""
    opened = socket.socket(socket.AF_INET, socket.SOCK_STREAM)
    opened.bind((LOOPBACK, 0))
    opened.listen(64)
    return opened


def goods_of(seller, path):
    return {"seller": seller, "path": path, "goods": f"goods-{seller}-{path[1:]}"}
