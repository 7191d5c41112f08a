"""A forked kernel is to a notebook what a fresh one is."""

import json
import random
import sys

import pytest

from tests import warm_kernels

ASKED = """import json, os, random, sys
loaded = [one for one in sys.modules if one.startswith(("helpers", "attention_audit"))]
here, group = os.getcwd(), os.getpgrp() == os.getpid()
print(json.dumps([loaded, sys.path, here, group, sys.argv[0], random.random()]))"""


@pytest.mark.skipif(sys.platform != "linux", reason="kernels are forked on Linux only")
def test_a_forked_kernel_has_libraries_and_nothing_of_the_book(tmp_path):
    random.seed(0)
    told = []
    for start in (warm_kernels.FRESH, warm_kernels.start_new_kernel):
        manager, client = start(60, "python3", cwd=str(tmp_path))
        said = []
        client.execute_interactive(ASKED, output_hook=said.append, timeout=60)
        (text,) = (m["content"]["text"] for m in said if m["msg_type"] == "stream")
        told.append(json.loads(text))
        assert manager.is_alive()
        client.stop_channels()
        manager.shutdown_kernel(now=True)
        assert not manager.is_alive()
    (*fresh, program, one), (*forked, _, other) = told
    assert forked == fresh == [[], fresh[1], str(tmp_path), True]
    assert program.endswith("ipykernel_launcher.py")
    assert one != other
