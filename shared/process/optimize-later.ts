// How soon V8 makes fast code of a function. By default it does once a function has run for some microseconds, which pays in a program
// that does one thing all day. A billing run of a few hundred customers ends before that is worth its cost.
import { setFlagsFromString } from 'node:v8'

/** In bytes of code that ran; 15 times the default of Node 20. What a run of thousands does often is still made fast. */
const BUDGET = 1_000_000
/** From here on Node has a quick compiler in between, and no such flag. */
const QUICK_COMPILER_SINCE = 22

/** Has this process optimize later. To be called before its work begins. Does nothing on newer versions of Node. */
export function optimizeLater(version: string = process.versions.node): void {
  if (Number.parseInt(version, 10) < QUICK_COMPILER_SINCE) setFlagsFromString(`--interrupt-budget=${BUDGET}`)
}
