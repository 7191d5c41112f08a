"""What all tests of the audit share."""

import pytest
import torch


@pytest.fixture(scope="module", autouse=True)
def one_thread():
    """One thread: the tensors are so small that a second one waits."""
    threads = torch.get_num_threads()
    torch.set_num_threads(1)
    yield
    torch.set_num_threads(threads)
