// Where log lines go: the standard output, in order and at once. A line that cannot be written (a full disk, a reader that is gone
// or does not read) is dropped and counted; the process never waits for its log and never ends because of it.
import { writeSync } from 'node:fs'

export type LogLines = {
  /** Takes one line with its line end. Never throws. */
  write(line: string): void
  /** Lines that were dropped since the start. */
  dropped(): number
}

type Write = (bytes: Uint8Array) => number

/** A pipe whose reader is slow is tried this often, so long apart; after that not again until a line got through. */
const TRIES_MAX = 10
const PAUSE_MS = 5
const LINE_END = Buffer.from('\n')

const pause = new Int32Array(new SharedArrayBuffer(4))
const hasCode = (error: unknown, code: string): boolean =>
  error instanceof Error && 'code' in error && error.code === code

/** Lines to the file descriptor, or to `write`, which takes bytes, says how many it took and may throw. */
export function createLogLines(write: Write = bytes => writeSync(1, bytes)): LogLines {
  let dropped = 0
  let isStuck = false
  /** Part of a line is out without its end. */
  let isCut = false

  const put = (bytes: Uint8Array): void => {
    let tries = 0
    for (let at = 0; at < bytes.length; ) {
      try {
        const taken = write(bytes.subarray(at))
        at += taken
        if (taken > 0) isCut = at < bytes.length
      } catch (error) {
        tries += 1
        if (!hasCode(error, 'EAGAIN') || isStuck || tries > TRIES_MAX) throw error
        Atomics.wait(pause, 0, 0, PAUSE_MS)
      }
    }
  }
  return {
    write: line => {
      try {
        if (isCut) put(LINE_END)
        put(Buffer.from(line))
        isStuck = false
      } catch {
        isStuck = true
        dropped += 1
      }
    },
    dropped: () => dropped,
  }
}
