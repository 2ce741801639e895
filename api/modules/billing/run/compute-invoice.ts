// Load → query → build → save. Usage is read between two transactions, never inside one. So the loaded inputs are
// compared with the current ones when the invoice is saved, and the invoice is computed again when they changed
// meanwhile.

import type { TaxEngine } from '../../../../shared/billing/tax/tax-engine.ts'
import {
  type Actor,
  type Database,
  inTenant,
  type ReadUow,
  readTenant,
  type Uow,
} from '../../../../shared/database/database.ts'
import { AppError } from '../../../../shared/errors.ts'
import type { Failpoints } from '../../../../shared/failpoint.ts'
import { idOf } from '../../../../shared/ids.ts'
import type { Tenant } from '../../../../shared/tenant.ts'
import type { Instant } from '../../../../shared/time.ts'
import { inTimeOf } from '../../../test-clock/test-clock.ts'
import { addedLinesOf } from '../../invoices/added-lines/store-added-lines.ts'
import { getInvoice } from '../../invoices/repository.ts'
import { lockFunds, NO_PAYERS, type Payers } from '../../invoices/settlement/funds.ts'
import type { InvoiceRow } from '../../invoices/table.ts'
import { lockCustomersShared } from '../../parties/customers/lock-customer.ts'
import { lockSubscription } from '../../subscriptions/billing-time/next-billing.ts'
import { chargesOf } from '../charges/charges.ts'
import { type ClosedUsage, closedForNext } from '../late/closed-usage.ts'
import { findLateCharges } from '../late/late-charges.ts'
import type { InvoiceRequest } from '../pricing/invoice-request.ts'
import { type PricedInvoice, priceInvoice } from '../pricing/price-invoice.ts'
import { loadAdvanceCharges } from '../refunds/load-refunds.ts'
import { type BillingInputs, inputsHashOf } from '../terms/billing-inputs.ts'
import { loadBillingInputs } from '../terms/load/load-inputs.ts'
import { type PriceTerm, resolveTerms } from '../terms/price-terms.ts'
import { type InvoiceWindow, invoiceWindows } from '../terms/windows.ts'
import { exactUsage } from '../usage/exact-usage.ts'
import { readUsage, type UsageReader } from '../usage/usage-reader.ts'
import { fundsRequest } from './funds-request.ts'
import { withDeducted } from './state/deducted-before.ts'
import { basisOf, type InvoiceBasis } from './state/invoice-basis.ts'
import { firstOpen, keyOfRow, loadSubscriptionInvoices, windowsOfKeys } from './state/subscription-invoices.ts'
import { customersToLock } from './state/subscription-state.ts'
import { waitBeforeAttempt } from './wait-before-attempt.ts'

export type BillingDeps = {
  readonly database: Database
  readonly usage: UsageReader
  readonly failpoint?: Failpoints
  /** Null where the installation has none. */
  readonly taxEngine?: TaxEngine | null | undefined
}

/** Names one invoice of a subscription before and after it exists. */
export type Target = { readonly subscriptionId: string; readonly key: string }

/** The inputs of an invoice, and a hash that changes when any of them does. */
export type InvoiceState = InvoiceBasis & {
  readonly inputs: BillingInputs
  readonly terms: readonly PriceTerm[]
  /** Null when the subscription no longer has this period. */
  readonly window: InvoiceWindow | null
  /** What closed invoices counted, when late usage goes on this invoice; empty when it does not. */
  readonly closed: readonly ClosedUsage[]
  readonly row: InvoiceRow | null
}

/** The wallets that can pay the invoice. They are locked until commit. */
async function walletsOf(uow: Uow, { inputs, window, row }: InvoiceState): Promise<Payers> {
  if (!window) return NO_PAYERS
  const funds = await lockFunds(uow, { customerIds: [inputs.customer.id], invoiceIds: row ? [row.id] : [] })
  return funds.payers(fundsRequest(inputs, { window, invoiceId: row?.id ?? null }))
}

/** Of a period that the subscription no longer has. */
const NO_BASIS: Omit<InvoiceBasis, 'inputsHash'> = { billed: new Set(), deducted: [], hasLate: false, refunds: [] }

async function loadState(uow: ReadUow, { subscriptionId, key }: Target): Promise<InvoiceState> {
  const stored = await loadSubscriptionInvoices(uow, subscriptionId)
  const inputs = await loadBillingInputs(uow, subscriptionId, () => firstOpen(stored))
  const [rows = stored] = await withDeducted(uow, [{ inputs, rows: stored }])
  const terms = resolveTerms(inputs)
  const window = windowsOfKeys(invoiceWindows(inputs), [key]).get(key) ?? null
  const ahead = window ? await loadAdvanceCharges(uow, inputs) : []
  const closed = window ? await closedForNext(uow, inputs.platform.late_event_policy, [subscriptionId]) : []
  const state = { inputs, inputsHash: inputsHashOf(inputs), ahead }
  const basis = window
    ? basisOf({ state, closed }, { key, window, rows })
    : { ...NO_BASIS, inputsHash: state.inputsHash }
  const outline = rows.find(row => keyOfRow(row) === key)
  const row = outline ? await getInvoice(uow, outline.id) : null
  return { ...basis, inputs, terms, window, closed: basis.hasLate ? closed : [], row }
}

/**
 * An invoice. `positions`: it counts exactly the events up to these positions of the log; null where positions were not
 * requested, and then it may not close.
 */
export type CountedInvoice = PricedInvoice & {
  readonly positions: readonly number[] | null
  readonly request: InvoiceRequest
  readonly usageCountedUntil: Instant | null
}

/** Prices the window as of now. */
export type PriceWindow = (window: InvoiceWindow, finalizedAt: Instant | null) => CountedInvoice

/** Decides in the saving transaction, with the subscription locked. */
export type Saving<T> = (uow: Uow, state: InvoiceState, build: PriceWindow) => Promise<T>

/** Determined before usage is read. Null when the log is not available; the invoice then has no such time. */
export const countedUntil = ({ usage, database }: BillingDeps): Promise<Instant | null> =>
  usage.upToDateUntil(database.clock).catch(() => null)

const ATTEMPTS_MAX = 5

/** Where it moved meanwhile, a run has counted usage that was not read here. */
const countedOf = ({ row }: InvoiceState): string | null => row?.usage_counted_until ?? null

type Computing = {
  readonly tenant: Tenant
  readonly actor: Actor
  readonly target: Target
  /** Whether the invoice may close now, so that the exact set of events it counts must be known. */
  mayClose(state: InvoiceState): boolean
  /** Changes lines that users added, in the saving transaction. */
  readonly prepare?: ((uow: Uow) => Promise<void>) | undefined
}

/**
 * Computes one invoice and saves what `saving` returns, in one transaction; uses the time of its customer's test clock,
 * if it has one. Throws SERVICE_UNAVAILABLE when its inputs keep changing.
 */
export const computeInvoice = <T>(deps: BillingDeps, of: Computing, saving: Saving<T>): Promise<T> =>
  inTimeOf(deps.database, of.tenant, [of.target.subscriptionId], () => computeNow(deps, of, saving))

async function computeNow<T>(deps: BillingDeps, of: Computing, saving: Saving<T>): Promise<T> {
  const { tenant, actor, target } = of
  for (let attempt = 0; attempt < ATTEMPTS_MAX; attempt += 1) {
    await waitBeforeAttempt(attempt)
    const loaded = await readTenant(deps.database, tenant, uow => loadState(uow, target))
    const { inputs, terms, window, billed, closed } = loaded
    const charges = window ? chargesOf(terms, window, billed) : []
    // Determined before usage is read, so that everything up to there is in it.
    const { positions, upToDateUntil: until } = await deps.usage.progress(deps.database.clock)
    const late = await findLateCharges(deps, { tenant, inputs, terms, closed, positions, key: target.key })
    const all = [...charges, ...late.map(({ charge }) => charge)]
    const read = await readUsage(deps, { tenant, inputs, charges: all })
    const closes = of.mayClose(loaded)
    const usage = closes ? await exactUsage(deps, { tenant, inputs, charges: all, positions, read }) : read
    const outcome = await inTenant(deps.database, tenant, actor, async uow => {
      await lockSubscription(uow, idOf('ppsu', target.subscriptionId))
      await lockCustomersShared(uow, customersToLock(loaded.inputs), { skip: false })
      const state = await loadState(uow, target)
      if (state.inputsHash !== loaded.inputsHash || countedOf(state) !== countedOf(loaded))
        return { kind: 'changed' as const }
      const wallets = await walletsOf(uow, state)
      await of.prepare?.(uow)
      // They need no usage, so they are not compared: the current ones are billed.
      const added = state.row ? await addedLinesOf(uow, state.row.id, state.inputs.platform) : []
      const { billed, deducted, refunds } = state
      const build: PriceWindow = (window, finalizedAt) => {
        const read = { ...usage, mayLackRates: true as const }
        const request = {
          terms: state.terms,
          window,
          billed,
          deducted,
          ...read,
          late,
          refunds,
          ...wallets,
          added,
          finalizedAt,
        }
        const priced = priceInvoice(state.inputs, request)
        const usageCountedUntil = priced.counted.length > 0 ? until : null
        return { ...priced, positions: closes ? positions : null, usageCountedUntil, request }
      }
      const value = await saving(uow, state, build)
      await deps.failpoint?.('invoices.before-commit')
      return { kind: 'saved' as const, value }
    })
    if (outcome.kind === 'saved') return outcome.value
  }
  throw new AppError(
    'SERVICE_UNAVAILABLE',
    'What the invoice is computed from keeps changing; send the request again.',
    {
      retryAfterSeconds: 1,
    },
  )
}
