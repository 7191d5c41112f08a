// little-world in the page: its stories, told choice by choice as helpers/text/little_world.py
// tells them, with how many nats each story's choices cost. The words and their weights are that
// module's.

const [SINGULAR, PLURAL] = ["", "s"];
const MARK = /<([a-z-]+)>/g; // as in the grammar: the kind of the character behind it

/**
 * @typedef {{ [kind: string]: [string, number][] }} Words
 * @typedef {{ text: string, nats: number, marks: [number, string][] }} Story
 */

/**
 * Tell one story.
 * @param {Words} words
 * @param {() => number} random
 * @returns {Story} its marks are pairs of a place in the text and a kind of question
 */
export function tell(words, random) {
  let nats = 0;
  /** One of several options, [what, weight]. */
  const pick = (options) => {
    const whole = options.reduce((sum, [, weight]) => sum + weight, 0);
    let left = random() * whole;
    const chosen = options.find(([, weight]) => (left -= weight) < 0) ?? options.at(-1);
    nats -= Math.log(chosen[1] / whole);
    return chosen[0];
  };
  const one = (kind) => pick(words[kind]);
  const animal = () => [
    one("animal"),
    pick([
      [SINGULAR, 1],
      [PLURAL, 1],
    ]),
  ];
  const verb = (number, mark) => `${one("verb")}<${mark}>${number === SINGULAR ? "s" : ""}`;

  const name = pick([...words.girl, ...words.boy]);
  const [got, colour, thing] = [one("got"), one("colour"), one("thing")];
  const [subject, number] = animal();
  let text = `${name} ${got} a ${colour} ${thing}. The ${subject}${number} `;

  const apart = pick([
    [true, 0.65],
    [false, 0.35],
  ]);
  if (apart) {
    const did = one("did");
    const [other, itsNumber] = animal();
    const mark = itsNumber === number ? "attractor-same" : "attractor-other";
    text += `${did} the ${other}${itsNumber} ${verb(number, mark)}`;
  } else text += verb(number, "agreement");
  text += pick([
    [() => ". ", 0.5],
    [() => ` and ${verb(number, "agreement")}. `, 0.15],
    [() => ` ${one("how")}. `, 0.35],
  ])();

  const pronoun = words.girl.some(([girl]) => girl === name) ? "she" : "he";
  const quote = pick([
    ['"', 0.48],
    ["'", 0.32],
    ["", 0.2],
  ]);
  if (quote) {
    const speech = one("speech").replaceAll("{colour}", colour).replaceAll("{thing}", thing);
    const speaker = pick([
      [() => `<pronoun>${pronoun} ${one("said")}`, 0.75],
      [() => `called <name>${name}`, 0.25 * (2 / 3)],
      [() => `cried <name>${name}`, 0.25 / 3],
    ]);
    text += `${quote}${speech}<quote>${quote} ${speaker()}.\n`;
  } else {
    const keeper = pronoun[0].toUpperCase() + pronoun.slice(1);
    text += `<pronoun>${keeper} ${one("keeps")} the <colour>${colour} <thing>${thing}.\n`;
  }
  return { nats, ...withoutMarks(text) };
}

/** Take the marks out of a text: the text, and pairs of place and kind. */
function withoutMarks(marked) {
  const marks = [];
  let shift = 0;
  const text = marked.replaceAll(MARK, (mark, kind, place) => {
    marks.push([place - shift, kind]);
    shift += mark.length;
    return "";
  });
  return { text, marks };
}
