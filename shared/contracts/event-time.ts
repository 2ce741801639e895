// The time of a usage event: how far ahead it may be, and what the refusal of another one says.
import { FIRST_INSTANT, LAST_INSTANT, parseInstant } from '../time.ts'

/** How far ahead of our clock the time of an event may be. */
export const AHEAD_MS_MAX = 30 * 60_000

const FORM = /^[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9]{2}:[0-9]{2}:[0-9]{2}(?:\.[0-9]{1,9})?(?:Z|[+-][0-9]{2}:[0-9]{2})$/

/** What is wrong with a time that was refused, for the message. It does not decide: it takes every good time for one ahead. */
export function whyNoEventTime(value: unknown): string {
  if (typeof value !== 'string' || !FORM.test(value)) {
    return 'Expected an ISO 8601 time with an offset, such as 2026-01-31T10:00:00Z.'
  }
  // Unlike parseInstant it reads a time of any year.
  const read = Date.parse(value)
  if (read < FIRST_INSTANT) {
    return 'The timestamp is before 1970. Events are taken from 1970-01-01T00:00:00Z until 30 minutes ahead of our clock.'
  }
  if (read > LAST_INSTANT || parseInstant(value) !== null) {
    return 'The timestamp is more than 30 minutes ahead of our clock.'
  }
  return 'There is no such time: its day, its time of day or its offset does not exist.'
}
