// How the credits that usage costs are drawn from the grants of wallets (semantics 6; contract: Wallet rules 2 and 4).
import { type Decimal, min, sum, ZERO } from '../../decimal.ts'

/** What is left of a grant of credits. */
export type CreditPart = {
  readonly walletId: string
  readonly creditTypeId: string
  /** The customer whose usage alone may spend it; null for all usage. */
  readonly onlyFor: string | null
  readonly quantity: Decimal
}

/** The credits that one price needs, by the customers whose usage needs them. */
export type CreditNeed = {
  readonly key: string
  readonly creditTypeId: string
  readonly byCustomer: readonly (readonly [customerId: string, quantity: Decimal])[]
}

/** What one wallet pays of a need. */
export type WalletDraw = {
  readonly walletId: string
  /** What the customers of the need could have spent of it before. */
  readonly available: Decimal
  readonly used: Decimal
  /** The part that came from grants for the seats of customers. */
  readonly bySeat: readonly (readonly [customerId: string, used: Decimal])[]
}
export type Drawn = {
  readonly draws: readonly WalletDraw[]
  /** What the wallets lacked: never below zero. */
  readonly missing: Decimal
}

/**
 * Draws the needs one after the other from `parts`, which are in spending order; each customer of a need in turn. No
 * part is drawn below zero. Gives what is drawn for each need, by its key.
 */
export function drawCredits(parts: readonly CreditPart[], needs: readonly CreditNeed[]): Map<string, Drawn> {
  const left = parts.map(({ quantity }) => quantity)
  return new Map(
    needs.map(({ key, creditTypeId, byCustomer }): [string, Drawn] => {
      const customers = new Set(byCustomer.map(([id]) => id))
      const usable = parts.flatMap((part, index) =>
        part.creditTypeId === creditTypeId && (part.onlyFor === null || customers.has(part.onlyFor))
          ? [{ part, index, before: left[index] ?? ZERO }]
          : [],
      )
      let missing = ZERO
      for (const [customerId, quantity] of byCustomer) {
        let wanted = quantity
        for (const { part, index } of usable) {
          if (part.onlyFor !== null && part.onlyFor !== customerId) continue
          const taken = min(left[index] ?? ZERO, wanted)
          left[index] = (left[index] ?? ZERO).minus(taken)
          wanted = wanted.minus(taken)
        }
        missing = missing.plus(wanted)
      }
      const used = usable.map(({ part, index, before }) => ({ part, before, used: before.minus(left[index] ?? ZERO) }))
      return [key, { draws: drawsOf(used), missing }]
    }),
  )
}

type Used = { readonly part: CreditPart; readonly before: Decimal; readonly used: Decimal }

/** One entry for each wallet that pays, in the order of use. */
function drawsOf(all: readonly Used[]): WalletDraw[] {
  const walletIds = [...new Set(all.flatMap(({ part, used }) => (used.gt(ZERO) ? [part.walletId] : [])))]
  return walletIds.map(walletId => {
    const own = all.filter(({ part }) => part.walletId === walletId)
    const seats = [...new Set(own.flatMap(({ part }) => part.onlyFor ?? []))]
    const bySeat = seats.map(
      id => [id, sum(own.flatMap(({ part, used }) => (part.onlyFor === id ? [used] : [])))] as const,
    )
    return {
      walletId,
      available: sum(own.map(({ before }) => before)),
      used: sum(own.map(({ used }) => used)),
      bySeat: bySeat.filter(([, used]) => used.gt(ZERO)),
    }
  })
}
