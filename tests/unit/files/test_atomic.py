"""Files are written in one step: a reader sees the old content or the new one, never half of it."""

from __future__ import annotations

import errno
import hashlib
import os

import pytest

from toporank.files.atomic import (
    link_or_copy,
    replacing,
    sha256,
    write_text,
    write_text_if_changed,
)


@pytest.mark.parametrize(
    ("content", "digest"),
    [
        (b"", "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"),
        (
            b"abc",
            "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad",
        ),  # FIPS 180-2, B.1
        (b"\0\r\n\xff" * 750_000, hashlib.sha256(b"\0\r\n\xff" * 750_000).hexdigest()),
    ],
    ids=["empty", "abc", "three megabytes"],
)
def test_sha256_is_that_of_the_bytes(tmp_path, content, digest):
    (tmp_path / "file").write_bytes(content)
    assert sha256(tmp_path / "file") == digest


# ---- in one step ---------------------------------------------------------------------------------


def test_a_reader_keeps_the_old_content_and_the_next_one_sees_the_new(tmp_path):
    path = tmp_path / "file"
    write_text(path, "old")
    with open(path) as reader:
        write_text(path, "new")
        assert (reader.read(), path.read_text()) == ("old", "new")


def test_a_write_that_fails_half_way_leaves_the_old_content_and_no_litter(tmp_path):
    path = tmp_path / "file"
    path.write_text("old")

    def fail() -> None:
        with replacing(path) as temporary:
            temporary.write_text("half of the n")
            raise OSError(errno.ENOSPC, "disk full")

    with pytest.raises(OSError, match="disk full"):
        fail()
    with pytest.raises(UnicodeEncodeError):
        write_text(path, "new" * 10000 + "\ud800")
    assert path.read_text() == "old"
    assert os.listdir(tmp_path) == ["file"]


@pytest.mark.parametrize("name", ["x" * 255, "ß" * 127])
def test_a_name_as_long_as_names_can_be_is_written(tmp_path, name):
    write_text(tmp_path / name, "new")
    (tmp_path / "source").write_text("other")
    link_or_copy(tmp_path / "source", tmp_path / name)
    assert (tmp_path / name).read_text() == "other"


def test_two_that_write_one_file_in_one_process_do_not_get_in_each_other_s_way(
    tmp_path,
):
    """Process numbers come again, too, in containers above all."""
    path = tmp_path / "file"
    with replacing(path) as first, replacing(path) as second:
        first.write_text("first")
        second.write_text("second")
    assert path.read_text() == "first"


def test_writing_the_same_text_again_does_not_touch_the_file(tmp_path):
    path = tmp_path / "file"
    assert write_text_if_changed(path, "a") is True
    os.utime(path, ns=(1, 1))
    assert write_text_if_changed(path, "a") is False
    assert path.stat().st_mtime_ns == 1
    assert write_text_if_changed(path, "b") is True
    assert (path.read_text(), path.stat().st_mtime_ns > 1) == ("b", True)


# ---- link or copy --------------------------------------------------------------------------------


def test_link_or_copy_gives_the_same_content_with_and_without_links(
    tmp_path, monkeypatch
):
    source = tmp_path / "source"
    source.write_text("content")
    link_or_copy(source, tmp_path / "deep" / "linked")
    assert (tmp_path / "deep" / "linked").samefile(source)

    def refuse(*_):
        raise OSError(errno.EXDEV, "another file system")

    monkeypatch.setattr(os, "link", refuse)
    link_or_copy(source, tmp_path / "copied")
    assert (tmp_path / "copied").read_text() == "content"
    assert not (tmp_path / "copied").samefile(source)


def test_link_or_copy_replaces_a_file_without_writing_into_it(tmp_path):
    new, old, destination = tmp_path / "new", tmp_path / "old", tmp_path / "destination"
    new.write_text("new")
    old.write_text("old")
    os.link(old, destination)
    link_or_copy(new, destination)
    assert (destination.read_text(), old.read_text()) == ("new", "old")
