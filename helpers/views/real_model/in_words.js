// What a real model's view says of the file, of reading and of writing.

import { fixed, several } from "../shared/words.js";

export const NO_WORKER =
  "This browser doesn't let the page start a worker: no file can be opened here.";
export const STAYS =
  "All of it happens on this computer: nothing of the file or of your text leaves it. To " +
  "check, turn the network off once you have the file: everything here goes on working.";
export const OF_TABLES =
  "These are of the recorded sentences, not of what the model has read since.";
export const BROKE_OFF =
  "The model has stopped, perhaps because memory is lacking: close other pages, and open its " +
  "file again.";

const WHY = {
  end: "The model has ended its text: ",
  most: "Done: ",
  stopped: "Stopped: ",
  full: "The text is as long as this page takes: ",
};

/** @param {number} bytes */
export const megabytes = (bytes) => `${Math.round(bytes / 1e6)} MB`;

export const ofTotal = (done, total) => `${Math.round(done / 1e6)} of ${megabytes(total)}`;

/** How far the file is: "checking" and "unpacking" are stages. */
export const progressInWords = ({ stage, done, total }) =>
  `${stage[0].toUpperCase()}${stage.slice(1)}: ${ofTotal(done, total)}`;

export const openedInWords = ({ name, layers, heads, vocabulary, contextLength, compute }) =>
  `${name} is open: ${layers} layers of ${heads} heads, ${several(vocabulary, "token")} in its ` +
  `list, up to ${contextLength} in a text. It runs in this page, in ${compute}.`;

export const HALTED = "Reading was stopped.";

/**
 * @param {keyof typeof WHY} why
 * @param {number} count tokens
 */
export const endedInWords = (why, count, seconds) =>
  `${WHY[why]}${several(count, "token")} written, ${fixed(count / seconds, 1)} a second.`;
