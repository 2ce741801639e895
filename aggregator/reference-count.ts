// Counts the holders of a thing that is to be closed when nothing holds it any more.

export type ReferenceCount = {
  acquire(): void
  release(): void
  /** Resolves when nothing holds it. */
  idle(): Promise<void>
}

export function createReferenceCount(): ReferenceCount {
  let holders = 0
  let waiting: (() => void)[] = []
  return {
    acquire() {
      holders += 1
    },
    release() {
      holders -= 1
      if (holders > 0) return
      for (const wake of waiting) wake()
      waiting = []
    },
    async idle() {
      if (holders > 0) await new Promise<void>(resolve => waiting.push(resolve))
    },
  }
}
