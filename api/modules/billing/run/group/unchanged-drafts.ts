// Which DRAFT invoices need not be computed again. During its grace period a DRAFT follows usage as an OPEN invoice does, but its period is
// over and new usage rarely falls into it. Where none did, its usage is not read and it is not priced: only its `usage_counted_until` moves.
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

/** A DRAFT in which only usage can have changed since it was stored, and its charges. */
export type DraftToCheck = {
  readonly invoiceId: string
  readonly window: InvoiceWindow
  readonly charges: readonly Charge[]
}

/** An invoice of a run, and what it charges. */
type Charged = { readonly target: Target; readonly charges: readonly Charge[] }

/**
 * The first invoices of a run, up to the first one that has to be computed whatever its usage. Wallets and usage are checked by
 * `countedBefore` and `prepare-group.ts`. Pure.
 */
export function draftsToCheck(
  state: SubscriptionState,
  closed: readonly ClosedUsage[],
  charged: readonly Charged[],
): readonly DraftToCheck[] {
  const { inputs, ahead } = state
  const { status, combine } = inputs.subscription
  if (combine || ahead.length > 0 || (status !== 'ACTIVE' && status !== 'CANCELLED')) return []
  const drafts: DraftToCheck[] = []
  for (const each of charged) {
    const found = draftToCheck(state, closed, each)
    if (found === null) break
    drafts.push(found)
  }
  return drafts
}

function draftToCheck(
  state: SubscriptionState,
  closed: readonly ClosedUsage[],
  { target: { key, window, closes }, charges }: Charged,
): DraftToCheck | null {
  const { rows } = state
  const row = rows.find(each => keyOfRow(each) === key)
  if (!window || closes || row?.status !== 'DRAFT' || row.combine_fault !== null) return null
  if (row.to_be_reprocessed_at !== null || !decimal(row.wallet_amount).eq(ZERO)) return null
  // What it grants may begin with time alone.
  if (charges.some(({ config }) => config.wallet_grants?.length)) return null
  const needs = usageNeeds(charges)
  // The inputs hash does not cover the exchange rates of usage.
  if (needs.some(({ currency }) => currency)) return null
  if (needs.length > 0 && row.usage_counted_until === null) return null
  const { inputsHash } = basisOf({ state, closed }, { key, window, rows })
  return row.inputs_hash === inputsHash ? { invoiceId: row.id, window, charges } : null
}

type Candidate = { readonly state: Pick<SubscriptionState, 'inputs'>; readonly drafts: readonly DraftToCheck[] }

/**
 * By subscription, the positions of the log up to which the usage of its drafts was counted. A subscription is absent where they are not
 * known, and where a wallet can pay one of the drafts, since its balance may have changed.
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
      invoiceIds: all.flatMap(({ drafts }) => drafts.map(({ invoiceId }) => invoiceId)),
    })
    return new Map(
      [...counted].filter(([id]) => {
        const own = candidates.get(id)
        return own?.drafts.every(each => !hasPayers(funds.payers(fundsRequest(own.state.inputs, each))))
      }),
    )
  })
}
