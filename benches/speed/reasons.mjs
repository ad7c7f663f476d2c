// Why a goal is missed, where that is known: one sentence for a figure, shown only while it is missed. No number that a run
// measures stands here.

const CONNECTION = "a handshake and its checks for each purchase alone take a good part of what the others take once they are warm: they keep"
  + " their connection from one purchase to the next, judge nothing, and write nothing down. The floors show what is out of reach as the"
  + " purchase is built";
const MEMORY = "most of it is pages of the program itself: the system maps those around each that is used, and the program has grown";

const REASONS = {
  "count-alone": "where a commit waits for hardly anything, the judge, the signature and the sockets show beside it",
  "count-crowd": "where one caller is not bound by the disk, a crowd is bound by the writer's thread, which answers four asks for each purchase",
  "usual-5000": "the usual way writes one row and no log",
  "start-serve": "most of it is the start of a program of this size, and a good part of the rest its confinement before it reads a word",
  "memory-share": MEMORY,
  "memory-mapped": MEMORY,
  "wire-alone": CONNECTION,
  "wire-allowed": CONNECTION,
  "wire-cpu": CONNECTION,
  "wire-crowd": CONNECTION,
  "binary-size": "PostgreSQL, the editors of clients' files, the browser's glue, the chains, the audit and the confinement are all in one program",
};

export function reason(id) {
  return REASONS[id];
}
