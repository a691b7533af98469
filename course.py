#!/usr/bin/env python3
"""Opens the course, tests it, or says what is wrong with its set-up. Nothing is needed but Python 3.11 or newer.

    python3 course.py              makes .venv, installs, checks, opens JupyterLab on lesson 1
    python3 course.py --no-open    the same, but prints the address instead of opening a browser
    python3 course.py test         makes .venv, installs, runs every test
    python3 course.py doctor       says what is wrong with the set-up, and how to mend it

This file must also be readable by the Pythons that are too old for the course, so that they can say so: hence no
f-strings and no annotations here.
"""

from __future__ import print_function

import argparse
import hashlib
import json
import os
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time

OLDEST, TOO_NEW = (3, 11), (3, 15)
HERE = os.path.dirname(os.path.abspath(__file__))
VENV = os.path.join(HERE, ".venv")
PYTHON = os.path.join(VENV, "Scripts", "python.exe") if os.name == "nt" else os.path.join(VENV, "bin", "python")
FIRST_LESSON = "lessons/01_address.ipynb"


class Trouble(Exception):
    """Something that keeps the course from opening: what it is, and how to mend it."""

    def __init__(self, what, mend):
        Exception.__init__(self, what)
        self.what, self.mend = what, mend


# ---------------------------------------------------------------------------------------------------- what can be wrong


def check_python():
    if not OLDEST <= sys.version_info[:2] < TOO_NEW:
        here = ".".join(str(n) for n in sys.version_info[:3])
        raise Trouble(
            "this is Python {0}; the course runs on Python 3.11 to 3.14".format(here),
            "install one of these from python.org (or your system's packages), then start the course with it, "
            "for example: python3.12 course.py",
        )


def check_folder():
    try:
        with tempfile.TemporaryFile(dir=HERE):
            pass
    except OSError:
        raise Trouble(
            "the folder {0} cannot be written to".format(HERE),
            "copy the whole folder to a place of your own, for example your home folder, and start course.py there",
        )


def check_venv_module():
    try:
        import ensurepip  # noqa: F401
        import venv  # noqa: F401
    except ImportError:
        raise Trouble(
            "this Python comes without the parts that make a virtual environment (venv, ensurepip)",
            "on Debian or Ubuntu: sudo apt install python{0}.{1}-venv; elsewhere install Python from python.org".format(
                *sys.version_info[:2]
            ),
        )


def check_venv():
    """A .venv that is there must be able to run; one that is not there yet is no trouble."""
    if os.path.isdir(VENV) and not runs(PYTHON):
        raise Trouble(
            "the folder .venv is half made (its Python does not start)",
            "nothing to do by hand: 'python3 course.py' makes it anew",
        )


def check_network():
    """Packages are fetched only while .venv is not complete; a finished set-up needs no network."""
    if ready("lab"):
        return
    asked = [sys.executable, "-m", "pip", "--disable-pip-version-check", "download", "--no-deps", "--quiet"]
    place = tempfile.mkdtemp()
    try:
        if subprocess.call(asked + ["--dest", place, "rich"], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL):
            raise Trouble(
                "pip cannot fetch packages: there is no network, or a proxy stands in the way",
                "connect once for the set-up (about 100 MB); afterwards the course works offline. Behind a proxy, "
                "set HTTPS_PROXY first",
            )
    finally:
        shutil.rmtree(place, ignore_errors=True)


def runs(python):
    """True if that interpreter starts and has pip."""
    try:
        return subprocess.call([python, "-c", "import pip"], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL) == 0
    except OSError:
        return False


# -------------------------------------------------------------------------------------------------------------- set-up


def recipe():
    """A digest of all that decides what gets installed: when it changes, the set-up is run again."""
    digest = hashlib.sha256(repr((sys.version_info[:2], HERE)).encode())
    for name in ("pyproject.toml", "constraints.txt"):
        with open(os.path.join(HERE, name), "rb") as f:
            digest.update(f.read())
    return digest.hexdigest()


def stamp(extra):
    return os.path.join(VENV, "spanlab-ready-" + extra)


def ready(extra):
    """True if .venv was set up to the end with this recipe."""
    try:
        with open(stamp(extra)) as f:
            return f.read() == recipe() and os.path.exists(PYTHON)
    except OSError:
        return False


def set_up(extra):
    """Makes .venv, or mends it, and installs spanlab with the extra `lab` (learners) or `dev` (tests)."""
    check_python()
    check_folder()
    if ready(extra):
        return
    check_venv_module()
    if not runs(PYTHON):
        say("Making .venv ...")
        if subprocess.call([sys.executable, "-m", "venv", "--clear", VENV]):
            raise Trouble("the virtual environment .venv could not be made", "see the message above")
    say("Installing the course into .venv (about a minute, needs the network this once) ...")
    pip = [PYTHON, "-m", "pip", "--disable-pip-version-check", "install", "--quiet"]
    pip += ["--constraint", os.path.join(HERE, "constraints.txt"), "--editable", HERE + "[" + extra + "]"]
    if subprocess.call(pip):
        check_network()
        raise Trouble(
            "pip could not install the course", "see its message above; 'python3 course.py doctor' looks further"
        )
    quiet_jupyter()
    if subprocess.call([PYTHON, "-m", "spanlab.cli", "doctor", "--brief"]):
        raise Trouble("the self-check of the course found a fault", "see the lines above")
    with open(stamp(extra), "w") as f:
        f.write(recipe())


def quiet_jupyter():
    """Switches JupyterLab's news off, inside .venv: it asks for consent over the lesson, and asks a server."""
    folder = os.path.join(VENV, "etc", "jupyter", "labconfig")
    if not os.path.isdir(folder):
        os.makedirs(folder)
    with open(os.path.join(folder, "page_config.json"), "w") as f:
        json.dump({"disabledExtensions": {"@jupyterlab/apputils-extension:announcements": True}}, f)


# ------------------------------------------------------------------------------------------------------------ commands


def open_course(port, open_browser):
    set_up("lab")
    port = free_port(port)
    token = hashlib.sha256(os.urandom(32)).hexdigest()[:32]
    address = "http://127.0.0.1:{0}/lab/tree/{1}?token={2}".format(port, FIRST_LESSON, token)
    environment = dict(os.environ, JUPYTER_TOKEN=token, JUPYTER_PREFER_ENV_PATH="1")
    server = subprocess.Popen(
        [PYTHON, "-m", "jupyterlab", "--no-browser", "--ip=127.0.0.1", "--port={0}".format(port)]
        + ["--ServerApp.port_retries=0", "--ServerApp.root_dir=" + HERE, "--ServerApp.answer_yes=True"]
        # what was run yesterday is shown as its still picture today, not as a widget that has lost its kernel
        + ["--NotebookNotary.db_file=:memory:"]
        + ["--LabApp.log_level=ERROR", "--ServerApp.log_level=CRITICAL"]
        + (["--allow-root"] if hasattr(os, "geteuid") and os.geteuid() == 0 else []),
        env=environment,
        cwd=HERE,
        # Ctrl-C must reach this program alone: JupyterLab, told twice to end, may hang
        start_new_session=os.name != "nt",
        creationflags=getattr(subprocess, "CREATE_NEW_PROCESS_GROUP", 0),
    )
    for name in ("SIGTERM", "SIGHUP"):  # a closed terminal ends the course as Ctrl-C does
        if hasattr(signal, name):
            signal.signal(getattr(signal, name), interrupt)
    try:
        if wait_until_it_answers(server, port):
            say("The course is open at\n\n    {0}\n\nCtrl-C here ends it.".format(address))
            if open_browser:
                import webbrowser

                webbrowser.open(address)
        return server.wait()
    except KeyboardInterrupt:
        say("\nClosing the course. What you did is saved.")
        return 0
    finally:
        end(server)


def interrupt(number, frame):
    raise KeyboardInterrupt


def end(server):
    """Asks JupyterLab to end, which saves and stops the kernels; after ten seconds it is not asked any more."""
    if server.poll() is None:
        server.terminate()
        try:
            server.wait(10)
        except subprocess.TimeoutExpired:
            server.kill()
            server.wait()


def free_port(first):
    """The first port from `first` on that nobody listens on."""
    for port in range(first, first + 100):
        with socket.socket() as s:
            if s.connect_ex(("127.0.0.1", port)) != 0:
                if port != first:
                    say("Port {0} is busy; taking {1}.".format(first, port))
                return port
    raise Trouble("the ports {0} to {1} are all busy".format(first, first + 99), "choose another one: --port 9100")


def wait_until_it_answers(server, port):
    while server.poll() is None:
        with socket.socket() as s:
            if s.connect_ex(("127.0.0.1", port)) == 0:
                return True
        time.sleep(0.1)
    return False


NOTEBOOKS = [f for f in ("lessons", "labs", "solutions") if os.path.isdir(os.path.join(HERE, f))]
STEPS = [
    ("style", ["-m", "ruff", "check", "."]),
    ("format", ["-m", "ruff", "format", "--check", "."]),
    ("types", ["-m", "mypy"]),
    ("floors", ["-c", "from importlinter.cli import lint_imports_command as c; c()"]),
    ("notebooks in normal form", ["-m", "spanlab.course.notebooks", "check"] + NOTEBOOKS),
    ("tests", ["-m", "pytest", "-n", "2", "--dist", "worksteal"]),
    # strict: every stored output is compared with what the cell prints now
    (
        "outputs of the notebooks",
        ["-m", "pytest", "--nbval", "--nbval-current-env", "--nbval-cell-timeout", "60", "-p", "no:python"]
        + ["-o", "addopts=-q", "-o", "filterwarnings=default", "-n", "2", "--dist", "loadscope"]
        + NOTEBOOKS,
    ),
]


def test_course():
    set_up("dev")
    failed = []
    for name, step in STEPS:
        say("== " + name)
        started = time.time()
        with tempfile.TemporaryDirectory() as progress:
            environment = dict(os.environ, SPANLAB_PROGRESS=progress, SPANLAB_BARS="off", PYTHONHASHSEED="0")
            if subprocess.call([PYTHON] + step, cwd=HERE, env=environment):
                failed.append(name)
        say("   {0:.0f} s".format(time.time() - started))
    if failed:
        say("Failed: " + ", ".join(failed))
    return 1 if failed else 0


def doctor():
    """Every check is made, so that one visit is enough."""
    troubles = []
    for check in (check_python, check_folder, check_venv_module, check_venv, check_network):
        try:
            check()
            say("ok      " + check.__name__.replace("check_", "").replace("_", " "))
        except Trouble as t:
            troubles.append(t)
            say("TROUBLE {0}\n        To mend it: {1}.".format(t.what, t.mend))
    if not troubles and not ready("lab"):
        say("        The course is not installed yet: 'python3 course.py' does it.")
    elif not troubles:
        return subprocess.call([PYTHON, "-m", "spanlab.cli", "doctor"])
    return 1 if troubles else 0


def say(text):
    print(text)
    sys.stdout.flush()


def main():
    parser = argparse.ArgumentParser(
        description="Opens the spanlab course.", epilog="Without a command: opens the course."
    )
    parser.add_argument("command", nargs="?", choices=["test", "doctor"], help="run every test; or look what is wrong")
    parser.add_argument("--no-open", action="store_true", help="print the address, open no browser, keep serving")
    parser.add_argument("--port", type=int, default=8888, help="the first port to try (default 8888)")
    asked = parser.parse_args()
    try:
        if asked.command == "test":
            return test_course()
        if asked.command == "doctor":
            return doctor()
        return open_course(asked.port, not asked.no_open)
    except Trouble as t:
        say("The course cannot start: {0}.\nTo mend it: {1}.".format(t.what, t.mend))
        return 1


if __name__ == "__main__":
    sys.exit(main())
