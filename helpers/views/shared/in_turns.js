// Work that would hold the page up if it were done at once: one step in each frame.

/**
 * Returns `begin(steps)`, of which the first is done now, and each other one in a frame of its own;
 * and `finish()`, which does what is left.
 */
export function inTurns() {
  /** @type {(() => void)[]} */
  let left = [];
  let due = 0;
  const step = () => {
    left.shift()?.();
    due = left.length > 0 ? requestAnimationFrame(step) : 0;
  };
  const finish = () => {
    cancelAnimationFrame(due);
    for (const one of left.splice(0)) one();
  };
  return {
    /** @param {(() => void)[]} steps */
    begin(steps) {
      cancelAnimationFrame(due);
      left = [...steps];
      step();
    },
    finish,
  };
}
