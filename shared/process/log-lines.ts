// Where log lines go: the standard output, in order. A line that cannot be written (a full disk, a reader that is gone or does not
// read) is dropped and counted; the process never waits for its log and never ends because of it.
import { writeSync } from 'node:fs'

export type LogLines = {
  /** Takes one line with its line end, or several. Never throws. */
  write(lines: string): void
  /** Lines that were dropped since the start. */
  dropped(): number
}

type Write = (bytes: Uint8Array) => number

/** A pipe whose reader is slow is tried this often, so long apart; after that not again until a line got through. */
const TRIES_MAX = 10
const PAUSE_MS = 5
const LINE_END = 0x0a

const pause = new Int32Array(new SharedArrayBuffer(4))
const hasCode = (error: unknown, code: string): boolean =>
  error instanceof Error && 'code' in error && error.code === code

/** Lines to the file descriptor, or to `write`, which takes bytes, says how many it took and may throw. */
export function createLogLines(write: Write = bytes => writeSync(1, bytes)): LogLines {
  let dropped = 0
  let isStuck = false
  /** Part of a line is out without its end. */
  let isCut = false

  /** How many of the bytes got out. */
  const put = (bytes: Uint8Array): number => {
    let tries = 0
    let at = 0
    while (at < bytes.length) {
      try {
        at += write(bytes.subarray(at))
      } catch (error) {
        tries += 1
        if (!hasCode(error, 'EAGAIN') || isStuck || tries > TRIES_MAX) break
        Atomics.wait(pause, 0, 0, PAUSE_MS)
      }
    }
    if (at > 0) isCut = bytes[at - 1] !== LINE_END
    isStuck = at < bytes.length
    return at
  }
  return {
    write: lines => {
      // The end of what was cut off stands before what comes next, and belongs to none of the new lines.
      const before = isCut ? 1 : 0
      const bytes = Buffer.from(before === 1 ? `\n${lines}` : lines)
      const taken = put(bytes)
      for (let at = Math.max(taken, before); at < bytes.length; at += 1) if (bytes[at] === LINE_END) dropped += 1
    },
    dropped: () => dropped,
  }
}

/** So that a burst of lines does not pile up. */
const TOGETHER_MAX = 65_536
const TOGETHER_MS = 10

/**
 * Hands lines on together, as many as come within 10 ms in one piece, which costs as much as one of them. What is still kept when
 * the process exits goes out then.
 */
export function batchLines(lines: Pick<LogLines, 'write'>): { write(line: string): void } {
  let kept = ''
  const flush = (): void => {
    const text = kept
    kept = ''
    if (text !== '') lines.write(text)
  }
  process.on('exit', flush)
  return {
    write: line => {
      if (kept === '') setTimeout(flush, TOGETHER_MS).unref()
      kept += line
      if (kept.length > TOGETHER_MAX) flush()
    },
  }
}
