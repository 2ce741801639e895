// Which DRAFT invoices stand as they are. In its grace period a DRAFT follows usage as an OPEN invoice does, and nearly always there is none
// in its time any more. Then its usage is not read again, and it is neither priced nor written: only the time up to which its usage is
// counted moves.
import { readTenant } from '../../../../../shared/database/database.ts'
import { withNamedStatements } from '../../../../../shared/database/statements/named-statements.ts'
import { decimal, ZERO } from '../../../../../shared/decimal.ts'
import { idsOf } from '../../../../../shared/ids.ts'
import type { Tenant } from '../../../../../shared/tenant.ts'
import { hasPayers, readFunds } from '../../../invoices/settlement/funds.ts'
import { loadCountedPositions } from '../../../subscriptions/billing-time/next-billing.ts'
import type { Charge } from '../../charges/charge.ts'
import type { ClosedUsage } from '../../late/closed-usage.ts'
import type { InvoiceWindow } from '../../terms/windows.ts'
import { usageNeeds } from '../../usage/usage-needs.ts'
import type { Target } from '../advance-invoices.ts'
import type { BillingDeps } from '../compute-invoice.ts'
import { fundsRequest } from '../funds-request.ts'
import { basisOf } from '../state/invoice-basis.ts'
import { keyOfRow } from '../state/subscription-invoices.ts'
import type { SubscriptionState } from '../state/subscription-state.ts'

/** A DRAFT of which nothing but its usage can have changed, and what it charges. */
export type Standing = {
  readonly invoiceId: string
  readonly window: InvoiceWindow
  readonly charges: readonly Charge[]
}

/** An invoice of a run, and what it charges. */
type Charged = { readonly target: Target; readonly charges: readonly Charge[] }

/**
 * The first invoices of a run, as far as each is a DRAFT that nothing but usage can have changed since it was stored. What pays them, and
 * whether their usage changed, is found out later (`prepare-group.ts`). Pure.
 */
export function mayStand(
  state: SubscriptionState,
  closed: readonly ClosedUsage[],
  charged: readonly Charged[],
): readonly Standing[] {
  const { inputs, ahead } = state
  const { status, combine } = inputs.subscription
  if (combine || ahead.length > 0 || (status !== 'ACTIVE' && status !== 'CANCELLED')) return []
  const standing: Standing[] = []
  for (const each of charged) {
    const found = standingOf(state, closed, each)
    if (found === null) break
    standing.push(found)
  }
  return standing
}

function standingOf(
  state: SubscriptionState,
  closed: readonly ClosedUsage[],
  { target: { key, window, closes }, charges }: Charged,
): Standing | null {
  const { rows } = state
  const row = rows.find(each => keyOfRow(each) === key)
  if (!window || closes || row?.status !== 'DRAFT' || row.combine_fault !== null) return null
  if (row.to_be_reprocessed_at !== null || !decimal(row.wallet_amount).eq(ZERO)) return null
  const needs = usageNeeds(charges)
  // The rates of money in another currency are no input.
  if (needs.some(({ currency }) => currency)) return null
  if (needs.length > 0 && row.usage_counted_until === null) return null
  const { inputsHash } = basisOf({ state, closed }, { key, window, rows })
  return row.inputs_hash === inputsHash ? { invoiceId: row.id, window, charges } : null
}

/** A subscription with such invoices. */
type Candidate = { readonly state: Pick<SubscriptionState, 'inputs'>; readonly standing: readonly Standing[] }

/**
 * Up to which positions of the log their usage was counted, by subscription; absent where that is not known, and where a wallet can pay one
 * of them: what it has may have changed.
 */
export async function countedBefore(
  { database }: Pick<BillingDeps, 'database'>,
  tenant: Tenant,
  candidates: ReadonlyMap<string, Candidate>,
): Promise<ReadonlyMap<string, readonly number[]>> {
  if (candidates.size === 0) return new Map()
  return await readTenant(database, tenant, async uow => {
    const reading = withNamedStatements(uow)
    const counted = await loadCountedPositions(reading, idsOf('ppsu', candidates.keys()))
    const all = [...candidates.values()]
    const funds = await readFunds(reading, {
      customerIds: [...new Set(all.map(({ state }) => state.inputs.customer.id))],
      invoiceIds: all.flatMap(({ standing }) => standing.map(({ invoiceId }) => invoiceId)),
    })
    return new Map(
      [...counted].filter(([id]) => {
        const own = candidates.get(id)
        return own?.standing.every(each => !hasPayers(funds.payers(fundsRequest(own.state.inputs, each))))
      }),
    )
  })
}
