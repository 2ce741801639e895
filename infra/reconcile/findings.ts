// What a reconciliation found, bounded in memory however much is wrong.

/** What is not as it must be, and what its reader should think of. */
export const DIFFERENCES = {
  BEHIND: 'accepted and not in ClickHouse yet',
  NOT_STORED: 'stands in the log and in no table',
  STORED_TWICE: 'counted and a duplicate at once',
  OTHER_CONTENT: 'counted with other content than the log has',
  NOT_IN_LOG: 'stored, and the log has no such record',
  NOT_APPLIED: 'a deletion or amendment that changed nothing',
  NOT_IN_INDEX: 'counted, and the index does not know its reference: a resend would count again',
  NOT_IN_ROWS: 'in the index and not counted: a resend would be dropped',
  OTHER_PLACE: 'counted at another place than the index says',
  WALLET_DIFFERS: 'the accounts of a wallet are not what its entries add up to',
  WALLETS_NOT_ZERO: 'the accounts of all wallets do not sum to zero',
  ROLLUP_DIFFERS: 'the roll-ups give another figure than the raw rows',
} as const

export type Difference = keyof typeof DIFFERENCES

export type Findings = {
  add(difference: Difference, where: string): void
  /** How many of each kind. */
  readonly counts: ReadonlyMap<Difference, number>
  /** The first of each kind, at most EXAMPLES_MAX, in words. */
  examples(difference: Difference): readonly string[]
  total(): number
}

const EXAMPLES_MAX = 20

export function createFindings(): Findings {
  const counts = new Map<Difference, number>()
  const examples = new Map<Difference, string[]>()
  return {
    counts,
    add(difference, where) {
      const before = counts.get(difference) ?? 0
      counts.set(difference, before + 1)
      if (before < EXAMPLES_MAX) examples.set(difference, [...(examples.get(difference) ?? []), where])
    },
    examples: difference => examples.get(difference) ?? [],
    total: () => [...counts.values()].reduce((sum, count) => sum + count, 0),
  }
}
