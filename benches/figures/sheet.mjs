// What a bench measured, in the one shape that benches/speed reads: an array of figures, written where a file is named. Says
// whether a goal is held, and nothing else. For benches in Rust the same is `sheet.rs`, which tells what each field is.

import { writeFileSync } from "node:fs";

export class Sheet {
  #figures = [];

  /** `smoke`: a handful was measured, and no goal is held against it. */
  constructor({ smoke = false } = {}) {
    this.smoke = smoke;
  }

  /** Takes a figure in, and returns what is to be said of its goal. */
  add({ id, figure, measured, unit, beside = [], ratio = null, goal = null, series = null }) {
    const held = goal === null || this.smoke ? null : holds(goal, measured, ratio);
    this.#figures.push({ id, figure, measured, unit, beside, ratio, goal, series, held });
    return held === null ? "" : held ? "held" : "MISSED";
  }

  get figures() {
    return this.#figures;
  }

  write(file) {
    if (file) writeFileSync(file, `${JSON.stringify(this.#figures, null, 1)}\n`);
  }
}

/** `times` bounds the ratio. */
function holds({ most, most_times: mostTimes, least_times: leastTimes }, measured, ratio) {
  return (most === undefined || measured <= most)
    && (mostTimes === undefined || ratio <= mostTimes)
    && (leastTimes === undefined || leastTimes <= ratio);
}
