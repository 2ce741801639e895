// How V8 runs tests, which is other than how it best runs a server: most of what they run, they run too seldom to gain what it takes to
// optimize it.

/**
 * Optimizes code later, by the bytes of it that have run (Node: 132 kB). Newer versions of Node count calls instead, have a quick compiler
 * in between, and refuse to start with this.
 */
const later = (budget: number): string[] =>
  Number.parseInt(process.versions.node, 10) < 22 ? [`--interrupt-budget=${budget}`] : []

/**
 * Of tests that talk to nothing: a tenth of their time went into optimizing what hardly ran again. Decimals of a moment are most of what
 * they make: with room for them, less is collected and less is moved.
 */
export const PURE_FLAGS = [...later(400_000), '--max-semi-space-size=64']

/** Of tests with servers. Threads that collect side by side wait for each other where every core has work. */
export const SERVER_FLAGS = [...later(1_000_000), '--single-threaded-gc', '--max-semi-space-size=32']
