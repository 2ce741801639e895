// Times as bytes: the common timestamp of a body, and the two forms of a time in a line and in an answer.
import { parseInstant } from '../../../shared/time.ts'
import { AsciiText, copyBytes, type Input, isTextAt } from './bytes.ts'

const DAY_MS = 86_400_000
/** Length of a date with its T, of a whole time, and of one with milliseconds. */
const DATE = 11
const SECONDS = 20
const MILLISECONDS = 24
const Z = 0x5a
const COLON = 0x3a
const POINT = 0x2e

/** Reads `2026-01-31T10:20:30Z` and `2026-01-31T10:20:30.123Z` to epoch milliseconds; anything else is -1. */
export type TimeReader = (input: Input, start: number, end: number) => number

/** A reader that remembers the day it saw last: events of one batch share it. */
export function createTimeReader(): TimeReader {
  let day = new AsciiText('?')
  let dayStart = 0
  return (input, start, end) => {
    const length = end - start
    const { bytes, view } = input
    if ((length !== SECONDS && length !== MILLISECONDS) || bytes[end - 1] !== Z) return -1
    if (!isTextAt(view, start, day) || day.length !== DATE) {
      const text = input.text(start, end)
      const instant = parseInstant(text)
      if (instant === null) return -1
      day = new AsciiText(text.slice(0, DATE))
      dayStart = Math.floor(instant / DAY_MS) * DAY_MS
    }
    const hours = pair(bytes, start + 11)
    const minutes = pair(bytes, start + 14)
    const seconds = pair(bytes, start + 17)
    if (bytes[start + 13] !== COLON || bytes[start + 16] !== COLON) return -1
    // Compared this way round, because what was no digit is NaN.
    if (!(hours <= 23 && minutes <= 59 && seconds <= 59)) return -1
    const whole = dayStart + hours * 3_600_000 + minutes * 60_000 + seconds * 1_000
    if (length === SECONDS) return whole
    const rest = digit(bytes, start + 20) * 100 + pair(bytes, start + 21)
    return bytes[start + 19] === POINT && rest >= 0 ? whole + rest : -1
  }
}

function digit(bytes: Uint8Array, at: number): number {
  const value = (bytes[at] ?? 0) - 0x30
  return value >= 0 && value <= 9 ? value : Number.NaN
}
const pair = (bytes: Uint8Array, at: number): number => digit(bytes, at) * 10 + digit(bytes, at + 1)

export const WIRE_TIME_LENGTH = 14

/** Writes a time as a line has it, ten digits of seconds and three of milliseconds. */
export function putWireTime(epochMs: number, to: DataView, at: number): number {
  let seconds = Math.floor(epochMs / 1_000)
  let milliseconds = epochMs - seconds * 1_000
  for (let place = at + 9; place >= at; place -= 1) {
    const rest = Math.floor(seconds / 10)
    to.setUint8(place, 0x30 + seconds - rest * 10)
    seconds = rest
  }
  to.setUint8(at + 10, POINT)
  for (let place = at + 13; place > at + 10; place -= 1) {
    const rest = Math.floor(milliseconds / 10)
    to.setUint8(place, 0x30 + milliseconds - rest * 10)
    milliseconds = rest
  }
  return at + 14
}

/** Writes the whole seconds of a timestamp that the TimeReader took, as an answer has them. */
export function putWholeSeconds(from: DataView, start: number, to: DataView, at: number): number {
  const end = copyBytes(from, start, SECONDS - 1, to, at)
  to.setUint8(end, Z)
  return end + 1
}
