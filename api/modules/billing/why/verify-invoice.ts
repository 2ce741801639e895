// POST …/verify: prices a FINAL invoice again from the log and its pinned inputs, and compares the result as text with
// the issued document.
import { createHash } from 'node:crypto'
import { readTenant } from '../../../../shared/database/database.ts'
import type { Id } from '../../../../shared/ids.ts'
import type { Tenant } from '../../../../shared/tenant.ts'
import { at, formatInstant } from '../../../../shared/time.ts'
import { contentAfter } from '../../invoices/issued/content-after.ts'
import { linesOfInvoice } from '../../invoices/lines/store-lines.ts'
import { computeOfLines, type InvoiceOfLines } from '../../invoices/one-off/compute-of-lines.ts'
import { computeOneOff, type OneOffInput } from '../../invoices/one-off/compute-one-off.ts'
import { ONE_OFF_BILLING } from '../../invoices/one-off/one-off-producer.ts'
import type { ComputedInvoice } from '../../invoices/producer.ts'
import { getInvoice } from '../../invoices/repository.ts'
import { isCreditNote } from '../../invoices/settlement/settlement.ts'
import { loadInvoiceSnapshot } from '../../invoices/snapshot/invoice-snapshot.ts'
import type { InvoiceRow } from '../../invoices/table.ts'
import { REBILL_BILLING, rebillColumns } from '../late/corrected/rebill.ts'
import { computeFromSnapshot, type OnDemandSnapshot } from '../on-demand/compute-on-demand.ts'
import { ON_DEMAND_BILLING } from '../on-demand/on-demand-producer.ts'
import { priceInvoice } from '../pricing/price-invoice.ts'
import { couponsOfInvoice } from '../rating/coupon-clauses.ts'
import type { BillingDeps } from '../run/compute-invoice.ts'
import { isCombined, partsOfCombined, recombined } from './combined-parts.ts'
import { countingOf, eventsOf } from './counted.ts'
import { type Basis, isOfSubscription, noSnapshot, notClosed, pinnedBasis, refused, withUsage } from './reprice.ts'
import { changedTermsOf, ruleChanges } from './rule-changes.ts'

/** The most differences, and the most events, that are listed. */
const LISTED_MAX = 100

/**
 * Compares the document of a FINAL invoice with its current price, byte for byte. Throws INVALID_OPERATION for an
 * invoice that is not FINAL or became FINAL before its inputs were stored, and for a credit note.
 */
export async function verifyInvoice(deps: BillingDeps, tenant: Tenant, id: Id<'invo'>) {
  const { row, lines, kept } = await readTenant(deps.database, tenant, async uow => ({
    row: await getInvoice(uow, id),
    lines: await linesOfInvoice(uow, id),
    kept: await loadInvoiceSnapshot(uow, id),
  }))
  const { bases, ...priced } = await pricedAgain(deps, tenant, { row, inputs: kept.inputs })
  const columns = { ...priced.columns, content: contentAfter(priced.columns.content, row, kept.refreshes) }
  const names = Object.keys(columns) as (keyof typeof columns)[]
  const issued = { ...Object.fromEntries(names.map(name => [name, row[name]])), lines: lines.map(withoutKeys) }
  const computed = { ...columns, lines: priced.lines }
  const [before, after] = [canonical(issued), canonical(computed)]
  const configs = bases.flatMap(({ charges }) => charges.map(({ config }) => config))
  const coupons = bases.flatMap(({ inputs, request }) => couponsOfInvoice(inputs, request))
  const late = bases.flatMap(basis => basis.late.map(({ charge }) => charge.schedule))
  const changed = changedTermsOf(
    bases.map(({ inputs, request }) => ({ inputs, configs: request.terms.map(({ config }) => config) })),
  )
  const differences = before === after ? [] : differencesOf(JSON.parse(before), JSON.parse(after))
  return {
    object_type: 'INVOICE_VERIFICATION',
    invoice_id: row.id,
    invoice_number: row.invoice_number,
    verified_at: formatInstant(deps.database.clock.now()),
    identical: before === after,
    issued_sha256: sha256(before),
    computed_sha256: sha256(after),
    number_of_differences: differences.length,
    differences: differences.slice(0, LISTED_MAX),
    rule_changes: ruleChanges({ billing_type: row.billing_type, configs, coupons, late, changed }, differences),
    changed_events: before === after ? [] : await changedEvents(deps, tenant, bases),
  }
}

type Again = Pick<ComputedInvoice, 'columns' | 'lines'> & {
  /** What it was priced from, by subscription; empty for an invoice that counts no usage. */
  readonly bases: readonly Basis[]
}

/** The invoice computed again from what it was computed from when it became FINAL. */
async function pricedAgain(
  deps: BillingDeps,
  tenant: Tenant,
  { row, inputs }: { readonly row: InvoiceRow; readonly inputs: unknown },
): Promise<Again> {
  if (isOfSubscription(row)) {
    const basis = await withUsage(deps, tenant, await pinnedBasis(deps, tenant, row))
    const { columns, lines } = priceInvoice(basis.inputs, basis.request)
    const isRebill = row.producer === REBILL_BILLING
    return {
      columns: isRebill ? rebillColumns({ columns }, at(row.updated_to_final_at ?? '')) : columns,
      lines,
      bases: [basis],
    }
  }
  if (isCombined(row)) {
    const parts = await partsOfCombined(deps, tenant, row)
    return { ...recombined(row, parts, inputs), bases: parts.map(({ basis }) => basis) }
  }
  if (isCreditNote(row))
    throw refused(row, 'A credit note takes its amounts from the invoice that it credits; verify that invoice.')
  if (row.status !== 'FINAL') throw notClosed(row)
  if (inputs === undefined) throw noSnapshot(row)
  // Kept by the producers of these invoices.
  const { columns, lines } =
    row.producer === ON_DEMAND_BILLING
      ? computeFromSnapshot(inputs as OnDemandSnapshot)
      : row.producer === ONE_OFF_BILLING
        ? computeOneOff(inputs as OneOffInput)
        : computeOfLines(inputs as InvoiceOfLines)
  return { columns, lines, bases: [] }
}

/** The counted events that were amended or deleted since; they are the usual reason. */
async function changedEvents(deps: Pick<BillingDeps, 'usage'>, tenant: Tenant, bases: readonly Basis[]) {
  const found = await Promise.all(bases.map(basis => changedEventsOf(deps, tenant, basis)))
  return found.flat().slice(0, LISTED_MAX)
}

async function changedEventsOf(deps: Pick<BillingDeps, 'usage'>, tenant: Tenant, basis: Basis) {
  const where = eventsOf(basis, basis.charges)
  if (where === null) return []
  const countings = basis.charges.flatMap(charge => countingOf(basis, charge) ?? [])
  const events = await deps.usage.events(tenant, { ...where, upTo: basis.positions, onlyChanged: true })
  return events
    .filter(event => countings.some(counting => counting(event) === 'COUNTED'))
    .flatMap(({ reference, since }) => (since === null ? [] : [{ reference, change: since }]))
}

const sha256 = (text: string): string => createHash('sha256').update(text).digest('hex')

/** A line as printed and billed, without the identity of its row. */
function withoutKeys({
  platform_id: _platform,
  environment: _environment,
  invoice_id: _invoice,
  ...line
}: Readonly<Record<string, unknown>>): Readonly<Record<string, unknown>> {
  return line
}

/** The same text for the same document: members sorted by name, absent members left out. */
export function canonical(value: unknown): string {
  return JSON.stringify(value, (_name, member: unknown) =>
    typeof member === 'object' && member !== null && !Array.isArray(member)
      ? Object.fromEntries(Object.entries(member).sort(([a], [b]) => (a < b ? -1 : 1)))
      : member,
  )
}

export type Difference = { readonly field: string; readonly issued: string | null; readonly computed: string | null }

/** Where two documents differ, by the path of the member; null for a value that the other document does not have. */
export function differencesOf(issued: unknown, computed: unknown, path = ''): Difference[] {
  if (JSON.stringify(issued) === JSON.stringify(computed)) return []
  if (isObject(issued) && isObject(computed)) {
    const names = [...new Set([...Object.keys(issued), ...Object.keys(computed)])]
    return names.flatMap(name => differencesOf(issued[name], computed[name], path === '' ? name : `${path}.${name}`))
  }
  return [{ field: path, issued: textOf(issued), computed: textOf(computed) }]
}

const isObject = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === 'object' && value !== null

const textOf = (value: unknown): string | null =>
  value === undefined ? null : typeof value === 'string' ? value : JSON.stringify(value)
