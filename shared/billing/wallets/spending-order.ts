// Which grants of a wallet are spent first (semantics 6, contract: Invoice with amount-denominated wallet spend).
import { type Decimal, min, sum, ZERO } from '../../decimal.ts'
import type { Instant } from '../../time.ts'

export type GrantType = 'DEFAULT' | 'PROMOTION'

/** What is left of a grant to spend or reserve, and when that is allowed. */
export type SpendableGrant = {
  readonly id: string
  readonly type: GrantType
  readonly startAt: Instant
  /** Exclusive; null when it never expires. */
  readonly expireAt: Instant | null
  readonly open: Decimal
}

const expiryOf = ({ expireAt }: SpendableGrant): number => expireAt ?? Number.POSITIVE_INFINITY
const compare = (a: number | string, b: number | string): number => (a < b ? -1 : a > b ? 1 : 0)

/** Oldest expiry first and never-expiring last; then promotions; then by start and id. */
export const inSpendingOrder = <G extends SpendableGrant>(grants: readonly G[]): G[] =>
  grants.toSorted(
    (a, b) =>
      compare(expiryOf(a), expiryOf(b)) ||
      compare(a.type === 'PROMOTION' ? 0 : 1, b.type === 'PROMOTION' ? 0 : 1) ||
      compare(a.startAt, b.startAt) ||
      compare(a.id, b.id),
  )

/** Whether a grant can be spent at a time: it has started and has not expired. */
export const isLive = ({ startAt, expireAt }: SpendableGrant, at: Instant): boolean =>
  startAt <= at && (expireAt === null || at < expireAt)

/** Part of a grant. */
export type GrantPart = { readonly grantId: string; readonly quantity: Decimal }

/** Takes up to `quantity` from the grants in spending order. `missing` is what they cannot supply. */
export function takeFrom(
  grants: readonly SpendableGrant[],
  quantity: Decimal,
): { readonly parts: readonly GrantPart[]; readonly missing: Decimal } {
  const parts: GrantPart[] = []
  let missing = quantity
  for (const { id, open } of inSpendingOrder(grants)) {
    const part = min(open, missing)
    if (part.lte(ZERO)) continue
    parts.push({ grantId: id, quantity: part })
    missing = missing.minus(part)
  }
  return { parts, missing }
}

export const totalOfParts = (parts: readonly GrantPart[]): Decimal => sum(parts.map(({ quantity }) => quantity))
