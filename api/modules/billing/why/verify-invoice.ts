// POST …/verify: a FINAL invoice priced again from the log and what was pinned with it, and compared as text with what was issued.
import { createHash } from 'node:crypto'
import { readTenant } from '../../../../shared/database/database.ts'
import type { Tenant } from '../../../../shared/tenant.ts'
import { formatInstant } from '../../../../shared/time.ts'
import { linesOfInvoice } from '../../invoices/lines/store-lines.ts'
import { getInvoice } from '../../invoices/repository.ts'
import type { BillingDeps } from '../run/compute-invoice.ts'
import { priceInvoice } from '../run/price-invoice.ts'
import { countingOf, eventsOf } from './counted.ts'
import { type Basis, pinnedBasis, withUsage } from './reprice.ts'

/** Differences that are listed, and events. */
const LISTED_MAX = 100

/**
 * Compares the document of a FINAL invoice with what it is priced at now, byte for byte. Throws INVALID_OPERATION for an invoice that
 * is not FINAL, is for no subscription, or was FINAL before what it was priced from was kept.
 */
export async function verifyInvoice(deps: BillingDeps, tenant: Tenant, id: string) {
  const { row, lines } = await readTenant(deps.database, tenant, async uow => ({
    row: await getInvoice(uow, id),
    lines: await linesOfInvoice(uow, id),
  }))
  const basis = await withUsage(deps, tenant, await pinnedBasis(deps, tenant, row))
  const priced = priceInvoice(basis.inputs, basis.request)
  const names = Object.keys(priced.columns) as (keyof typeof priced.columns)[]
  const issued = { ...Object.fromEntries(names.map(name => [name, row[name]])), lines: lines.map(withoutKeys) }
  const computed = { ...priced.columns, lines: priced.lines }
  const [before, after] = [canonical(issued), canonical(computed)]
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
    changed_events: before === after ? [] : await changedEvents(deps, tenant, basis),
  }
}

/** The counted events that were amended or deleted since; they are the usual reason. */
async function changedEvents(deps: Pick<BillingDeps, 'usage'>, tenant: Tenant, basis: Basis) {
  const where = eventsOf(basis, basis.charges)
  if (where === null) return []
  const countings = basis.charges.flatMap(charge => countingOf(basis, charge) ?? [])
  const events = await deps.usage.events(tenant, { ...where, upTo: basis.positions, onlyChanged: true })
  return events
    .filter(event => countings.some(counting => counting(event) === 'COUNTED'))
    .slice(0, LISTED_MAX)
    .flatMap(({ reference, since }) => (since === null ? [] : [{ reference, change: since }]))
}

const sha256 = (text: string): string => createHash('sha256').update(text).digest('hex')

/** A line as it is printed and billed, without what says where its row stands. */
function withoutKeys({
  platform_id: _platform,
  environment: _environment,
  invoice_id: _invoice,
  ...line
}: Readonly<Record<string, unknown>>): Readonly<Record<string, unknown>> {
  return line
}

/** The same text for the same document: members by name, those that are absent left out. */
export function canonical(value: unknown): string {
  return JSON.stringify(value, (_name, member: unknown) =>
    typeof member === 'object' && member !== null && !Array.isArray(member)
      ? Object.fromEntries(Object.entries(member).sort(([a], [b]) => (a < b ? -1 : 1)))
      : member,
  )
}

export type Difference = { readonly field: string; readonly issued: string | null; readonly computed: string | null }

/** Where two documents differ, by the path of the member; null for one that the other does not have. */
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
