// How often something may be done that costs more than taking an event.

export type Allowance = {
  /** Takes so many, or none. */
  take(amount: number): boolean
}

/** `most` at once, and `perSecond` again after that. `nowMs` is monotonic. */
export function createAllowance(options: { most: number; perSecond: number; nowMs: () => number }): Allowance {
  const { most, perSecond, nowMs } = options
  let left = most
  let at = nowMs()
  return {
    take(amount) {
      const now = nowMs()
      left = Math.min(most, left + ((now - at) * perSecond) / 1000)
      at = now
      if (left < amount) return false
      left -= amount
      return true
    },
  }
}
