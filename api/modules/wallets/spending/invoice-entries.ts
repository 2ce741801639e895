// What an invoice moves in the ledger when it is saved: from what it holds of each grant to what it needs of it. Pure.

import type { Move } from '../../../../shared/billing/wallets/ledger.ts'
import { takeFrom } from '../../../../shared/billing/wallets/spending-order.ts'
import { type Decimal, max, min, ZERO } from '../../../../shared/decimal.ts'
import { idOf } from '../../../../shared/ids.ts'
import { type Instant, instantOf } from '../../../../shared/time.ts'
import { type SubBalanceUse, subBalanceKey } from '../../invoices/wallet-uses.ts'
import type { NewEntry } from '../ledger/post-entries.ts'
import type { UsableGrant } from './usable-grants.ts'

type Saved = {
  /** The keys of the sub-balances that it uses, or used. */
  readonly subBalances: readonly string[]
  readonly uses: ReadonlyMap<string, Pick<SubBalanceUse, 'quantity'>>
  /** The grants of these sub-balances that it may use, or holds a part of. */
  readonly grants: readonly UsableGrant[]
  /** Whether it becomes FINAL, which spends what it uses. */
  readonly isFinal: boolean
  readonly spentAt: Instant
  /** Present for an invoice that replaces another. */
  readonly replacing?: Replacing
}

/**
 * What the invoice that is replaced gives back of each grant when its credit note is FINAL: until then it is still spent,
 * so only the rest is reserved. What it gave back was not open before, so it is reserved from now on, not from the time
 * that it pays for.
 */
type Replacing = { readonly returning: ReadonlyMap<string, Decimal>; readonly now: Instant }

/** Throws when it uses more than there is: it was computed from the same grants, under the same lock. */
export function invoiceEntries(
  invoiceId: string,
  { subBalances, uses, grants, isFinal, spentAt, replacing }: Saved,
): NewEntry[] {
  return subBalances.flatMap(subBalance => {
    const own = grants.filter(grant => subBalanceKey(grant) === subBalance)
    const { parts, missing } = takeFrom(own, uses.get(subBalance)?.quantity ?? ZERO)
    if (missing.gt(ZERO)) throw new Error(`the invoice ${invoiceId} takes more of ${subBalance} than there is`)
    const wanted = new Map(parts.map(({ grantId, quantity }) => [grantId, quantity]))
    return own.flatMap(grant => {
      const back = replacing?.returning.get(grant.id) ?? ZERO
      const kept = max((wanted.get(grant.id) ?? ZERO).minus(back), ZERO)
      const reservedAt = replacing?.now ?? beforeExpiry(grant, spentAt)
      return entriesOf(invoiceId, grant, { kept, held: grant.own.minus(back), isFinal, spentAt, reservedAt })
    })
  })
}

const beforeExpiry = ({ expireAt }: UsableGrant, time: Instant): Instant =>
  expireAt === null ? time : instantOf(Math.min(time, expireAt - 1_000))

type Wanted = Pick<Saved, 'isFinal' | 'spentAt'> & {
  /** What it holds of the grant, and what it is to hold of it. */
  readonly held: Decimal
  readonly kept: Decimal
  readonly reservedAt: Instant
}

/** The moves from what the invoice holds of a grant to what it needs of it. */
function entriesOf(
  invoiceId: string,
  grant: UsableGrant,
  { held, kept, isFinal, spentAt: time, reservedAt }: Wanted,
): NewEntry[] {
  const cause = { type: 'INVOICE', id: invoiceId } as const
  const entry = (move: Move, quantity: Decimal, effectiveAt?: Instant): NewEntry[] =>
    quantity.gt(ZERO)
      ? [
          {
            walletId: grant.walletId,
            grantId: idOf('wgra', grant.id),
            move,
            quantity,
            cause,
            ...(effectiveAt === undefined ? {} : { effectiveAt }),
          },
        ]
      : []
  const more = max(kept.minus(held), ZERO)
  const less = max(held.minus(kept), ZERO)
  const reopened = more.minus(min(more, grant.openNow))
  return [
    ...entry('REOPEN', reopened, grant.expireAt ?? time),
    ...entry('RESERVE', more, reservedAt),
    ...entry('RELEASE', less),
    ...(grant.isReverted ? entry('REVERT', less) : []),
    ...(isFinal ? entry('SPEND', kept) : []),
  ]
}
