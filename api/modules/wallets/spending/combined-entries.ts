// What a FINAL invoice for several subscriptions spends: for each of them, from the grants that can pay in its time. Pure.
import { MOVES } from '../../../../shared/billing/wallets/ledger.ts'
import type { Instant, Interval } from '../../../../shared/time.ts'
import { fewestFirst } from '../../invoices/settlement/funds.ts'
import type { SubBalanceUse } from '../../invoices/wallet-uses.ts'
import type { NewEntry } from '../ledger/post-entries.ts'
import { invoiceEntries } from './invoice-entries.ts'
import { type FundedGrant, spentAt, usableGrants } from './usable-grants.ts'

/** What is used of each sub-balance, by its key, for this time. */
export type CombinedUse = {
  readonly service: Interval
  readonly uses: ReadonlyMap<string, Pick<SubBalanceUse, 'quantity'>>
}

/** The entries of an invoice that held nothing before. Throws when it uses more than there is. */
export function combinedEntries(
  invoiceId: string,
  all: readonly CombinedUse[],
  { funded, now }: { readonly funded: readonly FundedGrant[]; readonly now: Instant },
): NewEntry[] {
  let left = funded
  return all
    .toSorted((a, b) => fewestFirst(a.service, b.service))
    .flatMap(({ service, uses }) => {
      const grants = usableGrants(left, new Map(), { service, now })
      const of = { subBalances: [...uses.keys()], uses, grants, isFinal: true, spentAt: spentAt(service, now) }
      const entries = invoiceEntries(invoiceId, of)
      left = left.map(grant => entries.filter(({ grantId }) => grantId === grant.id).reduce(moved, grant))
      return entries
    })
}

/** The open and the expired part of a grant after this entry. */
function moved(grant: FundedGrant, { move, quantity }: NewEntry): FundedGrant {
  const { from, to } = MOVES[move]
  const after = (account: typeof from | typeof to, before: FundedGrant['open']): FundedGrant['open'] =>
    account === to ? before.plus(quantity) : account === from ? before.minus(quantity) : before
  return { ...grant, open: after('OPEN', grant.open), expired: after('EXPIRED', grant.expired) }
}
