// Numbers, tokens and a reader's texts, as they are shown.

/**
 * A number with that many decimals, and never -0.00.
 * @param {number} number
 */
export function fixed(number, decimals = 2) {
  const text = number.toFixed(decimals);
  return Number(text) === 0 ? text.replace("-", "") : text;
}

/**
 * A reader's text inside a sentence, in whatever direction; its own marks of direction go.
 * @param {string} text
 */
export const isolated = (text) =>
  `\u2068${text.replace(/[\u202a-\u202e\u2066-\u2069]/g, "")}\u2069`;

/**
 * A token that can be seen: white space alone, or nothing, gets signs.
 * @param {string} token
 */
export function visible(token) {
  const signs = { " ": "␣", "\n": "↵", "\t": "⇥" };
  return token === ""
    ? "∅"
    : /^\s+$/.test(token)
      ? token.replace(/[ \n\t]/g, (sign) => signs[sign])
      : token;
}

/**
 * A count of things, such as 1,200 tokens.
 * @param {number} count
 * @param {string} name of one of them
 */
export const several = (count, name) =>
  `${count.toLocaleString("en")} ${name}${count === 1 ? "" : "s"}`;
