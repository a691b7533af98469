"""What a learner does in JupyterLab, as functions: open, run all, press keys, look."""

from __future__ import annotations

import json
import os
import urllib.request
from importlib.resources import files
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

LOCAL = {"127.0.0.1", "localhost"}
NETWORK = {"http", "https", "ws", "wss"}
RED = "[data-mime-type$='jupyter.stderr'], [data-mime-type$='jupyter.error']"

AXE = files("axe_playwright_python") / "axe.min.js"
# ipywidgets gives the handle of a slider no name (its issue 2650); the number box beside each slider has one
KNOWN_FAULT = ("aria-input-field-name", "noUi-handle")

# all code cells are numbered, or one of them failed and stopped the rest
RUN_THROUGH = f"""
() => {{
  const prompts = [...document.querySelectorAll('.jp-CodeCell .jp-InputPrompt')].map(e => e.textContent);
  const failed = document.querySelector("{RED}") && !prompts.some(text => text.includes('*'));
  return failed || prompts.length > 0 && prompts.every(text => /\\[\\d+\\]/.test(text));
}}
"""
RAN = "cell => /\\[\\d+\\]/.test(cell.querySelector('.jp-InputPrompt').textContent)"
# milliseconds from a key press to the moment the new picture is in the document
STOPWATCH = """
() => {
  window.pressed = null; window.drawn = [];
  document.addEventListener('keydown', () => { window.pressed = performance.now(); }, true);
  new MutationObserver((changes) => {
    const svg = changes.some(c => [...c.addedNodes].some(n =>
      n.nodeName === 'svg' || (n.querySelector && n.querySelector('svg.marks'))));
    if (!svg || window.pressed === null) return;
    window.drawn.push(performance.now() - window.pressed);
    window.pressed = null;
  }).observe(document.querySelector('.jp-Notebook'), {childList: true, subtree: true});
}
"""


class Lab:
    """One browser window on JupyterLab. `foreign` collects every request to another machine, which is refused."""

    def __init__(self, page: Any, address: str, token: str) -> None:
        self.page, self.address, self.token = page, address, token
        self.foreign: list[str] = []
        self.complaints: list[str] = []
        page.route("**/*", self._guard)
        page.on("console", lambda message: self.complaints.append(message.text) if message.type == "error" else None)

    def _guard(self, route: Any) -> None:
        address = urlsplit(route.request.url)
        if address.scheme in NETWORK and address.hostname not in LOCAL:
            self.foreign.append(route.request.url)
            route.abort()
        else:
            route.continue_()

    # ------------------------------------------------------------------------------------------------ what is done

    def ask(self, path: str, method: str = "GET", body: Any = None) -> Any:
        """The server's own interface, for what a test needs to arrange."""
        data = None if body is None else json.dumps(body).encode()
        headers = {"Authorization": f"token {self.token}", "Content-Type": "application/json"}
        request = urllib.request.Request(self.address + path, data=data, method=method, headers=headers)
        with urllib.request.urlopen(request, timeout=20) as answer:
            text = answer.read()
        return json.loads(text) if text else None

    def theme(self, name: str) -> None:
        """Switch to "JupyterLab Dark" or "JupyterLab Light", from the next notebook that is opened."""
        self.ask("/lab/api/settings/@jupyterlab/apputils-extension:themes", "PUT", {"raw": json.dumps({"theme": name})})

    def open(self, notebook: str) -> None:
        """Open a notebook in a workspace without anything else, and wait for its kernel."""
        self.page.goto(f"{self.address}/lab/tree/{notebook}?reset&token={self.token}")
        self.page.wait_for_selector(".jp-Notebook .jp-Cell", timeout=60_000)
        self.page.wait_for_selector(".jp-StatusBar-Widget >> text=/ipykernel.*Idle/", timeout=60_000)

    def menu(self, menu: str, entry: str) -> None:
        self.page.get_by_role("menuitem", name=menu, exact=True).click()
        self.page.get_by_role("menuitem", name=entry).first.click()  # not exact: the name may end in a shortcut

    def run_all(self) -> None:
        """Run All from the menu, and wait until no cell waits or runs."""
        self.menu("Edit", "Clear Outputs of All Cells")  # else stored results look like new ones
        self.menu("Run", "Run All Cells")
        self.page.wait_for_function(RUN_THROUGH, timeout=120_000)
        self.settle(1_000)

    def save(self) -> None:
        self.menu("File", "Save Notebook")
        self.settle(1_500)

    def cell(self, text: str) -> Any:
        """The first code cell whose source holds the text."""
        return self.page.locator(".jp-CodeCell", has=self.page.locator(".cm-content", has_text=text)).first

    def run_cell(self, text: str) -> Any:
        """Run the cell whose source holds the text, by keyboard, and wait until it is done."""
        cell = self.cell(text)
        cell.locator(".cm-content").click()
        self.page.keyboard.press("Shift+Enter")
        self.settle(300)
        self.page.wait_for_function(RAN, arg=cell.element_handle(), timeout=60_000)
        self.settle()
        return cell

    def answer(self, challenge: str, source: str) -> str:
        """Type over the answer cell of a challenge, run it, and return what it says."""
        cell = self.cell(f'check("{challenge}"')
        cell.locator(".cm-content").click()
        self.page.keyboard.press("Control+a")
        self.page.keyboard.insert_text(source)
        return self.run_cell(f'check("{challenge}"').locator(".jp-OutputArea").inner_text()

    def settle(self, milliseconds: int = 400) -> None:
        """Give widgets and pictures a moment to be drawn."""
        self.page.wait_for_timeout(milliseconds)

    def stopwatch(self) -> None:
        self.page.evaluate(STOPWATCH)

    def shut_down(self) -> None:
        for session in self.ask("/api/sessions"):
            self.ask(f"/api/sessions/{session['id']}", "DELETE")

    # ------------------------------------------------------------------------------------------------ what is seen

    def wait_for_pictures(self, count: int) -> None:
        self.page.wait_for_function(
            "count => document.querySelectorAll('.jp-Notebook svg.marks').length >= count", arg=count, timeout=60_000
        )
        self.settle()

    def outputs(self) -> list[Any]:
        """What each cell that shows something shows, in reading order."""
        return self.page.locator(".jp-Cell-outputArea > .jp-OutputArea-child").all()

    def panel(self, number: int = 0) -> Any:
        """The live panel with that number, in reading order."""
        return self.page.locator(".jp-OutputArea-output:has(> .jupyter-widgets.widget-vbox)").nth(number)

    def errors(self) -> list[str]:
        """The text of every red cell."""
        return self.page.locator(RED).all_inner_texts()

    def press(self, key: str) -> None:
        """Press a key, and wait for the picture that it draws. Wants a running stopwatch."""
        count = len(self.drawn())
        self.page.keyboard.press(key)
        self.page.wait_for_function("count => window.drawn.length > count", arg=count, timeout=20_000)
        self.settle(50)

    def drawn(self) -> list[float]:
        """Milliseconds from each key press to its picture, since `stopwatch`."""
        return self.page.evaluate("() => window.drawn")

    def accessibility(self) -> dict[str, list[str]]:
        """What axe-core finds wrong with the outputs of cells, beyond the known fault: rule -> places."""
        self.page.evaluate(AXE.read_text(encoding="utf-8"))
        found = self.page.evaluate("() => axe.run(document.querySelectorAll('.jp-Cell-outputArea'))")
        assert found["passes"], "axe-core looked at nothing"
        rules: dict[str, list[str]] = {}
        for one in found["violations"]:
            places = [node["html"][:200] for node in one["nodes"]]
            if one["id"] == KNOWN_FAULT[0]:
                places = [place for place in places if KNOWN_FAULT[1] not in place]
            if places:
                rules[one["id"]] = places
        return rules

    def shot_cells(self, name: str) -> None:
        """A screenshot of each cell, in reading order."""
        if "SPANLAB_SCREENSHOTS" in os.environ:
            for number, cell in enumerate(self.page.locator(".jp-Notebook .jp-Cell").all()):
                self.shot(f"{name}_{number:02}", cell)

    def shot(self, name: str, locator: Any = None) -> None:
        """A screenshot of a part, or of the whole window, for a person to look at."""
        folder = os.environ.get("SPANLAB_SCREENSHOTS")
        if folder:
            place = Path(folder) / f"{name}.png"
            place.parent.mkdir(parents=True, exist_ok=True)
            (locator or self.page).screenshot(path=str(place))
