// Tokens and heads as they are written: every space of a token is seen.

import { h } from "./page.js";
import { isolated } from "./words.js";

const SIGNS = { " ": "␣", "\n": "↵", "\t": "⇥" };

/**
 * A token with its spaces as signs.
 * @param {string} token
 */
export const exact = (token) =>
  token === "" ? "∅" : token.replace(/[ \n\t]/g, (sign) => SIGNS[sign]);

/**
 * The same as parts of an element, where the signs stand back.
 * @param {string} token
 */
export const exactParts = (token) =>
  exact(token)
    .split(/([␣↵⇥]+)/)
    .filter((part) => part !== "")
    .map((part) => (/^[␣↵⇥]/.test(part) ? h("span", { class: "sign" }, part) : part));

/**
 * A token in a sentence; with its place, where there are several like it.
 * @param {string[]} tokens
 * @param {number} i
 */
export function tokenAt(tokens, i) {
  const several = tokens.indexOf(tokens[i]) !== tokens.lastIndexOf(tokens[i]);
  return quotedToken(tokens[i]) + (several ? ` at ${i}` : "");
}

/** @param {string} token */
export const quotedToken = (token) => `“${isolated(exact(token))}”`;

/**
 * A head's name, such as 13.8.
 * @param {readonly [number, number]} place
 */
export const headName = ([layer, head]) => `${layer}.${head}`;

/** The first token, whose sight is a switch of its own. */
export const SINK = "sink";

/**
 * What is switched off, in words: "13.8" is a head, "mlp.5" a layer's MLP.
 * @param {string[]} off
 */
export const offInWords = (off) =>
  off
    .map((one) => (one === SINK ? "the first token" : one))
    .map((one) => one.replace(/^mlp\./, "the MLP of layer ").replace(/^(?=\d)/, "head "))
    .join(", ")
    .replace(/, ([^,]*)$/, " and $1");
