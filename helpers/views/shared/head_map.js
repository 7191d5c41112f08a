// All heads of all layers as a map of small squares, on a canvas that is walked by arrow keys.

import { h } from "./page.js";

/** @import { Reading } from "./head_readings.js" */

/** @typedef {[number, number]} Place a layer and a head */

const EDGE = { left: 32, top: 18, foot: 6 }; // for the numbers of layers and heads
const LEAST = 16; // a square's width; layers that don't fit go on in a band below
const MOST = 34;
const FADED = 0.12;
const FINEST = 32; // points of a head's picture, along each side
const STRIPS = 16; // of one query's weights, or of those on one key, at most
const THINNEST = 2; // a strip's width

/**
 * What the map shows: in each square all weights, one query's or one key's, or a shade from 0 to 1;
 * squares that are `faded` nearly vanish, those that are `off` are crossed out.
 * @typedef {{
 *   reading: Reading, query: number | null, key: number | null,
 *   shade: ((place: Place) => number) | null, faded: (place: Place) => boolean,
 *   off: (place: Place) => boolean, chosen: Place,
 * }} Shown
 * @param {{ pick: (place: Place) => void, tell: (place: Place) => string }} options where `tell`
 *   says in a few words what a square shows
 */
export function headMap({ pick, tell }) {
  /** @type {Shown | null} */
  let shown = null;
  let room = 0; // the element's width, measured when it changes and not at each drawing
  let plan = { size: LEAST, columns: 1 }; // squares side by side in a band
  /** @type {{ of: any[], sheet: any }} */
  let kept = { of: [], sheet: null }; // the last sheet, and what it shows
  const canvas = h("canvas", { "aria-hidden": "true" });
  const label = h("div", { class: "tip", hidden: true });
  const element = h(
    "div",
    {
      class: "head-map",
      role: "slider",
      tabindex: 0,
      "data-control": "head",
      "aria-label": "head, walked with the arrow keys",
      onkeydown: (event) => walk(event),
      onpointermove: (event) => point(event),
      onpointerleave: () => point(null),
      onclick: (event) => {
        const found = at(event);
        if (found) pick(found);
      },
    },
    canvas,
    label,
  );
  /** @returns {Place | null} the head under a pointer */
  const at = (event) => {
    if (!shown) return null;
    const box = canvas.getBoundingClientRect();
    const across = Math.floor((event.clientX - box.left - EDGE.left) / plan.size);
    const down = event.clientY - box.top;
    const band = Math.floor(down / bandHeight());
    const layer = band * plan.columns + across;
    const head = Math.floor((down - band * bandHeight() - EDGE.top) / plan.size);
    const { layers, heads } = shown.reading;
    const isThere = across >= 0 && across < plan.columns && layer >= 0 && layer < layers;
    return isThere && head >= 0 && head < heads ? [layer, head] : null;
  };
  const point = (event) => {
    const found = event && event.pointerType === "mouse" ? at(event) : null;
    label.hidden = !found;
    element.style.cursor = found ? "pointer" : "";
    if (!found) return;
    label.textContent = tell(found);
    const [x, y] = corner(found);
    const right = element.clientWidth - label.offsetWidth - 2;
    label.style.left = `${Math.max(0, Math.min(right, x))}px`;
    label.style.top = `${y + plan.size + 4}px`;
  };
  const bandHeight = () => EDGE.top + (shown?.reading.heads ?? 0) * plan.size + EDGE.foot;
  const corner = ([layer, head]) => [
    EDGE.left + (layer % plan.columns) * plan.size,
    Math.floor(layer / plan.columns) * bandHeight() + EDGE.top + head * plan.size,
  ];
  const walk = (event) => {
    const by = {
      ArrowRight: [1, 0],
      ArrowLeft: [-1, 0],
      ArrowDown: [0, 1],
      ArrowUp: [0, -1],
    }[event.key];
    if (!by || !shown) return;
    event.preventDefault();
    const { layers, heads } = shown.reading;
    const kept = (number, count) => Math.max(0, Math.min(count - 1, number));
    pick([kept(shown.chosen[0] + by[0], layers), kept(shown.chosen[1] + by[1], heads)]);
  };

  /** The numbers along both edges, and every square. */
  const draw = () => {
    if (!shown || room === 0) return;
    const { layers, heads } = shown.reading;
    plan = planFor(room, layers);
    const bands = Math.ceil(layers / plan.columns);
    const [width, height] = [EDGE.left + plan.columns * plan.size, bands * bandHeight()];
    const scale = devicePixelRatio;
    [canvas.width, canvas.height] = [Math.ceil(width * scale), Math.ceil(height * scale)];
    canvas.style.width = `${canvas.width / scale}px`;
    canvas.style.height = `${canvas.height / scale}px`;
    const context = /** @type {CanvasRenderingContext2D} */ (canvas.getContext("2d"));
    context.scale(scale, scale);
    const style = getComputedStyle(element);
    const colours = { text: style.color, weights: style.getPropertyValue("--weights").trim() };
    drawEdges(context, colours.text, plan.size, shown.reading, corner);
    const sheet = shown.shade ? null : sheetFor(shown, colours.weights, plan.size);
    for (let layer = 0; layer < layers; layer += 1)
      for (let head = 0; head < heads; head += 1)
        drawSquare(context, shown, sheet, [layer, head], colours);
  };
  const sheetFor = ({ reading, query, key }, colour, size) => {
    const strips = Math.max(1, Math.min(STRIPS, Math.floor(size / THINNEST)));
    const of = [reading, query, key, colour, strips];
    if (of.some((one, i) => one !== kept.of[i]))
      kept = { of, sheet: sheetOf(reading, query, key, colour, strips) };
    return kept.sheet;
  };
  const drawSquare = (context, picture, drawn, place, colours) => {
    const [layer, head] = place;
    const [x, y] = corner(place);
    const { shade } = picture;
    const gap = plan.size < 20 ? 1 : 2;
    const size = plan.size - gap;
    context.globalAlpha = picture.faded(place) ? FADED : 1;
    const strength = context.globalAlpha;
    context.fillStyle = colours.text;
    context.globalAlpha = 0.07 * strength;
    context.fillRect(x, y, size, size);
    context.globalAlpha = strength;
    if (drawn) {
      const { sheet, width, height } = drawn;
      context.imageSmoothingEnabled = Math.max(width, height) > size * devicePixelRatio;
      context.drawImage(sheet, layer * width, head * height, width, height, x, y, size, size);
    } else {
      context.fillStyle = colours.weights;
      context.globalAlpha = strength * Math.max(0, Math.min(1, shade?.(place) ?? 0));
      context.fillRect(x, y, size, size);
    }
    context.globalAlpha = 1;
    context.strokeStyle = colours.text;
    if (picture.off(place)) {
      context.lineWidth = 1.5;
      context.beginPath();
      context.moveTo(x + 2, y + 2);
      context.lineTo(x + size - 2, y + size - 2);
      context.moveTo(x + size - 2, y + 2);
      context.lineTo(x + 2, y + size - 2);
      context.stroke();
    }
    if (layer === picture.chosen[0] && head === picture.chosen[1]) {
      context.lineWidth = 2;
      context.strokeRect(x - gap / 2, y - gap / 2, size + gap, size + gap);
    }
  };

  // It is measured once it is on the page, and drawn anew in other colours.
  let watched = false;
  new ResizeObserver(() => {
    room = element.clientWidth;
    const view = element.closest(".aos-view");
    if (!watched && view) {
      watched = true;
      new MutationObserver(draw).observe(view, { attributes: true, attributeFilter: ["class"] });
    }
    draw();
  }).observe(element);
  return {
    element,
    /** @param {Shown} picture */
    show(picture) {
      shown = picture;
      const { chosen, reading } = picture;
      element.setAttribute("aria-valuemin", "0");
      element.setAttribute("aria-valuemax", String(reading.layers * reading.heads - 1));
      element.setAttribute("aria-valuenow", String(chosen[0] * reading.heads + chosen[1]));
      element.setAttribute("aria-valuetext", tell(chosen));
      draw();
    },
  };
}

/** As few bands as leave the squares large enough. */
function planFor(width, layers) {
  for (let bands = 1; ; bands += 1) {
    const columns = Math.ceil(layers / bands);
    const size = Math.min(MOST, Math.floor((width - EDGE.left) / columns));
    if (size >= LEAST || columns === 1) return { size: Math.max(size, 1), columns };
  }
}

/** The layers' numbers above, each fifth where there are many, and the heads' beside them. */
function drawEdges(context, colour, size, { layers, heads }, corner) {
  context.fillStyle = colour;
  context.font = "11px sans-serif";
  const step = layers > 12 ? 5 : 1;
  for (let layer = 0; layer < layers; layer += 1) {
    const [x, y] = corner([layer, 0]);
    context.textAlign = "center";
    if (layer % step === 0) context.fillText(String(layer), x + size / 2 - 1, y - 5);
    if (x > EDGE.left) continue;
    context.textAlign = "left";
    context.fillText("layer", 0, y - 5);
    context.textAlign = "right";
    for (let head = 0; head < heads; head += 1)
      context.fillText(String(head), x - 5, y + (head + 0.5) * size + 3);
  }
}

/**
 * A picture of each head, side by side: all its weights, or those of one query or one key. Of a
 * long text each point is the largest of several weights, because a square has few pixels.
 */
function sheetOf({ tokens, layers, heads, row }, query, key, colour, strips) {
  const T = tokens.length;
  const most = query === null && key === null ? FINEST : strips;
  const seen = query === null ? T : row(0, 0, query).length; // a query's keys fill its square
  const [width, height] = [
    key !== null && query === null ? 1 : Math.min(seen, most),
    query === null ? Math.min(T, most) : 1, // a query has one row
  ];
  const across = Uint8Array.from({ length: T }, (_, j) => (width === 1 ? 0 : (j * width) / seen));
  const down = Uint8Array.from({ length: T }, (_, i) => (height === 1 ? 0 : (i * height) / T));
  const [first, last] = query === null ? [0, T - 1] : [query, query];
  const sheet = document.createElement("canvas");
  [sheet.width, sheet.height] = [layers * width, heads * height];
  const picture = new ImageData(sheet.width, sheet.height);
  const { data } = picture;
  for (let layer = 0; layer < layers; layer += 1)
    for (let head = 0; head < heads; head += 1)
      for (let i = first; i <= last; i += 1) {
        const weights = row(layer, head, i);
        const [from, to] = width === 1 ? [key, key + 1] : [0, weights.length];
        const begin = (head * height + down[i]) * sheet.width + layer * width;
        for (let j = from; j < to; j += 1) {
          const strength = 4 * (begin + across[j]) + 3;
          if (weights[j] > data[strength]) data[strength] = weights[j];
        }
      }
  const context = /** @type {CanvasRenderingContext2D} */ (sheet.getContext("2d"));
  context.putImageData(picture, 0, 0);
  context.globalCompositeOperation = "source-in"; // the colour, as strong as the weights
  context.fillStyle = colour;
  context.fillRect(0, 0, sheet.width, sheet.height);
  return { sheet, width, height };
}
