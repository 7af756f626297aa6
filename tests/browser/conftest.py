"""One JupyterLab server for all notebooks in the browser."""

import json
import os
import shutil
import subprocess
import sys
import time
from pathlib import Path

import pytest

from tools import learner

ROOT = Path(__file__).resolve().parents[2]
START_SECONDS = 120
RUN_SECONDS = 300
WIDTH, LOW, TALLEST = 1200, 900, 30_000  # of the window
SETTLES = 500  # milliseconds until a resized window is drawn
ROOM = 300  # for the bars of JupyterLab
LAB = ["--no-browser", "--allow-root", "--ServerApp.ip=127.0.0.1", "--ServerApp.port=0"]
LAB += ["--LabApp.expose_app_in_browser=True", "--LabApp.news_url=None"]
LAB += ["--LabApp.check_for_updates_class=jupyterlab.NeverCheckForUpdate"]

OPEN = "path => jupyterapp.commands.execute('docmanager:open', {path}).then(widget => widget.context.ready)"
RUN_ALL = """async () => {
    const panel = jupyterapp.shell.currentWidget;
    await panel.context.ready; await panel.sessionContext.ready;
    await jupyterapp.commands.execute('notebook:run-all-cells');
    const outputs = cell => [...Array(cell.outputs.length).keys()].map(i => cell.outputs.get(i));
    return [...panel.content.model.cells].filter(cell => cell.type === 'code')
        .filter(cell => !(cell.getMetadata('tags') ?? []).includes('raises-exception'))
        .flatMap(outputs).filter(out => out.type === 'error').map(out => out.toJSON().evalue);
}"""
RUN_CELLS = """async numbers => {
    const panel = jupyterapp.shell.currentWidget, notebook = panel.content;
    await panel.context.ready; await panel.sessionContext.ready;
    for (const number of numbers) {
        notebook.deselectAll(); notebook.activeCellIndex = number;
        await jupyterapp.commands.execute('notebook:run-cell');
    }
    const outputs = cell => [...Array(cell.outputs.length).keys()].map(i => cell.outputs.get(i));
    return numbers.flatMap(number => outputs(notebook.model.cells.get(number)))
        .filter(out => out.type === 'error').map(out => out.toJSON().evalue);
}"""
INTO_CELL = """number => {
    const notebook = jupyterapp.shell.currentWidget.content;
    notebook.activeCellIndex = number; notebook.mode = 'edit'; notebook.activeCell.editor.focus();
}"""
HEIGHT = """() => [...document.querySelectorAll('.jp-Notebook .jp-Cell')]
    .reduce((sum, cell) => sum + cell.getBoundingClientRect().height, 0)"""
TO_TOP = "document.querySelectorAll('.jp-WindowedPanel-outer').forEach(one => { one.scrollTop = 0; })"
CLOSE_ALL = """async () => {
    for (const widget of [...jupyterapp.shell.widgets('main')]) {
        if (widget.context?.model) { widget.context.model.dirty = false; }
        widget.close();
    }
    await jupyterapp.serviceManager.sessions.shutdownAll();
}"""


@pytest.fixture(scope="session")
def lab(tmp_path_factory, chromium):
    """Yield address and token of a JupyterLab with copies of the notebooks, as instructors and as learners have them.

    The browser comes first, as it may skip.
    """
    home = tmp_path_factory.mktemp("lab")
    shutil.copytree(ROOT / "notebooks", home / "root" / "notebooks", ignore=shutil.ignore_patterns(".*"))
    learner.hand_out(learner.copies(), home / "root" / "learner")
    write_settings(home / "config")
    with (home / "lab.log").open("wb") as log:
        command = [sys.executable, "-m", "jupyterlab", *LAB, f"--ServerApp.root_dir={home / 'root'}"]
        environment = lab_environment(home)
        server = subprocess.Popen(command, env=environment, stdout=log, stderr=subprocess.STDOUT, cwd=home)
        try:
            yield wait_for_server(server, home)
        finally:
            stop(server)


def write_settings(config):
    """Switch off the news, and the windowing that leaves cells out of the page."""
    settings = {
        "labconfig/page_config.json": {"disabledExtensions": {"@jupyterlab/apputils-extension:announcements": True}},
        "lab/user-settings/@jupyterlab/notebook-extension/tracker.jupyterlab-settings": {"windowingMode": "none"},
    }
    for name, content in settings.items():
        (config / name).parent.mkdir(parents=True)
        (config / name).write_text(json.dumps(content), encoding="utf8")


def lab_environment(home):
    """Folders of its own, so that no setting of the user matters."""
    names = {"JUPYTER_CONFIG_DIR": "config", "JUPYTER_DATA_DIR": "data", "JUPYTER_RUNTIME_DIR": "run"}
    names["IPYTHONDIR"] = "ipython"
    return os.environ | {name: str(home / folder) for name, folder in names.items()}


def wait_for_server(server, home):
    """Return what the server says about itself once it listens."""
    deadline = time.monotonic() + START_SECONDS
    while server.poll() is None and time.monotonic() < deadline:
        for path in (home / "run").glob("jpserver-*.json"):
            try:
                return json.loads(path.read_text(encoding="utf8"))
            except ValueError:
                pass  # half written
        time.sleep(0.1)
    pytest.fail((home / "lab.log").read_text(encoding="utf8")[-3000:])


def stop(server):
    """Ask the server to stop itself and its kernels."""
    server.terminate()
    try:
        server.wait(15)
    except subprocess.TimeoutExpired:
        server.kill()
        server.wait()


@pytest.fixture(scope="session")
def page(lab, chromium):
    """Yield JupyterLab in one page: loading it costs more than opening a notebook."""
    context = chromium.new_context(viewport={"width": WIDTH, "height": LOW})
    context.set_default_timeout(RUN_SECONDS * 1000)
    page = context.new_page()
    page.errors = []
    page.on("pageerror", lambda error: page.errors.append(str(error)))
    page.on("console", lambda message: page.errors.append(message.text) if message.type == "error" else None)
    page.goto(f"{lab['url']}lab?reset&token={lab['token']}")
    page.wait_for_function("window.jupyterapp !== undefined")
    page.evaluate("async () => { await jupyterapp.restored; }")
    yield page
    context.close()


class OpenNotebook:
    """A notebook in JupyterLab, of the instructor or of the learner."""

    def __init__(self, page, name, folder="notebooks"):
        self.page = page
        page.errors.clear()
        page.evaluate(OPEN, f"{folder}/{name}")

    def run_all(self):
        """Run every cell, wait for the last reply, and return the messages of unexpected errors."""
        return self.page.evaluate(RUN_ALL)

    def run(self, numbers):
        """Run some cells in this order, wait for the last reply, and return the messages of errors."""
        return self.page.evaluate(RUN_CELLS, numbers)

    def answer(self, number, text):
        """Write a text over what stands in a cell, by its number, and run it as a learner does."""
        self.page.evaluate(INTO_CELL, number)
        self.page.keyboard.press("ControlOrMeta+a")
        self.page.keyboard.insert_text(text)
        self.page.keyboard.press("Shift+Enter")

    def cell(self, number):
        """One cell of the notebook."""
        return self.page.locator(".jp-Notebook .jp-Cell").nth(number)

    def panels(self):
        """Outputs that hold a live figure with its caption."""
        outputs = self.page.locator(".jp-Notebook .jp-Cell-outputArea .jp-OutputArea-child")
        return outputs.filter(has=self.page.locator(".cofactor-readout"))

    def screenshot(self, path):
        """Store a picture of the whole notebook: for the moment, the window is as tall as that."""
        height = self.page.evaluate(HEIGHT)
        self.page.set_viewport_size({"width": WIDTH, "height": min(int(height) + ROOM, TALLEST)})
        self.page.evaluate(TO_TOP)
        self.page.wait_for_timeout(SETTLES)
        self.page.screenshot(path=path)
        self.page.set_viewport_size({"width": WIDTH, "height": LOW})


@pytest.fixture(scope="session")
def artefacts():
    """Return the folder for screenshots; COFACTOR_ARTEFACTS names another than test-artefacts/."""
    folder = Path(os.environ.get("COFACTOR_ARTEFACTS") or ROOT / "test-artefacts")
    folder.mkdir(parents=True, exist_ok=True)
    return folder


@pytest.fixture
def open_notebook(page, artefacts):
    """Open a notebook by its file name; afterwards close it and stop its kernel."""
    yield lambda name, folder="notebooks": OpenNotebook(page, name, folder)
    page.screenshot(path=artefacts / "last.png")
    page.evaluate(CLOSE_ALL)
