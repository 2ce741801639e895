// Load → query → build → save. Usage is read between two transactions, never inside one; so what was loaded is compared
// with what is there when the invoice is saved, and the invoice is computed again when it changed meanwhile.
import { createHash } from 'node:crypto'
import {
  type Actor,
  type Database,
  inTenant,
  type ReadUow,
  readTenant,
  type Uow,
} from '../../../shared/database/database.ts'
import { AppError } from '../../../shared/errors.ts'
import type { Failpoints } from '../../../shared/failpoint.ts'
import type { Tenant } from '../../../shared/tenant.ts'
import type { Instant } from '../../../shared/time.ts'
import { holdCustomer } from '../customers/hold-customer.ts'
import { lockSubscription } from '../subscriptions/next-billing.ts'
import { type BillingInputs, fingerprintOf } from './billing-inputs.ts'
import { type PricedInvoice, priceInvoice } from './build-invoice.ts'
import { chargesOf } from './charges.ts'
import { type ClosedUsage, closedUsageOf } from './closed-usage.ts'
import { exactUsage } from './exact-usage.ts'
import { billedElsewhere, keyOfRow, keyOfWindow, takesLateUsage } from './invoice-keys.ts'
import { findLateCharges } from './late-charges.ts'
import { loadBillingInputs } from './load-inputs.ts'
import { getInvoice, invoicesOfSubscription } from './repository.ts'
import type { InvoiceRow } from './table.ts'
import { readUsage, type UsageReader } from './usage-reader.ts'
import { type InvoiceWindow, invoiceWindows } from './windows.ts'

export type InvoiceDeps = {
  readonly database: Database
  readonly usage: UsageReader
  readonly failpoint?: Failpoints
}

/** Names one invoice of a subscription before and after it exists. */
export type Target = { readonly subscriptionId: string; readonly key: string }

/** What an invoice is computed from, and a stamp that changes when any of it does. */
export type InvoiceState = {
  readonly inputs: BillingInputs
  /** Null when the subscription no longer has this period. */
  readonly window: InvoiceWindow | null
  readonly billed: ReadonlySet<string>
  /** What closed invoices counted, when late usage goes on this one; none when it does not. */
  readonly closed: readonly ClosedUsage[]
  readonly row: InvoiceRow | null
  readonly stamp: string
}

/** Windows looked through to find one: more than any invoice that can exist (monthly to the year 2200 are 2 800). */
const WINDOWS_MAX = 100_000

function findWindow(inputs: BillingInputs, key: string): InvoiceWindow | null {
  let seen = 0
  for (const window of invoiceWindows(inputs)) {
    if (keyOfWindow(window) === key) return window
    seen += 1
    if (seen >= WINDOWS_MAX) break
  }
  return null
}

async function loadState(uow: ReadUow, { subscriptionId, key }: Target): Promise<InvoiceState> {
  const inputs = await loadBillingInputs(uow, subscriptionId)
  const rows = await invoicesOfSubscription(uow, subscriptionId)
  const window = findWindow(inputs, key)
  const billed = window ? billedElsewhere(rows, { key, cutAt: window.cutAt }) : new Set<string>()
  const takesLate =
    window !== null &&
    inputs.platform.late_event_policy === 'NEXT_INVOICE' &&
    takesLateUsage(rows, { key, cutAt: window.cutAt })
  const closed = takesLate ? await closedUsageOf(uow, subscriptionId) : []
  const before = closed.map(each => each.invoice_id)
  const stamp = createHash('sha256')
    .update(`${fingerprintOf(inputs)} ${[...billed].sort().join(' ')} ${takesLate} ${before.join(' ')}`)
    .digest('hex')
  const outline = rows.find(row => keyOfRow(row) === key)
  return { inputs, window, billed, closed, row: outline ? await getInvoice(uow, outline.id) : null, stamp }
}

/**
 * An invoice. `positions`: it counts the events up to there in the log and no others; null where that was not asked for,
 * and then it may not close.
 */
export type ComputedInvoice = PricedInvoice & { readonly positions: readonly number[] | null }

/** Decides in the saving transaction, with the subscription locked. `build` prices the period as of now. */
export type Saving<T> = (
  uow: Uow,
  state: InvoiceState,
  build: (window: InvoiceWindow, finalisedAt: Instant | null) => ComputedInvoice,
) => Promise<T>

const ATTEMPTS_MAX = 5

/** Computes one invoice and saves what `saving` makes of it, in one transaction. Throws SERVICE_UNAVAILABLE when its inputs never stand still. */
export async function computeInvoice<T>(
  deps: InvoiceDeps,
  of: {
    readonly tenant: Tenant
    readonly actor: Actor
    readonly target: Target
    /** Whether the invoice may close now, so that it must be known to the event what it counts. */
    mayClose(state: InvoiceState): boolean
  },
  saving: Saving<T>,
): Promise<T> {
  const { tenant, actor, target } = of
  for (let attempt = 0; attempt < ATTEMPTS_MAX; attempt += 1) {
    const loaded = await readTenant(deps.database, tenant, uow => loadState(uow, target))
    const { inputs, window, billed, closed } = loaded
    const charges = window ? chargesOf(inputs, window, billed) : []
    // Told before usage is read, so that everything up to there is in it.
    const positions = await deps.usage.positions()
    const late = await findLateCharges(deps, { tenant, inputs, closed, key: target.key })
    const asking = [...charges, ...late.map(({ charge }) => charge)]
    const read = await readUsage(deps.usage, { tenant, inputs, charges: asking })
    const closes = of.mayClose(loaded)
    const usage = closes ? await exactUsage(deps.usage, { tenant, inputs, charges: asking, positions, read }) : read
    const outcome = await inTenant(deps.database, tenant, actor, async uow => {
      await lockSubscription(uow, target.subscriptionId)
      await holdCustomer(uow, loaded.inputs.customer.id)
      const state = await loadState(uow, target)
      if (state.stamp !== loaded.stamp) return { kind: 'changed' as const }
      const build = (window: InvoiceWindow, finalisedAt: Instant | null): ComputedInvoice => ({
        ...priceInvoice(state.inputs, { window, billed: state.billed, ...usage, late, finalisedAt }),
        positions: closes ? positions : null,
      })
      const value = await saving(uow, state, build)
      await deps.failpoint?.('invoices.before-commit')
      return { kind: 'saved' as const, value }
    })
    if (outcome.kind === 'saved') return outcome.value
  }
  throw new AppError('SERVICE_UNAVAILABLE', 'What the invoice is computed from keeps changing; send it again.', {
    retryAfterSeconds: 1,
  })
}
