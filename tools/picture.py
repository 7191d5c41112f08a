"""Film two views of the built book for the README, in light and dark.

    python -m tools.picture

The trained model looks back for the word that a story needs, and writes it; then a
query is led around its keys. Each film shows what a reader's browser shows: Chromium
draws the page, and every frame is its screenshot. It needs `make book` first, and
Chromium.
"""

import argparse
import io
import itertools
import math
import pathlib
import shutil
import sys

from PIL import Image
from playwright.sync_api import sync_playwright

ROOT = pathlib.Path(__file__).resolve().parent.parent
SITE = ROOT / "_build" / "html"
FOLDER = ROOT / ".github"
THEMES = ("light", "dark")
SIZE = {"width": 780, "height": 424}
SHARPNESS = 1.25  # pixels of the film for one of the page
QUALITY = 65
TITLE = 36  # of a view: its height, which is left out
STEPS = 36  # frames of the query's way around
CHARACTERS = 12  # up to the end of the question
# The view alone, as large as the window, without its title.
STAGE = """(view, top) => {
    view.querySelector(".title").style.visibility = "hidden";
    Object.assign(view.style, {
        position: "fixed", inset: `${-top}px 0 auto 0`, height: "1200px", margin: 0,
        zIndex: 9999, border: 0, borderRadius: 0, padding: "12px 24px",
        background: getComputedStyle(document.body).backgroundColor,
    });
}"""


def view_of(page, module):
    """The first view of a kind, once it is alive."""
    view = page.locator(f'.aos-view[data-module="{module}"]').first
    view.locator(".live [data-control]").first.wait_for()
    return view


def story_scene(page, site):
    """Let the model write what it looks back for; the seconds of each frame."""
    page.goto((site / "chapters" / "index.html").as_uri())
    view = view_of(page, "unfinished_story")
    view.evaluate(STAGE, TITLE)
    yield 2.5
    for _ in range(CHARACTERS):
        view.locator('[data-control="write"]').evaluate("button => button.click()")
        yield 0.25
    yield 1.5


def query_scene(page, site):
    """Lead the query around its keys by the mouse; the seconds of each frame."""
    page.goto((site / "chapters" / "why_the_exponential.html").as_uri())
    view = view_of(page, "query_explorer")
    view.evaluate(STAGE, TITLE)
    box = view.locator("svg").first.bounding_box()
    middle = (box["x"] + box["width"] / 2, box["y"] + box["height"] / 2)
    radius = 0.3 * box["width"]

    def point(step):
        angle = math.tau * step / STEPS + 0.6
        return (
            middle[0] + radius * math.cos(angle),
            middle[1] - 0.8 * radius * math.sin(angle),
        )

    handle = view.locator('[data-control="query"]').bounding_box()
    page.mouse.move(
        handle["x"] + handle["width"] / 2, handle["y"] + handle["height"] / 2
    )
    page.mouse.down()
    for step in range(STEPS):
        page.mouse.move(*point(step))
        yield 0.1
    page.mouse.up()


def film(browser, theme, site, *, most=None):
    """Show both scenes in one theme.

    Args:
        browser: Playwright's.
        theme: "light" or "dark".
        site: the folder of the built book.
        most: frames of a scene; where left out, all.

    Returns:
        frames: images.
        seconds: how long each is shown.
    """
    page = browser.new_context(
        viewport=SIZE, device_scale_factor=SHARPNESS, color_scheme=theme
    ).new_page()
    frames, seconds = [], []
    for scene in (story_scene, query_scene):
        for shown in itertools.islice(scene(page, site), most):
            frames.append(Image.open(io.BytesIO(page.screenshot())).convert("RGB"))
            seconds.append(shown)
    page.context.close()
    return frames, seconds


def write(path, frames, seconds):
    """Write an endless animation as WebP."""
    first, *others = frames
    first.save(
        path,
        save_all=True,
        append_images=others,
        duration=[round(1000 * each) for each in seconds],
        loop=0,
        quality=QUALITY,
        method=4,
    )


def main():
    """Film both themes; say how large each film is, or what is missing."""
    argparse.ArgumentParser(description=__doc__.splitlines()[0]).parse_args()
    if not (SITE / "index.html").is_file():
        sys.exit(f"{SITE} holds no built book: run make book")
    names = ("chromium", "chromium-browser", "google-chrome")
    found = next(filter(None, map(shutil.which, names)), None)
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(
            executable_path=found, args=["--no-sandbox"]
        )
        for theme in THEMES:
            path = FOLDER / f"book-{theme}.webp"
            write(path, *film(browser, theme, SITE))
            print(f"{path.relative_to(ROOT)}: {path.stat().st_size / 1e3:.0f} kB")
        browser.close()


if __name__ == "__main__":
    main()
