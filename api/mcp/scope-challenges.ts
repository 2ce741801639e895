// When a missing scope is worth a challenge, which makes a client ask its user, and when only an answer, which the model reads.

export type ScopeChallenges = {
  /** Whether to challenge this grant now. False for a minute after it was. */
  dueFor(grantId: string): boolean
}

const GAP_MS = 60_000
const REMEMBERED_MAX = 10_000

/**
 * A client that can ask its user does so at the first challenge, and comes back with another grant. One that comes back with the
 * same was refused by its user, or only refreshed its token and tried again: another challenge would end in an error of the
 * client's own, which says nothing of scopes. Remembered by each process for itself.
 */
export function createScopeChallenges(nowMs: () => number): ScopeChallenges {
  const challenged = new Map<string, number>()
  return {
    dueFor: grantId => {
      const now = nowMs()
      if ((challenged.get(grantId) ?? Number.NEGATIVE_INFINITY) + GAP_MS > now) return false
      if (challenged.size >= REMEMBERED_MAX) challenged.clear()
      challenged.set(grantId, now)
      return true
    },
  }
}
