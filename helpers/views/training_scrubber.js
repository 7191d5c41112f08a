import { slider } from "./shared/controls.js";
import { heatMap } from "./shared/heat_map.js";
import { COLOURS, draw, h } from "./shared/page.js";
import { fixed, isolated, visible } from "./shared/words.js";

const CURVE = { width: 320, height: 220, left: 40, right: 12, top: 26, bottom: 36 };

/** A slider through a training run: each step's loss, and the attention map kept nearest to it. */
export function render({ state, el }) {
  const { steps, losses, maps } = state;
  const tokens = state.tokens.map(visible);
  const causal = maps.every((rows) =>
    rows.every((row, i) => row.every((weight, j) => j <= i || weight === 0)),
  );
  const curve = lossCurve(losses);
  const map = heatMap({ caption: "The weights: a row for each query" });
  const kept = h("p", { class: "note" });
  const loss = h("p", { class: "note" });
  const said = h("p", { class: "note", "aria-live": "polite", "data-value": "sentence" });
  let shown = null;

  const show = (step) => {
    const nearest = steps.reduce(
      (best, one, i) => (Math.abs(one - step) < Math.abs(steps[best] - step) ? i : best),
      0,
    );
    curve.move(step);
    if (nearest !== shown) map.update(maps[nearest], tokens, tokens, (i, j) => causal && j > i);
    shown = nearest;
    kept.replaceChildren(
      "The map after ",
      h("strong", { "data-value": "kept" }, String(steps[nearest])),
      " steps, the nearest of those kept:",
    );
    loss.replaceChildren(
      "Loss: ",
      h("strong", { "data-value": "loss" }, fixed(losses[step])),
      " nats",
    );
    const change = changeSentence(tokens, steps[0], maps[0], maps[nearest]);
    said.textContent = `At step ${step} the loss is ${fixed(losses[step])}. ${change}`;
  };
  el.append(
    h(
      "div",
      { class: "controls" },
      slider({
        name: "step",
        label: "Step",
        min: 0,
        max: losses.length - 1,
        value: 0,
        change: show,
      }),
    ),
    said,
    h(
      "div",
      { class: "panels" },
      h("div", {}, loss, curve.element),
      h("div", {}, kept, map.element),
    ),
  );
  show(0);
}

/** The losses as a line, with a marker that `move(step)` puts on one of them. */
function lossCurve(losses) {
  const { width, height, left, right, top, bottom } = CURVE;
  const most = Math.max(...losses, 1e-9);
  const last = Math.max(1, losses.length - 1);
  const x = (step) => left + ((width - left - right) * step) / last;
  const y = (loss) => height - bottom - ((height - top - bottom) * loss) / most;
  const line = (from, to, attributes) =>
    draw("line", {
      x1: from[0],
      y1: from[1],
      x2: to[0],
      y2: to[1],
      stroke: "currentColor",
      ...attributes,
    });
  const text = (at, anchor, words) =>
    draw("text", { x: at[0], y: at[1], "text-anchor": anchor }, words);
  const marker = draw("circle", {
    r: 6,
    fill: COLOURS.queries,
    stroke: "currentColor",
    "stroke-width": 1.5,
  });
  const drop = line([0, 0], [0, 0], { "stroke-dasharray": "3 3", "stroke-opacity": 0.5 });
  const element = draw(
    "svg",
    {
      viewBox: `0 0 ${width} ${height}`,
      width,
      role: "img",
      "aria-label": `The loss from step 0 to ${losses.length - 1}`,
    },
    line([left, height - bottom], [width - right, height - bottom], { "stroke-opacity": 0.5 }),
    line([left, top], [left, height - bottom], { "stroke-opacity": 0.5 }),
    text([left - 6, y(0) + 4], "end", "0"),
    text([left - 6, y(most) + 4], "end", fixed(most)),
    text([x(0), height - bottom + 16], "middle", "0"),
    text([x(last), height - bottom + 16], "end", String(losses.length - 1)),
    text([(left + width - right) / 2, height - 6], "middle", "step"),
    text([4, 12], "start", "loss (nats)"),
    draw("polyline", {
      points: losses.map((loss, step) => `${fixed(x(step))},${fixed(y(loss))}`).join(" "),
      fill: "none",
      stroke: "currentColor",
      "stroke-width": 1.5,
    }),
    drop,
    marker,
  );
  return {
    element,
    move(step) {
      const [cx, cy] = [x(step), y(losses[step])];
      for (const [name, value] of Object.entries({ x1: cx, x2: cx, y1: top, y2: height - bottom }))
        drop.setAttribute(name, String(value));
      for (const [name, value] of Object.entries({ cx, cy }))
        marker.setAttribute(name, String(value));
    },
  };
}

/** Which row has moved farthest since the first map. */
function changeSentence(tokens, since, first, now) {
  const changes = now.map((row, i) =>
    Math.max(...row.map((weight, j) => Math.abs(weight - first[i][j]))),
  );
  const most = Math.max(...changes);
  if (most < 0.005) return `No weight has moved since step ${since}.`;
  const row = changes.indexOf(most);
  const several = tokens.indexOf(tokens[row]) !== tokens.lastIndexOf(tokens[row]);
  const name = isolated(tokens[row]) + (several ? ` at ${row}` : "");
  return (
    `The row of ${name} has changed most since step ${since}: ` +
    `one of its weights by ${fixed(most)}.`
  );
}
