// The sentences of which everything is recorded, so that they are alive without the model's file.

import { unpackReading } from "../shared/head_readings.js";
/** @import { Next, Reading } from "../shared/head_readings.js" */

export class Recorded {
  /** @param {any[]} packed readings, as Python has recorded them */
  constructor(packed) {
    this.readings = packed.map(unpackReading);
  }

  get texts() {
    return this.readings.map(({ text }) => text);
  }

  /** The reading of a text; the first one, where there is none. */
  of(text) {
    return this.readings.find((one) => one.text === text) ?? this.readings[0];
  }

  /**
   * What comes next without a head, named as "13.8", or null where that isn't known.
   * @param {Reading} reading
   * @param {string | undefined} name
   * @returns {Next | null}
   */
  without(reading, name) {
    if (name === undefined) return null;
    const [layer, head] = name.split(".").map(Number);
    return reading.without?.(layer, head) ?? null;
  }

  /**
   * A reading by the model; of a recorded sentence it is known, too, what is lost without each
   * head.
   * @param {Reading} reading
   */
  withLost(reading) {
    const found = this.of(reading.text);
    const isSame =
      found.text === reading.text &&
      found.tokens.length === reading.tokens.length &&
      reading.off.length === 0;
    return isSame ? { ...reading, lost: found.lost } : reading;
  }
}
