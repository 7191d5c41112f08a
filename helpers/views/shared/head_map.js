// All heads of all layers as a map of small squares, on a canvas that is walked by arrow keys.

import { h } from "./page.js";

/** @typedef {[number, number]} Place a layer and a head */

const EDGE = { left: 30, top: 30 }; // for the numbers of layers and heads
const LEAST = 16; // a square's width where layers go across; else they go down the page
const MOST = { across: 34, down: 24 };
const FADED = 0.12;

/**
 * What the map shows: in each square all weights, one query's or one key's, or a shade from 0 to 1;
 * squares that are `faded` nearly vanish, those that are `off` are crossed out.
 * @typedef {{
 *   reading: import("./head_readings.js").Reading, query: number | null, key: number | null,
 *   shade: ((place: Place) => number) | null, faded: (place: Place) => boolean,
 *   off: (place: Place) => boolean, chosen: Place,
 * }} Shown
 * @param {{ pick: (place: Place) => void, tell: (place: Place) => string }} options where `tell`
 *   says in a few words what a square shows
 */
export function headMap({ pick, tell }) {
  /** @type {Shown | null} */
  let shown = null;
  let plan = { across: true, size: LEAST };
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
    const down = Math.floor((event.clientY - box.top - EDGE.top) / plan.size);
    const [layer, head] = plan.across ? [across, down] : [down, across];
    const { layers, heads } = shown.reading;
    return layer >= 0 && layer < layers && head >= 0 && head < heads ? [layer, head] : null;
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
  const corner = ([layer, head]) => [
    EDGE.left + (plan.across ? layer : head) * plan.size,
    EDGE.top + (plan.across ? head : layer) * plan.size,
  ];
  const walk = (event) => {
    const [right, down] = plan.across ? [1, 0] : [0, 1]; // of layers
    const by = {
      ArrowRight: [right, 1 - right],
      ArrowLeft: [-right, right - 1],
      ArrowDown: [down, 1 - down],
      ArrowUp: [-down, down - 1],
    }[event.key];
    if (!by || !shown) return;
    event.preventDefault();
    const { layers, heads } = shown.reading;
    const kept = (number, count) => Math.max(0, Math.min(count - 1, number));
    pick([kept(shown.chosen[0] + by[0], layers), kept(shown.chosen[1] + by[1], heads)]);
  };

  /** The numbers along both edges, and every square. */
  const draw = () => {
    if (!shown || element.clientWidth === 0) return;
    const { layers, heads } = shown.reading;
    plan = planFor(element.clientWidth, layers, heads);
    const [columns, rows] = plan.across ? [layers, heads] : [heads, layers];
    const [width, height] = [EDGE.left + columns * plan.size, EDGE.top + rows * plan.size];
    const scale = devicePixelRatio;
    [canvas.width, canvas.height] = [Math.ceil(width * scale), Math.ceil(height * scale)];
    canvas.style.width = `${canvas.width / scale}px`;
    canvas.style.height = `${canvas.height / scale}px`;
    const context = /** @type {CanvasRenderingContext2D} */ (canvas.getContext("2d"));
    context.scale(scale, scale);
    const style = getComputedStyle(element);
    const colours = { text: style.color, weights: style.getPropertyValue("--weights").trim() };
    drawEdges(context, colours.text, plan, layers, heads);
    const sheet = shown.shade ? null : sheetOf(shown.reading, colours.weights);
    for (let layer = 0; layer < layers; layer += 1)
      for (let head = 0; head < heads; head += 1)
        drawSquare(context, shown, sheet, [layer, head], colours);
  };
  const drawSquare = (context, picture, sheet, place, colours) => {
    const [layer, head] = place;
    const [x, y] = corner(place);
    const { reading, query, key, shade } = picture;
    const gap = plan.size < 20 ? 1 : 2;
    const size = plan.size - gap;
    const T = reading.tokens.length;
    context.globalAlpha = picture.faded(place) ? FADED : 1;
    const strength = context.globalAlpha;
    context.fillStyle = colours.text;
    context.globalAlpha = 0.07 * strength;
    context.fillRect(x, y, size, size);
    context.globalAlpha = strength;
    if (sheet) {
      context.imageSmoothingEnabled = T > size * devicePixelRatio;
      const from = [
        layer * T + (key !== null && query === null ? key : 0),
        head * T + (query ?? 0),
        key !== null && query === null ? 1 : T,
        query === null ? T : 1,
      ];
      context.drawImage(sheet, from[0], from[1], from[2], from[3], x, y, size, size);
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

/** Layers across the page where their squares are large enough, else down. */
function planFor(width, layers, heads) {
  const size = Math.floor((width - EDGE.left) / layers);
  if (size >= LEAST) return { across: true, size: Math.min(size, MOST.across) };
  return { across: false, size: Math.min(Math.floor((width - EDGE.left) / heads), MOST.down) };
}

/** Names of the edges; each fifth layer is numbered, or all, where they are few. */
function drawEdges(context, colour, { across, size }, layers, heads) {
  context.fillStyle = colour;
  context.font = "11px sans-serif";
  context.textAlign = "center";
  context.textBaseline = "alphabetic";
  const above = (i, text) => context.fillText(text, EDGE.left + (i + 0.5) * size - 1, EDGE.top - 5);
  const beside = (i, text) => {
    context.textAlign = "right";
    context.fillText(text, EDGE.left - 5, EDGE.top + (i + 0.5) * size + 3);
  };
  const step = layers > 12 ? 5 : 1;
  for (let i = 0; i < layers; i += step) (across ? above : beside)(i, String(i));
  for (let i = 0; i < heads; i += 1) (across ? beside : above)(i, String(i));
  context.textAlign = "left";
  context.fillText(across ? "layer →" : "head →", EDGE.left, 10);
  context.fillText(across ? "head" : "layer", 0, EDGE.top - 5);
}

/** All weights of all heads side by side, a point each, as strong as its weight. */
function sheetOf({ tokens, layers, heads, bytes }, colour) {
  const T = tokens.length;
  const sheet = document.createElement("canvas");
  [sheet.width, sheet.height] = [layers * T, heads * T];
  const picture = new ImageData(sheet.width, sheet.height);
  const [red, green, blue] = [1, 3, 5].map((i) => parseInt(colour.slice(i, i + 2), 16));
  for (let layer = 0; layer < layers; layer += 1)
    for (let head = 0; head < heads; head += 1)
      for (let i = 0; i < T; i += 1)
        for (let j = 0; j < T; j += 1) {
          const place = (head * T + i) * sheet.width + layer * T + j;
          picture.data.set([red, green, blue, bytes(layer, head, i, j)], 4 * place);
        }
  sheet.getContext("2d")?.putImageData(picture, 0, 0);
  return sheet;
}
