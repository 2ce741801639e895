// Tracks what a transaction does to the grants of locked wallets until it is posted: only open amounts can be reserved.
import { type Decimal, min, sum, ZERO } from '../../decimal.ts'
import type { Instant } from '../../time.ts'
import type { Move } from './ledger.ts'
import { type GrantPart, isLive, type SpendableGrant, takeFrom } from './spending-order.ts'

export type BookedGrant = SpendableGrant & {
  readonly walletId: string
  /** Reverted: what is released from it can never be spent again. */
  readonly isReverted: boolean
  /** The customer whose use alone may spend it; null for all use. */
  readonly seatOf: string | null
}
/** A wallet, and the customer who uses it; null when no customer is named. */
export type WalletUser = { readonly walletId: string; readonly customerId: string | null }
export type Moved = GrantPart & { readonly move: Move }

export type GrantBook = {
  /** How much of the wallet this use can spend at that time. */
  openOf(use: WalletUser, at: Instant): Decimal
  /**
   * Reserves the whole quantity; null, without reserving anything, when the wallet does not have it. The rules of
   * `reserve_in_wallets` in the database: reserve-many.it.test.ts compares them.
   */
  reserve(
    use: WalletUser,
    quantity: Decimal,
    at: Instant,
  ): { parts: readonly GrantPart[]; moves: readonly Moved[] } | null
  /** Spends `quantity` from the reserved parts in their order, and releases the rest. */
  settle(parts: readonly GrantPart[], quantity: Decimal): readonly Moved[]
}

/** A book of these grants as they are now. */
export function createGrantBook(grants: readonly BookedGrant[]): GrantBook {
  const open = new Map(grants.map(grant => [grant.id, grant.open]))
  const byId = new Map(grants.map(grant => [grant.id, grant]))
  const ownOf = ({ walletId, customerId }: WalletUser, at: Instant): SpendableGrant[] =>
    grants
      .filter(({ seatOf }) => seatOf === null || seatOf === customerId)
      .filter(grant => grant.walletId === walletId && isLive(grant, at))
      .map(grant => ({ ...grant, open: open.get(grant.id) ?? ZERO }))
  const add = (id: string, quantity: Decimal): void => {
    open.set(id, (open.get(id) ?? ZERO).plus(quantity))
  }
  const release = ({ grantId, quantity }: GrantPart): Moved[] => {
    const released: Moved = { grantId, quantity, move: 'RELEASE' }
    if (byId.get(grantId)?.isReverted) return [released, { grantId, quantity, move: 'REVERT' }]
    add(grantId, quantity)
    return [released]
  }
  return {
    openOf: (use, at) => sum(ownOf(use, at).map(grant => grant.open)),
    reserve: (use, quantity, at) => {
      const { parts, missing } = takeFrom(ownOf(use, at), quantity)
      if (missing.gt(ZERO)) return null
      for (const part of parts) add(part.grantId, part.quantity.neg())
      return { parts, moves: parts.map(part => ({ ...part, move: 'RESERVE' as const })) }
    },
    settle: (parts, quantity) => {
      let left = quantity
      return parts.flatMap(({ grantId, quantity: reserved }): Moved[] => {
        const spent = min(reserved, left)
        left = left.minus(spent)
        const rest = reserved.minus(spent)
        return [
          ...(spent.gt(ZERO) ? [{ grantId, quantity: spent, move: 'SPEND' as const }] : []),
          ...(rest.gt(ZERO) ? release({ grantId, quantity: rest }) : []),
        ]
      })
    },
  }
}
