"""Kernels that have their libraries already: forks of one process that has loaded them.

PyTorch, Matplotlib and IPython take three to four seconds of processor time to import,
and each of thirty notebooks has a kernel of its own. On Linux, each worker imports them
once, in Python's own fork server, and forks a kernel from it. A notebook notices
nothing: its own import statements run, nothing of ``helpers`` is loaded yet,
``sys.path`` is that of a fresh interpreter, and random numbers begin anew.
"""

import contextlib
import functools
import json
import multiprocessing
import multiprocessing.forkserver
import os
import random
import subprocess
import sys
from unittest import mock

import nbval.kernel

LIBRARIES = [
    "torch",
    "matplotlib.figure",
    "matplotlib.style",
    "ipykernel.ipkernel",
    "ipykernel.kernelapp",
    "ipywidgets",
]
INLINE = "module://matplotlib_inline.backend_inline"  # as a kernel sets it


class Forked:
    """A kernel's process, with what jupyter_client asks of a ``Popen``."""

    stdin = stdout = stderr = None

    def __init__(self, process):
        self.process, self.pid = process, process.pid

    def poll(self):
        """The exit code, or None while it runs."""
        return self.process.exitcode

    def wait(self, timeout=None):
        """Wait for the end."""
        self.process.join(timeout)
        return self.process.exitcode

    def send_signal(self, number):
        """Send a signal, if it still runs."""
        if self.poll() is None:
            os.kill(self.pid, number)

    def terminate(self):
        """Ask it to end."""
        self.process.terminate()

    def kill(self):
        """End it."""
        self.process.kill()


@functools.cache
def server():
    """The fork server, started with the libraries; and a fresh interpreter's path."""
    context = multiprocessing.get_context("forkserver")
    context.set_forkserver_preload(LIBRARIES)
    with mock.patch.dict(os.environ, MPLBACKEND=INLINE):
        multiprocessing.forkserver.ensure_running()
    path = [sys.executable, "-c", "import json, sys; print(json.dumps(sys.path[1:]))"]
    return context, json.loads(subprocess.check_output(path))


def launch(command, *, env, cwd=None, **_):
    """In place of jupyter_client's ``launch_kernel``."""
    context, path = server()
    begun, begins = context.Pipe(duplex=False)
    arguments = command[command.index("ipykernel_launcher") + 1 :]
    process = context.Process(target=serve, args=(arguments, env, cwd, path, begins))
    process.start()
    begins.close()
    begun.recv()  # now it leads a group of its own, to which signals are sent
    return Forked(process)


def serve(arguments, env, cwd, path, begins):
    """What a fork does: be a kernel."""
    os.setsid()
    begins.send(None)
    begins.close()
    os.environ.clear()
    os.environ.update(env)
    if cwd:
        os.chdir(cwd)
    # Where the notebook's own processes look for what it imports from its folder.
    multiprocessing.process.ORIGINAL_DIR = os.getcwd()
    sys.path[:] = path
    sys.argv[:] = ["ipykernel_launcher", *arguments]
    random.seed()
    sys.modules["numpy"].random.seed()
    from ipykernel import kernelapp

    kernelapp.launch_new_instance(argv=arguments)


FRESH = nbval.kernel.start_new_kernel


def start_new_kernel(*args, **options):
    """In place of nbval's."""
    name = "jupyter_client.provisioning.local_provisioner.launch_kernel"
    with mock.patch(name, launch):
        return FRESH(*args, **options)


def use():
    """From now on, nbval's kernels are forked, where that is possible."""
    with contextlib.suppress(ValueError):  # no fork server, as on Windows
        if sys.platform == "linux" and multiprocessing.get_context("forkserver"):
            nbval.kernel.start_new_kernel = start_new_kernel
