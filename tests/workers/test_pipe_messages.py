"""Frames over a pipe: what is sent arrives, and nothing else that is written to it is waited for or believed."""

import os
import socket
import threading
import time

import pytest

from grpo_env.workers import pipe_messages
from grpo_env.workers.pipe_messages import HEADER, MARK, MAX_BYTES, BrokenFrameError, Frames


@pytest.fixture
def ends():
    """The parent's end as ``Frames``, and the worker's socket."""
    ours, theirs = socket.socketpair()
    with ours, theirs:
        yield Frames(ours.fileno()), theirs


@pytest.mark.parametrize("size", [0, 1, 2**20 + 1, 2**24])
def test_a_message_arrives_whole_in_both_directions(ends, size):
    parent, theirs = ends
    child, data = Frames(theirs.fileno(), own_end=True), os.urandom(size)
    echo = threading.Thread(target=lambda: child.send(child.receive()))
    echo.start()
    parent.send(data)
    assert parent.receive() == data
    echo.join()


@pytest.mark.parametrize(
    ("written", "reason"),
    [
        (b"garbage\n" * 100, "something else than its answer"),
        (b"\x00\x00\x00\x05hello and more", "something else than its answer"),
        (HEADER.pack(MARK, MAX_BYTES + 1), "its answer would have 1,073,741,825 bytes"),
        (HEADER.pack(MARK, 2**63), "its answer would have"),
        (HEADER.pack(MARK, 100)[:9], "its answer is not complete"),
        (HEADER.pack(MARK, 2**29) + b"some of it", "its answer is not complete"),
    ],
)
def test_what_is_no_frame_ends_the_exchange(ends, monkeypatch, written, reason):
    monkeypatch.setattr(pipe_messages, "FRAME_SECONDS", 0.2)
    parent, theirs = ends
    theirs.sendall(written)
    with pytest.raises(BrokenFrameError, match=reason):
        parent.receive()


def test_a_closed_end_and_one_that_does_not_read_are_errors(ends, monkeypatch):
    monkeypatch.setattr(pipe_messages, "FRAME_SECONDS", 0.2)
    parent, theirs = ends
    with pytest.raises(BrokenFrameError, match="does not read"):
        parent.send(bytes(2**24))
    theirs.close()
    with pytest.raises((EOFError, ConnectionResetError)):
        parent.receive()


def test_waiting_may_be_ended_by_the_caller_while_half_a_frame_is_there(ends):
    parent, theirs = ends
    theirs.sendall(MARK)

    def wait():
        if time.monotonic() > end:
            raise TimeoutError
        return 0.01

    end = time.monotonic() + 0.1
    with pytest.raises(TimeoutError):
        parent.receive(wait)
