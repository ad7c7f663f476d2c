// The most memory that a process ever had resident, in bytes, as Linux counts it.

import { readFileSync } from "node:fs";

/** 0 for a process that is gone. */
export function peakOf(pid) {
  try {
    const [, kib] = readFileSync(`/proc/${pid}/status`, "utf8").match(/^VmHWM:\s+(\d+) kB$/m) ?? [0, "0"];
    return Number(kib) * 1024;
  } catch {
    return 0;
  }
}
