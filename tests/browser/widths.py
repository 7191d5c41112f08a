"""What a page cuts off: every block measured at six widths, on one visit."""

from tests.browser.watched import hold_still

WIDTHS = (1280, 1200, 1024, 768, 375, 320)
HEIGHT = 900
# Meanwhile all folds are open, and a scroll bar takes its room.
OPEN = """() => {
    for (const one of document.querySelectorAll("details:not([open])"))
        one.dataset.folded = one.open = true;
    document.body.style.marginRight = "15px";
}"""
CLOSE = """() => {
    for (const one of document.querySelectorAll("details[data-folded]")) {
        one.open = false;
        delete one.dataset.folded;
    }
    document.body.style.marginRight = "";
}"""
# What may scroll on a wide screen, too: a table, and a line of more than 80 columns.
CUT = """() => {
    const cut = [];
    const style = (one) => getComputedStyle(one);
    const say = (how, { outerHTML, textContent }) =>
        cut.push(`${how}: ${outerHTML.slice(0, 120)} ${textContent.slice(0, 60)}`);
    const scrolls = (one) => ["auto", "scroll"].includes(style(one).overflowX);
    const inside = (one, test) => {
        let up = one.parentElement;
        while (up && !test(up)) up = up.parentElement;
        return up;
    };
    const isSeen = (one) => one.checkVisibility({ visibilityProperty: true })
        && !one.closest(".visually-hidden, .sr-only");
    if (document.documentElement.scrollWidth > innerWidth) cut.push("the page itself");
    const blocks = document.querySelectorAll(
        ".bd-main :not(input, svg, svg *, span.math, span.math *, mjx-container *)");
    for (const one of blocks) {
        if (one.scrollWidth <= one.clientWidth + 1 || !one.clientWidth || !isSeen(one))
            continue;
        const { display, overflowX, backgroundImage } = style(one);
        if (["hidden", "clip"].includes(overflowX)) say("hidden", one);
        else if (scrolls(one)) {
            const fits = one.matches("pre")
                && one.textContent.split("\\n").every((line) => line.length <= 80);
            const table = one.matches("pre") || one.querySelector("table, mjx-math");
            if (!backgroundImage.includes("gradient")) say("no shade", one);
            if (innerWidth >= 768 && (fits || !table)) say("scrolls", one);
        } else if (!/^(inline|contents)$/.test(display) && !inside(one, scrolls))
            say("sticks out", one);
    }
    for (const one of document.querySelectorAll(".bd-main mjx-math")) {
        const clip = inside(one, (up) => style(up).overflowX !== "visible");
        if (!isSeen(one) || !clip || scrolls(clip)) continue;
        const [box, room] = [one, clip].map((each) => each.getBoundingClientRect());
        if (box.right > room.right + 1 || box.left < room.left - 1) say("formula", one);
    }
    for (const one of document.querySelectorAll(".bd-main svg")) {
        const box = one.getBoundingClientRect();
        const room = one.parentElement.clientWidth + 1;
        const isInline = style(one.parentElement).display === "inline";
        if (!isSeen(one) || !box.width || isInline) continue;
        const isPlot = one.matches(".picture")
            && Number(one.getAttribute("width")) < 640;
        const fits = innerWidth >= 768
            || (innerWidth >= 375 && isPlot && !one.closest("details"));
        if (box.width > room && fits) say("picture", one);
        if (style(one).overflowX === "visible") continue;
        for (const text of one.querySelectorAll("text")) {
            const { left, right, width } = text.getBoundingClientRect();
            const isOut = right > box.right + 2 || left < box.left - 2;
            if (width && isOut) say("letters", text);
        }
    }
    return cut;
}"""


def cut_off(page):
    """What a page cuts off: lines that begin with the width at which."""
    found = []
    page.evaluate(OPEN)
    for width in WIDTHS:
        page.set_viewport_size({"width": width, "height": HEIGHT})
        hold_still(page)  # the sidebars slide in
        found += [f"{width}: {one}" for one in page.evaluate(CUT)]
    page.evaluate(CLOSE)
    return found
