// CREDIT_AND_REBILL (contract: late_event_policy): when usage of a FINAL invoice changed after it was counted, a credit
// note for the invoice and a new invoice in its place are prepared as drafts. They are never issued by themselves.
import { inTenant, readTenant, SERVICE, type Uow } from '../../../../shared/database/database.ts'
import { decimal, plain, ZERO } from '../../../../shared/decimal.ts'
import { AppError } from '../../../../shared/errors.ts'
import { type Id, idOf } from '../../../../shared/ids.ts'
import type { Tenant } from '../../../../shared/tenant.ts'
import { insertInvoice } from '../../invoices/changes/insert-invoice.ts'
import { change } from '../../invoices/changes/invoice-change.ts'
import { refreshInvoice } from '../../invoices/changes/refresh-invoice.ts'
import { creditInvoice } from '../../invoices/credits/credit-invoice.ts'
import { creditsOf } from '../../invoices/credits/linked-invoices.ts'
import { linesOfInvoice } from '../../invoices/lines/store-lines.ts'
import type { LineValues } from '../../invoices/lines/table.ts'
import { announce } from '../../invoices/one-off/insert-one-off.ts'
import { getInvoice, lockInvoice } from '../../invoices/repository.ts'
import { type InvoiceRow, UNTOUCHED } from '../../invoices/table.ts'
import { paidByBalances, usesOf } from '../../invoices/wallet-uses.ts'
import { lockCustomerShared } from '../../parties/customers/lock-customer.ts'
import { lockSubscription } from '../../subscriptions/billing-time/next-billing.ts'
import { type ClosedUsage, closedUsageOf } from '../late/closed-usage.ts'
import {
  differInCharges,
  differInWalletUse,
  haveSameUsageCost,
  REBILL_BILLING,
  rebillColumns,
} from '../late/corrected/rebill.ts'
import { correctionsNotIssued, insertCorrection } from '../late/corrected/store-corrections.ts'
import type { Correction } from '../late/corrected/table.ts'
import { findLateUnits } from '../late/late-charges.ts'
import { billedByLaterInvoices } from '../late/later-invoices.ts'
import { couponsOfInvoice } from '../rating/coupon-clauses.ts'
import type { BillingDeps } from '../run/compute-invoice.ts'
import type { BillingInputs } from '../terms/billing-inputs.ts'
import { resolveTerms } from '../terms/price-terms.ts'
import { changedTermsOf, isCorrectedByNewRules, newInCorrections, rulesMayDiffer } from '../why/rule-changes.ts'
import { verifyInvoice } from '../why/verify-invoice.ts'
import { rebillProducer } from './rebill-producer.ts'
import { payersOf, type RepricedInvoice, repriceInvoice } from './reprice-invoice.ts'

const NOTE = 'Usage of this invoice changed after it was issued. A corrected invoice takes its place.'

/**
 * Prepares the corrections of the FINAL invoices of a subscription whose usage changed, and brings those that are
 * prepared up to date. Run twice, or by two workers, it prepares each once. An invoice that cannot be priced again, or
 * has credit notes, stays as it is, and shows why in its `validation_result`.
 */
export async function prepareCorrections(deps: BillingDeps, tenant: Tenant, inputs: BillingInputs): Promise<void> {
  const subscriptionId = inputs.subscription.id
  const { closed, corrections } = await readTenant(deps.database, tenant, async uow => ({
    closed: await closedUsageOf(uow, subscriptionId),
    corrections: await correctionsNotIssued(uow, subscriptionId),
  }))
  for (const id of await changedInvoices(deps, tenant, { inputs, closed, corrections })) {
    const prepared = corrections.find(each => each.original_invoice_id === id && each.status === 'PREPARED')
    const of = { subscriptionId, id: idOf('invo', id), isPrepared: prepared !== undefined }
    try {
      if (prepared) {
        const newId = idOf('invo', prepared.new_invoice_id)
        await refreshInvoice({ ...deps, producers: [rebillProducer(deps)] }, tenant, SERVICE, newId)
        await noteFault(deps, tenant, of, null)
      } else await noteFault(deps, tenant, of, await prepareOne(deps, tenant, of.id, closed))
    } catch (error) {
      // What cannot be priced, or was issued or made VOID meanwhile, keeps no other invoice from being billed.
      if (!(error instanceof AppError) || error.code === 'SERVICE_UNAVAILABLE') throw error
      await noteFault(deps, tenant, of, error.message)
    }
  }
}

type Found = {
  readonly inputs: BillingInputs
  readonly closed: readonly ClosedUsage[]
  readonly corrections: readonly Correction[]
}

/** The invoices with usage that changed after they, or their corrections so far, considered it; the oldest first. */
async function changedInvoices(
  deps: BillingDeps,
  tenant: Tenant,
  { inputs, closed, corrections }: Found,
): Promise<string[]> {
  const later = billedByLaterInvoices(closed)
  const own = closed.filter(({ invoice_id }) => !later.has(invoice_id))
  if (own.length === 0) return []
  const considered = own.map(each => {
    const last = corrections.filter(({ original_invoice_id: id }) => id === each.invoice_id).at(-1)
    // Each invoice on its own: the prices of several invoices for one pricing period count up to different positions.
    const charges = each.charges.map(charge => ({ ...charge, unit: `${each.invoice_id} ${charge.unit}` }))
    return { ...each, charges, positions: last?.positions ?? each.positions }
  })
  const touched = await findLateUnits(deps, { tenant, inputs, terms: resolveTerms(inputs), closed: considered })
  const ids = new Set(touched.map(({ unit }) => unit.counted.invoice_id))
  return own.map(({ invoice_id }) => invoice_id).filter(id => ids.has(id))
}

type Noted = {
  readonly subscriptionId: string
  /** The FINAL invoice. */
  readonly id: Id<'invo'>
  /** Whether its correction was prepared before. */
  readonly isPrepared: boolean
}

/** Says on the FINAL invoice why its late usage is in no correction, or that nothing is missing. */
async function noteFault(
  { database }: Pick<BillingDeps, 'database'>,
  tenant: Tenant,
  { subscriptionId, id, isPrepared }: Noted,
  fault: string | null,
): Promise<void> {
  const missing = isPrepared ? 'the correction that is prepared does not have it' : 'no correction is prepared'
  const text = fault === null ? null : `Usage changed after this invoice was issued, and ${missing}: ${fault}`
  const known = await readTenant(database, tenant, uow => getInvoice(uow, id))
  if (known.correction_fault === text) return
  await inTenant(database, tenant, SERVICE, async uow => {
    const row = await lockInvoice(uow, id)
    // Issued or withdrawn meanwhile, which is why it could not be changed: nothing is missing.
    const isOver = row.status !== 'FINAL' || (isPrepared && !(await correctsNow(uow, subscriptionId, id)))
    const correction_fault = isOver ? null : text
    if (row.correction_fault !== correction_fault) await change(uow, row, { correction_fault })
  })
}

/** Returns why the invoice cannot be corrected; null when it is corrected, or charges what it should. */
async function prepareOne(
  deps: BillingDeps,
  tenant: Tenant,
  originalId: Id<'invo'>,
  closed: readonly ClosedUsage[],
): Promise<string | null> {
  const { row, lines } = await readTenant(deps.database, tenant, async uow => ({
    row: await getInvoice(uow, idOf('invo', originalId)),
    lines: await linesOfInvoice(uow, idOf('invo', originalId)),
  }))
  // Where an invoice charged nothing, the next invoice bills its late usage (`closedForNext`).
  const used = usesOf(row.content)
  if (row.status !== 'FINAL' || (used.size === 0 && !lines.some(chargesSomething))) return null
  const again = await repriceInvoice(deps, tenant, originalId)
  // By what wallets had when it became FINAL: what was granted since changes no invoice that is issued.
  const { columns, lines: now, counted } = again.price([]).priced
  if (!differInCharges(lines, now) && !differInWalletUse(used, usesOf(columns.content))) return null
  // The late usage costs nothing. What differs comes from a rule that changed since, and the customer does not pay for that.
  const before = closed.find(({ invoice_id }) => invoice_id === originalId)
  if (before && haveSameUsageCost(before.charges, counted) && rulesMayDiffer(pricedBy(row, again))) return null
  const note = [NOTE, ...(await changedRules(deps, tenant, row, again))].join(' ')
  const fault = await inTenant(deps.database, tenant, SERVICE, async uow => {
    await lockSubscription(uow, idOf('ppsu', again.inputs.subscription.id))
    await lockCustomerShared(uow, idOf('cust', row.customer_id))
    const original = await lockInvoice(uow, idOf('invo', originalId))
    // A correction that is prepared or issued has its credit note, so another worker's is found here too.
    if ((await creditsOf(uow, originalId)).length > 0)
      return (await correctsNow(uow, again.inputs.subscription.id, originalId)) ? null : HAS_CREDIT_NOTES
    await insertBoth(uow, original, { again, note })
    await deps.failpoint?.('corrections.before-commit')
    return null
  })
  await deps.failpoint?.('corrections.after-commit')
  return fault
}

/** Whether another worker has prepared a correction of the invoice. */
const correctsNow = async (uow: Uow, subscriptionId: string, originalId: string): Promise<boolean> =>
  (await correctionsNotIssued(uow, subscriptionId)).some(
    ({ original_invoice_id: id, status }) => id === originalId && status === 'PREPARED',
  )

const HAS_CREDIT_NOTES = 'it has a credit note. Bill the difference by hand: POST /v1/invoices.'

const chargesSomething = (line: Pick<LineValues, 'amount_excluding_tax' | 'amount_including_tax'>): boolean =>
  ![line.amount_excluding_tax, line.amount_including_tax].every(text => decimal(text).eq(ZERO))

/** What of its terms may count otherwise since the invoice was issued. */
function pricedBy({ billing_type }: InvoiceRow, { inputs, price }: RepricedInvoice) {
  const { request } = price([])
  const configs = request.terms.map(({ config }) => config)
  return {
    ...{ billing_type, configs },
    coupons: couponsOfInvoice(inputs, request),
    late: (request.late ?? []).map(({ charge }) => charge.schedule),
    changed: changedTermsOf([{ inputs, configs }]),
  }
}

/** The changes of rules that the correction follows, besides usage: its credit note names them. */
async function changedRules(
  deps: BillingDeps,
  tenant: Tenant,
  row: InvoiceRow,
  again: RepricedInvoice,
): Promise<string[]> {
  if (!isCorrectedByNewRules(pricedBy(row, again))) return []
  return newInCorrections((await verifyInvoice(deps, tenant, row.id)).rule_changes)
}

type Corrected = { readonly again: RepricedInvoice; readonly note: string }

async function insertBoth(uow: Uow, original: InvoiceRow, { again, note }: Corrected): Promise<void> {
  const { inputs, positions } = again
  const credit = await creditInvoice(uow, original.id, { note, credit_details_source: 'ORIGINAL' })
  const payers = await payersOf(uow, again, { replacedId: original.id, invoiceId: null })
  const { priced } = again.price([], payers)
  const { id } = await insertInvoice(
    uow,
    {
      ...UNTOUCHED,
      ...rebillColumns(priced, null),
      wallet_amount: plain(paidByBalances(priced.columns.content)),
      holds_period: false,
      own_notes: original.own_notes,
      original_invoice_id: original.id,
      inputs_hash: '',
      invoice_number: null,
      status: 'DRAFT',
      producer: REBILL_BILLING,
      type: original.type,
      billing_type: original.billing_type,
      customer_id: original.customer_id,
      billing_entity_id: original.billing_entity_id,
      pricing_plan_subscription_id: idOf('ppsu', inputs.subscription.id),
      on_hold: false,
      payment_status: 'UNPAID',
      finalize_at: null,
      updated_to_final_at: null,
      to_be_reprocessed_at: null,
    },
    priced.lines,
  )
  await insertCorrection(uow, {
    new_invoice_id: id,
    original_invoice_id: original.id,
    credit_invoice_id: credit.id,
    pricing_plan_subscription_id: inputs.subscription.id,
    positions,
  })
  await announce(uow, id)
}
