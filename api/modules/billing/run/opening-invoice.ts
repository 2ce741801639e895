// The opening invoice of a subscription in the transaction that makes the subscription. It has only charges in advance, so nothing
// has to be read of the usage outside that transaction.
import type { Uow } from '../../../../shared/database/database.ts'
import { AppError } from '../../../../shared/errors.ts'
import type { Id } from '../../../../shared/ids.ts'
import type { Instant } from '../../../../shared/time.ts'
import { requireClocks } from '../../../test-clock/test-clock.ts'
import { addedLinesOfMany } from '../../invoices/added-lines/store-added-lines.ts'
import { changed, finalFault, unchanged } from '../../invoices/changes/pending-invoice.ts'
import { saveTogether } from '../../invoices/changes/save-together.ts'
import { loadInvoices, lockInvoice } from '../../invoices/repository.ts'
import { lockFunds } from '../../invoices/settlement/funds.ts'
import { type InvoiceRow, isOpenEnded } from '../../invoices/table.ts'
import { requireAnswered } from '../../invoices/tax/answers/require-answered.ts'
import { hasLines } from '../../invoices/view.ts'
import { lockCustomersShared } from '../../parties/customers/lock-customer.ts'
import { lockSubscription } from '../../subscriptions/billing-time/next-billing.ts'
import { chargesOf } from '../charges/charges.ts'
import { saveClosedUsage } from '../late/closed-usage.ts'
import { savePins } from '../pinned/store-pinned.ts'
import { resolveTerms } from '../terms/price-terms.ts'
import { type InvoiceWindow, invoiceWindows } from '../terms/windows.ts'
import { type Advanced, advanceInvoices } from './advance-invoices.ts'
import { keyOfWindow } from './state/subscription-invoices.ts'
import { customersToLock, loadStates, type SubscriptionState } from './state/subscription-state.ts'

/** What is refused is the payment that this invoice is for. */
const FIELD = 'first_payment'

/**
 * Makes the DRAFT of what an ACTIVE subscription charges at its start. Null where that is nothing, or nothing yet. The caller has
 * just made the subscription, so no other invoice of it exists.
 */
export async function draftOpening(uow: Uow, subscriptionId: Id<'ppsu'>): Promise<InvoiceRow | null> {
  await lockSubscription(uow, subscriptionId)
  const state = await stateOf(uow, subscriptionId)
  const window = openingWindow(state)
  if (!window || window.opensAt > uow.now) return null
  if (chargesOf(resolveTerms(state.inputs), window, new Set()).length === 0) return null
  await lockCustomersShared(uow, customersToLock(state.inputs), { skip: false })
  await requireClocks(uow, [state.inputs.customer.id])
  const { pending } = await advance(uow, state, { window, finalizeAt: null })
  const [made] = pending
  if (!made || !hasLines(made.row.content)) return null
  const [saved = made.row] = await saveTogether(uow, pending)
  return saved
}

/**
 * Makes the draft FINAL now, by itself: without its grace period, on hold or not, and combined with no other. Throws MissingTaxAnswer
 * where the tax engine has to say what tax applies, and INVALID_OPERATION where another required figure is missing.
 */
export async function issueOpening(
  uow: Uow,
  { id, on_hold }: InvoiceRow,
  subscriptionId: Id<'ppsu'>,
): Promise<InvoiceRow> {
  if (on_hold) await saveTogether(uow, [changed(unchanged(await lockInvoice(uow, id)), uow.now, { on_hold: false })])
  // Read again: what the draft grants to wallets can pay it.
  const state = await stateOf(uow, subscriptionId)
  const window = openingWindow(state)
  if (!window) throw new Error(`the draft ${id} is for the start of ${subscriptionId}`)
  const { pending, closings, pins } = await advance(uow, state, { window, finalizeAt: uow.now })
  const [issued] = pending
  if (issued?.row.status !== 'FINAL') {
    if (issued) await requireAnswered(uow, [issued.row], FIELD)
    const fault = issued ? finalFault(issued.row, uow.now) : null
    throw new AppError('INVALID_OPERATION', `The first invoice cannot become FINAL: ${fault ?? 'it bills nothing.'}`, {
      field: FIELD,
    })
  }
  const [saved = issued.row] = await saveTogether(uow, pending)
  await saveClosedUsage(uow, closings)
  await savePins(uow, pins)
  return saved
}

async function stateOf(uow: Uow, subscriptionId: Id<'ppsu'>): Promise<SubscriptionState> {
  const state = (await loadStates(uow, [subscriptionId])).get(subscriptionId)
  if (state) return state
  throw new Error(`the caller has locked ${subscriptionId}`)
}

function openingWindow({ inputs }: SubscriptionState): InvoiceWindow | null {
  const first = invoiceWindows(inputs).next()
  return first.done || first.value.arrears !== null ? null : first.value
}

async function advance(
  uow: Uow,
  state: SubscriptionState,
  { window, finalizeAt }: { readonly window: InvoiceWindow; readonly finalizeAt: Instant | null },
): Promise<Advanced> {
  const { inputs, rows } = state
  const invoiceIds = rows.filter(isOpenEnded).map(({ id }) => id)
  const closes = finalizeAt === null ? { closes: false } : { closes: true, finalizeAt }
  return advanceInvoices({
    tenant: uow.tenant,
    now: uow.now,
    state,
    terms: resolveTerms(inputs),
    targets: [{ key: keyOfWindow(window), window, ...closes }],
    closed: [],
    late: [],
    usage: { usage: new Map(), usageByCustomer: null },
    positions: [],
    countedUntil: null,
    complete: true,
    open: await loadInvoices(uow, invoiceIds),
    funds: await lockFunds(uow, { customerIds: [inputs.customer.id], invoiceIds }),
    added: await addedLinesOfMany(uow, invoiceIds, inputs.platform),
  })
}
