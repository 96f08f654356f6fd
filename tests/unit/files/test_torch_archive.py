"""Files of `torch.save`, read without torch: tensors of any type and layout. The attacks are in test_checkpoint."""

from __future__ import annotations

import zipfile

import numpy as np
import pytest
import torch

from toporank.files.torch_archive import TorchFile

NUMBERS = torch.arange(80.0)
TENSORS = {
    "as it is": NUMBERS.reshape(20, 4),
    "a part of a larger one": NUMBERS.reshape(20, 4)[5:, 1:3],
    "transposed": NUMBERS.reshape(20, 4).T,
    "every other row": NUMBERS.reshape(20, 4)[::2],
    "repeated": torch.ones(1, 1).expand(6, 3),
    "a parameter": torch.nn.Parameter(NUMBERS),
    "without dimension": torch.tensor(0.5),
    "without numbers": torch.zeros(0, 3),
    "double precision": NUMBERS.double() / 3,
    "half precision": NUMBERS.half(),
    "bfloat16": NUMBERS.bfloat16(),
    "small whole numbers": NUMBERS.to(torch.uint16),
    "yes and no": NUMBERS % 2 == 0,
}


@pytest.mark.parametrize("protocol", [2, 4])
@pytest.mark.parametrize("packed", [False, True])
def test_tensors_are_read_as_torch_has_them(tmp_path, protocol, packed):
    """packed : by a zip program, which compresses."""
    path = tmp_path / "saved"
    torch.save(TENSORS, path, pickle_protocol=protocol)
    if packed:
        with zipfile.ZipFile(path) as old, zipfile.ZipFile(tmp_path / "packed", "w", zipfile.ZIP_DEFLATED) as new:
            for name in old.namelist():
                new.writestr(name, old.read(name))
        path = tmp_path / "packed"
    with TorchFile(path) as file:
        for name, tensor in TENSORS.items():
            expected = tensor.detach().float() if name == "bfloat16" else tensor.detach()
            found = file.numbers(file.content[name])
            assert found.dtype == expected.numpy().dtype, name
            np.testing.assert_array_equal(found, expected.numpy(), err_msg=name)
