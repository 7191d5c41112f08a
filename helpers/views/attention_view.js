import { attentionMap } from "./shared/attention_map.js";

/** The weights of a model that has run: layers, heads, queries, keys. */
export function render({ state, el }) {
  const { mask } = state;
  el.append(attentionMap({ ...state, hidden: (i, j) => mask !== null && !mask[i][j] }).element);
}
