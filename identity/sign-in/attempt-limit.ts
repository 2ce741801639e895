// How often a password may be tried for one account, as a pure function of when it was tried lately (security section 3).

/** Attempts older than this are forgotten. */
export const ATTEMPTS_WINDOW_SECONDS = 15 * 60
/** In any window. */
export const ATTEMPTS_MAX = 10
/** The first few cost nothing: people mistype. From then on each wait is twice the one before. */
const FREE_TRIES = 3

/**
 * Seconds to wait before the next try, 0 when there is no need, given how many seconds ago each earlier one was. Waits end: the
 * longest is a window, and a try that was refused does not count, so that no one can be kept out by another's guessing
 * for longer than that guessing takes to be forgotten.
 */
export function secondsToNextAttempt(secondsAgo: readonly number[]): number {
  const recent = secondsAgo.filter(ago => ago < ATTEMPTS_WINDOW_SECONDS).toSorted((a, b) => a - b)
  const [last] = recent
  if (last === undefined) return 0
  const delay = recent.length <= FREE_TRIES ? 0 : 2 ** (recent.length - FREE_TRIES - 1)
  const tenthLast = recent[ATTEMPTS_MAX - 1]
  const untilRoom = tenthLast === undefined ? 0 : ATTEMPTS_WINDOW_SECONDS - tenthLast
  return Math.max(0, delay - last, untilRoom)
}
