# SPDX-FileCopyrightText: 2026 The TapML authors
# SPDX-License-Identifier: Apache-2.0
"""Processes that serve one connection each, and that end with it, whatever they do."""
import ctypes
import os
import select
import signal
import sys
import time
import traceback

_PR_SET_PDEATHSIG = 1
_C = ctypes.CDLL(None)
_GRACE_S = 1  # For what a child has still to print when its connection has ended.


def die_with_parent(number=signal.SIGKILL):
    """In a child: its parent's end, however it comes, ends it too."""
    _C.prctl(_PR_SET_PDEATHSIG, int(number), 0, 0, 0)


class _Child:
    """A process in a group of its own, so that what it starts ends with it, and Ctrl-C is for its parent alone."""

    def __init__(self, process, connection):
        self.process, self._connection, self._hung_up_s = process, connection, None
        self._poll = select.poll()
        self._poll.register(connection, select.POLLRDHUP)

    def is_to_end(self):
        """Whether its connection has ended a while ago."""
        if self._hung_up_s is None and self._poll.poll(0):
            self._hung_up_s = time.monotonic()
        return self._hung_up_s is not None and time.monotonic() - self._hung_up_s > _GRACE_S

    def what_ended_it(self):
        """None as long as it runs, else a sentence, which is empty where it has ended with its connection."""
        state = os.waitid(os.P_PID, self.process, os.WEXITED | os.WNOHANG | os.WNOWAIT)
        if state is None:
            return None
        self.is_to_end()
        if self._hung_up_s is not None and state.si_status == 0:
            return ""
        how = "status" if state.si_code == os.CLD_EXITED else "signal"
        return f"the process of the callable has ended with {how} {state.si_status}"

    def end(self):
        try:
            os.killpg(self.process, signal.SIGKILL)
        except ProcessLookupError:
            pass
        os.waitpid(self.process, 0)
        self._connection.close()


def _serve_and_end(serve, connection):
    """In a child: nothing of its parent's program runs after this, whatever is raised."""
    status = 1
    try:
        serve(connection)
        status = 0
    except BaseException:
        traceback.print_exc()
    finally:
        os._exit(status)


class Children:
    """Used with `with`: at its end all children have ended."""

    def __init__(self):
        self._children = []

    def fork(self, connection, serve):
        """A child that calls `serve` with the connection, and then ends."""
        sys.stdout.flush()
        sys.stderr.flush()
        parent, process = os.getpid(), os.fork()
        if process == 0:
            os.setpgid(0, 0)
            die_with_parent()
            if os.getppid() != parent:
                os._exit(1)  # It has ended before it was watched.
            for child in self._children:
                child._connection.close()
            _serve_and_end(serve, connection)
        try:
            os.setpgid(process, process)  # Both do, since either may be first.
        except OSError:
            pass
        self._children.append(_Child(process, connection))

    def tend(self):
        """Ends children whose connection has ended; returns a sentence of one that has ended before it, or None."""
        problem = None
        for child in list(self._children):
            ended = child.what_ended_it()
            problem = ended or problem
            if ended is not None or child.is_to_end():
                self._children.remove(child)
                child.end()
        return problem

    def __enter__(self):
        return self

    def __exit__(self, kind, value, trace):
        end_s = time.monotonic() + _GRACE_S
        while kind is None and self._children and time.monotonic() < end_s:
            self.tend()
            time.sleep(0.01)
        while self._children:
            self._children.pop().end()
