// Counts who still uses a thing that is to be closed.

export type Use = {
  begin(): void
  end(): void
  /** Resolves when nobody uses it. */
  idle(): Promise<void>
}

export function createUse(): Use {
  let users = 0
  let waiting: (() => void)[] = []
  return {
    begin() {
      users += 1
    },
    end() {
      users -= 1
      if (users > 0) return
      for (const wake of waiting) wake()
      waiting = []
    },
    async idle() {
      if (users > 0) await new Promise<void>(resolve => waiting.push(resolve))
    },
  }
}
