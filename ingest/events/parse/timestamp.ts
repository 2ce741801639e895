// The common timestamp, `2026-01-31T10:20:30.123Z`, read without a regular expression: events of one batch share their day.
import { type Instant, instantOf, parseInstant } from '../../../shared/time.ts'

const ZERO = 48
const digit = (text: string, at: number): number => {
  const value = text.charCodeAt(at) - ZERO
  return value >= 0 && value <= 9 ? value : Number.NaN
}
const pair = (text: string, at: number): number => digit(text, at) * 10 + digit(text, at + 1)

/** A function like `parseInstant` that remembers the last day it saw. */
export function createTimestampReader(): (text: string) => Instant | null {
  let day = ''
  let dayStart = 0
  return text => {
    const { length } = text
    if (day === '' || (length !== 20 && length !== 24) || !text.startsWith(day) || !text.endsWith('Z')) {
      const instant = parseInstant(text)
      if (instant !== null && text.endsWith('Z')) {
        day = text.slice(0, 11)
        dayStart = Math.floor(instant / 86_400_000) * 86_400_000
      }
      return instant
    }
    const milliseconds = length === 20 ? 0 : text[19] === '.' ? digit(text, 20) * 100 + pair(text, 21) : Number.NaN
    const hours = pair(text, 11)
    const minutes = pair(text, 14)
    const seconds = pair(text, 17)
    const plain = text[13] === ':' && text[16] === ':' && hours <= 23 && minutes <= 59 && seconds <= 59
    if (!plain || Number.isNaN(milliseconds)) return parseInstant(text)
    return instantOf(dayStart + hours * 3_600_000 + minutes * 60_000 + seconds * 1000 + milliseconds)
  }
}
