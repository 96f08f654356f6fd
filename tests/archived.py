"""Archives of a few files."""

from __future__ import annotations

import io
import tarfile
import zipfile
from collections.abc import Mapping
from pathlib import Path


def packed(name: str, files: Mapping[str, object]) -> bytes:
    """A zip or, by the name of the archive, a tar file.

    files : name → text, bytes, or files of an archive in it
    """
    contents = {}
    for inner, content in files.items():
        whole = packed(inner, content) if isinstance(content, Mapping) else content
        contents[inner] = whole.encode() if isinstance(whole, str) else whole
    file = io.BytesIO()
    if name.endswith(".zip"):
        with zipfile.ZipFile(file, "w") as archive:
            for inner, content in contents.items():
                archive.writestr(inner, content)
        return file.getvalue()
    mode = "w:gz" if name.endswith("gz") else "w"
    with tarfile.open(fileobj=file, mode=mode) as archive:
        for inner, content in contents.items():
            info = tarfile.TarInfo(inner)
            info.size = len(content)
            archive.addfile(info, io.BytesIO(content))
    return file.getvalue()


def archived(path: Path, files: Mapping[str, object]) -> Path:
    """Write an archive."""
    path.write_bytes(packed(path.name, files))
    return path
