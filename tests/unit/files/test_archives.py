"""Archives are unpacked once, whole and nowhere else, or refused in a line."""

from __future__ import annotations

import io
import random
import shutil
import tarfile
import time
import zipfile
from pathlib import Path

import pytest

from archived import archived
from messages import messages
from replacing import copied_there, moved_there, written_over
from toporank.errors import ConfigError
from toporank.files import archives
from toporank.files.archives import unpacked


def test_an_archive_is_unpacked_again_only_if_it_changed_and_its_files_keep_their_time(
    tmp_path,
):
    archive = archived(tmp_path / "a.zip", {"a.pdb": "one"})
    folder = unpacked(archive, tmp_path)
    then = (folder / "a.pdb").stat().st_mtime_ns
    (folder / "b.pdb").touch()
    assert (unpacked(archive, tmp_path) / "b.pdb").exists()
    (folder / "b.pdb").unlink()
    archived(archive, {"a.pdb": "other"})
    assert (unpacked(archive, tmp_path) / "a.pdb").read_text() == "other"
    assert (folder / "a.pdb").stat().st_mtime_ns == pytest.approx(then, abs=5e9)
    assert sorted(path.name for path in tmp_path.iterdir()) == ["a", "a.zip"]


@pytest.mark.parametrize(
    "way", [written_over, moved_there, copied_there], ids=lambda way: way.__name__
)
def test_another_archive_of_the_same_size_and_time_is_unpacked(tmp_path, way):
    archive, other = (
        archived(tmp_path / f"{text}.zip", {"a.pdb": text}) for text in ("one", "two")
    )
    assert (unpacked(archive, tmp_path / "to") / "a.pdb").read_text() == "one"
    way(archive, other.read_bytes())
    assert (unpacked(archive, tmp_path / "to") / "a.pdb").read_text() == "two"


def test_what_was_changed_by_hand_does_not_give_way_to_a_newer_archive(tmp_path):
    folder = unpacked(archived(tmp_path / "a.zip", {"a.pdb": "one"}), tmp_path)
    (folder / "a.pdb").write_text("changed by hand")
    with pytest.raises(ConfigError, match="which would be lost"):
        unpacked(archived(tmp_path / "a.zip", {"a.pdb": "two!"}), tmp_path)
    assert (folder / "a.pdb").read_text() == "changed by hand"


@pytest.mark.parametrize(
    "make", [Path.mkdir, Path.touch, lambda path: path.symlink_to(path.parent.parent)]
)
def test_what_was_not_unpacked_by_us_is_not_removed(tmp_path, make):
    (tmp_path / "to").mkdir()
    make(tmp_path / "to" / "a")
    before = sorted(tmp_path.rglob("*"))
    archive = archived(tmp_path / "a.zip", {"a.pdb": "one"})
    with pytest.raises(ConfigError, match="not unpacked by this command"):
        unpacked(archive, tmp_path / "to")
    assert sorted(tmp_path.rglob("*")) == sorted([*before, archive])


def refusal(archive: Path, says: str) -> None:
    """An archive is refused in a line that names it, and nothing of it is left."""
    to = archive.parent / "to"
    with pytest.raises(ConfigError, match=says) as caught:
        unpacked(archive, to)
    assert len(str(caught.value).splitlines()) == 1
    assert str(archive) in str(caught.value)
    assert caught.value.remedy
    assert [*to.iterdir()] == []


@pytest.mark.filterwarnings("ignore:Duplicate name")
@pytest.mark.parametrize(
    ("names", "says"),
    [
        *messages("archives"),
        (["ok.pdb", "T/" + "ä" * 130], "File name too long"),
        (["ok.pdb", "/".join(["long" * 50] * 30)], "File name too long"),
    ],
)
@pytest.mark.parametrize("name", ["a.zip", "a.tgz"])
def test_files_that_would_lie_elsewhere_in_one_place_or_cannot_be_written_are_refused(
    tmp_path, name, names, says
):
    refusal(archived(tmp_path / name, dict.fromkeys(names, "x")), says)


def entry(
    name: str, content: bytes = b"x", **known: object
) -> tuple[tarfile.TarInfo, bytes]:
    """A member of a tar file."""
    info = tarfile.TarInfo(name)
    info.size = len(content)
    for key, value in known.items():
        setattr(info, key, value)
    return info, content


def with_entries(
    path: Path, *entries: tuple[tarfile.TarInfo, bytes], mode: str = "w", **how: object
) -> Path:
    with tarfile.open(path, mode, **how) as archive:
        for info, content in entries:
            archive.addfile(info, io.BytesIO(content))
    return path


def test_symbolic_links_in_an_archive_are_left_out_and_hard_links_are_the_file_they_name(
    tmp_path,
):
    link = {"content": b"", "type": tarfile.SYMTYPE, "linkname": "/etc/passwd"}
    same = {"content": b"", "type": tarfile.LNKTYPE, "linkname": "a.pdb"}
    archive = with_entries(
        tmp_path / "a.tar",
        entry("a.pdb", b"atoms"),
        entry("b.pdb", **link),
        entry("c.pdb", **same),
    )
    files = {
        path.name: path.read_bytes()
        for path in unpacked(archive, tmp_path / "to").glob("*.pdb")
    }
    assert files == {"a.pdb": b"atoms", "c.pdb": b"atoms"}


def test_the_icon_of_a_folder_on_a_mac_is_left_out_and_the_rest_is_not(tmp_path):
    folder = unpacked(
        archived(tmp_path / "a.zip", {"T/Icon\r": "", "T/a.pdb": "x"}), tmp_path / "to"
    )
    assert [path.name for path in (folder / "T").iterdir()] == ["a.pdb"]


@pytest.mark.parametrize("modified", ["1e20", "nan", "-5", "1e400"])
def test_a_time_that_no_file_can_have_is_none(tmp_path, modified):
    archive = with_entries(
        tmp_path / "a.tar",
        entry("a.pdb", pax_headers={"mtime": modified}),
        format=tarfile.PAX_FORMAT,
    )
    assert (unpacked(archive, tmp_path / "to") / "a.pdb").stat().st_mtime == 0


@pytest.mark.parametrize(("limit", "most"), [("MOST_FILES", 1), ("MOST_BYTES", 5)])
@pytest.mark.parametrize("name", ["a.zip", "a.tgz"])
def test_an_archive_that_is_too_large_is_refused_before_anything_is_written(
    tmp_path, monkeypatch, name, limit, most
):
    archive = archived(tmp_path / name, {"a.pdb": "four", "b.pdb": "more"})
    monkeypatch.setattr(archives, limit, most)
    monkeypatch.setattr(zipfile.ZipFile, "extractall", None)
    monkeypatch.setattr(tarfile.TarFile, "extractall", None)
    for _ in range(2):
        refusal(archive, r"more than .* the room on the disk")


def test_a_sparse_file_counts_as_large_as_it_becomes(tmp_path, monkeypatch):
    monkeypatch.setattr(archives, "MOST_BYTES", 2**30)
    header = bytearray(tarfile.TarInfo("a.pdb").tobuf(tarfile.GNU_FORMAT))
    header[156:157] = tarfile.GNUTYPE_SPARSE
    header[483:495] = b"77777777777\0"  # its size: 8 GiB
    header[148:156] = b" " * 8
    header[148:156] = b"%06o\0 " % sum(header)
    (tmp_path / "a.tar").write_bytes(bytes(header) + bytes(1024))
    refusal(tmp_path / "a.tar", r"the room on the disk")


@pytest.mark.parametrize("name", ["a.zip", "a.tar.gz", "a.tar.bz2", "a.tar.xz"])
def test_a_damaged_archive_is_named_with_a_remedy(tmp_path, name):
    (tmp_path / name).write_text("no archive")
    refusal(tmp_path / name, rf"{name}: cannot be unpacked.*fetch it again")


ATOMS = bytes(random.Random(1).choices(b"ATOM 0123456789.", k=3000))


def one_of_each(folder: Path) -> dict[str, bytes]:
    """An archive of every kind with the same two files, by its name."""
    for mode, suffix in {
        "w": ".tar",
        "w:gz": ".tar.gz",
        "w:bz2": ".tar.bz2",
        "w:xz": ".tar.xz",
    }.items():
        same = entry("T/c.pdb", b"", type=tarfile.LNKTYPE, linkname="T/a.pdb")
        with_entries(
            folder / f"a{suffix}",
            entry("T/a.pdb", ATOMS),
            entry("T/" + "b" * 120, ATOMS),
            same,
            mode=mode,
        )
    for method in (
        zipfile.ZIP_STORED,
        zipfile.ZIP_DEFLATED,
        zipfile.ZIP_BZIP2,
        zipfile.ZIP_LZMA,
    ):
        with zipfile.ZipFile(folder / f"{method}.zip", "w", method) as archive:
            archive.writestr("T/a.pdb", ATOMS)
            archive.writestr("T/b.pdb", ATOMS)
    return {path.name: path.read_bytes() for path in folder.iterdir()}


@pytest.mark.parametrize("bit", range(0, 8 * 1000, 331))
def test_a_flipped_bit_in_a_gzip_is_noticed_by_its_checksum(tmp_path, bit):
    whole = one_of_each(tmp_path)["a.tar.gz"]
    place = 20 + bit // 8 % (len(whole) - 28)
    (tmp_path / "a.tar.gz").write_bytes(
        whole[:place] + bytes([whole[place] ^ 1 << bit % 8]) + whole[place + 1 :]
    )
    refusal(tmp_path / "a.tar.gz", "fetch it again|by hand|yourself")


def test_a_tar_file_of_which_a_header_is_damaged_or_the_end_is_missing_is_refused(
    tmp_path,
):
    """`tarfile` takes both for its end."""
    whole = one_of_each(tmp_path)["a.tar"]
    second = whole.index(b"T/a.pdb") + 512 + -(-len(ATOMS) // 512) * 512
    (tmp_path / "a.tar").write_bytes(whole[:second] + b"?" + whole[second + 1 :])
    refusal(tmp_path / "a.tar", "a header in it is damaged")
    (tmp_path / "a.tar").write_bytes(whole[:second])
    refusal(tmp_path / "a.tar", "it ends too early")


def test_whatever_happens_to_an_archive_it_is_unpacked_or_refused_in_a_line(tmp_path):
    """Damage of other kinds in every run; the seed is shown when one fails."""
    seed = time.time_ns() % 2**32
    random_ = random.Random(seed)
    kinds = one_of_each(tmp_path)
    for _ in range(100):
        name, content = random_.choice([*kinds.items()])
        content, at = bytearray(content), random_.randrange(len(content))
        damage = random_.choice(["flip", "cut", "replace"])
        if damage == "flip":
            content[at] ^= 1 << random_.randrange(8)
        else:
            content[at : None if damage == "cut" else at + random_.randrange(40)] = (
                random_.randbytes(random_.randrange(9))
            )
        (tmp_path / name).write_bytes(content)
        said = "nothing"
        try:
            shutil.rmtree(unpacked(tmp_path / name, tmp_path / "to"))
        except ConfigError as error:
            said = str(error)
        except Exception as error:
            raise AssertionError(f"seed {seed}, {name}") from error
        assert (len(said.splitlines()), [*(tmp_path / "to").iterdir()]) == (1, []), seed
