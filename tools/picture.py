"""Film two views of the built book for the README, in light and dark.

    python -m tools.picture

The trained model looks back for the word that a story needs, and writes it; then a
real model's file is opened in the page, which writes, shows a head, and goes without
the first token. Each film shows what a reader's browser shows: Chromium draws the page,
and every frame is its screenshot; while the real model writes, each is shown for as
long as it took. It needs `make book` first, the model's file, and Chromium.
"""

import argparse
import io
import itertools
import pathlib
import shutil
import sys
import time

from PIL import Image
from playwright.sync_api import sync_playwright

from helpers.models.pretrained.catalogue import CARDS
from helpers.models.pretrained.files import folder_of

ROOT = pathlib.Path(__file__).resolve().parent.parent
SITE = ROOT / "_build" / "html"
FOLDER = ROOT / ".github"
THEMES = ("light", "dark")
SIZE = {"width": 780, "height": 424}
SHARPNESS = 1.25  # pixels of the film for one of the page
QUALITY = 65
TITLE = 36  # of a view: its height, which is left out
CHARACTERS = 12  # up to the end of the question
MODEL = "smollm2-135m"
BEGINNING = "The capital of France is"
# The view alone, as large as the window, without its title.
STAGE = """(view, top) => {
    view.querySelector(".title").style.visibility = "hidden";
    Object.assign(view.style, {
        position: "fixed", inset: `${-top}px 0 auto 0`, height: "1200px", margin: 0,
        zIndex: 9999, border: 0, borderRadius: 0, padding: "12px 24px",
        background: getComputedStyle(document.body).backgroundColor,
    });
}"""


# Moves a part of it to the top.
MOVE = """(view, place) => {
    const top = (one) => one.getBoundingClientRect().top;
    const down = top(view.querySelector(place)) - top(view) - 12;
    view.style.inset = `${-down}px 0 auto 0`;
    view.style.height = `${down + 1200}px`;
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


def model_scene(page, site):
    """Let the real model write, show a head, and hide the first token from it.

    Yields the seconds of each frame, or None for those until the next one.
    """
    page.goto((site / "chapters" / "17_real_model.html").as_uri())
    view = view_of(page, "real_model")
    status = view.locator('[data-value="status"]')

    def control(name):
        return view.locator(f'[data-control="{name}"]')

    def wait(words):
        page.wait_for_function(
            "([place, words]) => place.innerText.includes(words)",
            arg=[status.element_handle(), words],
        )

    def show(place):
        """Move the stage so that a part of the view is its top."""
        view.evaluate(MOVE, place)

    control("open").set_input_files(folder_of(MODEL) / CARDS[MODEL].files[0].name)
    wait("tokens read")
    control("own text").fill(BEGINNING)
    control("own text").press("Enter")
    wait("5 tokens read")
    control("temperature").press("Home")
    control("most").press("Home")
    view.evaluate(STAGE, TITLE)
    yield 2
    control("write").evaluate("button => button.click()")
    before, text = None, ""
    while "written, " not in status.inner_text():
        text = view.locator('[data-value="written"]').inner_text()
        if text != before:
            yield None
        before = text
        page.wait_for_timeout(10)
    yield 2.5
    control("own text").press("Enter")
    wait("5 tokens read")
    show(".looking")
    control("job").select_option(index=1)
    yield 2.5
    show(".panels")
    yield 2
    control("switch sink").evaluate("button => button.click()")
    view.locator('[data-value="after 0"]').wait_for()
    yield 3


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
    last, begun = 0.0, 0.0
    for scene in (story_scene, model_scene):
        for shown in itertools.islice(scene(page, site), most):
            if last is None:
                seconds[-1] = time.perf_counter() - begun
            last, begun = shown, time.perf_counter()
            frames.append(Image.open(io.BytesIO(page.screenshot())).convert("RGB"))
            seconds.append(shown or 0.0)
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
    if not (folder_of(MODEL) / CARDS[MODEL].files[0].name).is_file():
        sys.exit(
            f"there is no model: run python -m helpers.models.pretrained path {MODEL}"
        )
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
