// Flags of V8 for tests. A test process runs most of its code only a few times, so to optimize code early costs it more than it gains;
// a server is the other way round.

/**
 * Optimizes a function only after this many bytes of its code have run (Node: 132 kB). Newer versions of Node count calls instead, have a
 * quick compiler in between, and refuse to start with this.
 */
const later = (budget: number): string[] =>
  Number.parseInt(process.versions.node, 10) < 22 ? [`--interrupt-budget=${budget}`] : []

/**
 * For tests that use no servers. With Node's budget they spent a tenth of their time on optimizing. Most of what they allocate are decimals
 * that are soon garbage: a larger young heap is collected less often.
 */
export const PURE_FLAGS = [...later(400_000), '--max-semi-space-size=64']

/**
 * For tests with servers. Where every core is busy, parallel threads of the garbage collector wait for each other. Files follow each other
 * for many minutes in one process: what V8 throws away of code that no test has called for a while, it would compile again. This and a young
 * heap of twice the size save a thirtieth of the processor time.
 */
export const SERVER_FLAGS = [
  ...later(1_000_000),
  '--single-threaded-gc',
  '--max-semi-space-size=64',
  '--no-flush-bytecode',
]
