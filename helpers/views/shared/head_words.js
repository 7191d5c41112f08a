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
export const tokenAt = (tokens, i) => quotedToken(tokens[i]) + placeOf(tokens, i);

/**
 * Where a token is, if there are several like it.
 * @param {string[]} tokens
 * @param {number} i
 */
export const placeOf = (tokens, i) =>
  tokens.indexOf(tokens[i]) === tokens.lastIndexOf(tokens[i]) ? "" : ` at ${i}`;

/** @param {string} token */
export const quotedToken = (token) => `“${isolated(exact(token))}”`;

/**
 * A head's name, such as 13.8.
 * @param {readonly [number, number]} place
 */
export const headName = ([layer, head]) => `${layer}.${head}`;

/**
 * What the signs in a text's tokens stand for.
 * @param {string[]} tokens
 */
export function signsInWords(tokens) {
  const names = { " ": "a space that belongs to its token", "\n": "a line break", "\t": "a tab" };
  const found = Object.keys(names).filter((sign) => tokens.some((one) => one.includes(sign)));
  const said = found.map((sign) => `${SIGNS[sign]} is ${names[sign]}`).join(", ");
  return said && `${said}. `;
}

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
