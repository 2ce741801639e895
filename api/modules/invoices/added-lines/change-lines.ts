// Adds, changes and removes lines of an invoice in the transaction that computes the invoice with them, so lines and
// amounts never disagree.
import { type Actor, readTenant, type Uow } from '../../../../shared/database/database.ts'
import { AppError } from '../../../../shared/errors.ts'
import { idOf, newId } from '../../../../shared/ids.ts'
import type { Tenant } from '../../../../shared/tenant.ts'
import { at } from '../../../../shared/time.ts'
import { change, invalidMove } from '../changes/invoice-change.ts'
import { lineId } from '../document/lay-out.ts'
import { type InvoiceDeps, producerOf, storedColumns } from '../producer.ts'
import { getInvoice, lockInvoice } from '../repository.ts'
import { type InvoiceRow, isOpenEnded } from '../table.ts'
import { type AddedLine, priceOfLine } from './price-added-line.ts'
import type { AddedLineBody, StoredLine } from './schema.ts'
import { addedLinesOf, deleteAdded, insertAdded, replaceAdded, requireSold } from './store-added-lines.ts'

export type OnInvoice = { readonly tenant: Tenant; readonly actor: Actor; readonly id: string }

/** Most lines that can be added to one invoice. */
export const ADDED_LINES_MAX = 500

/**
 * Adds a line; returns the invoice with it. Throws INVALID_FIELD for a line that cannot be billed, INVALID_OPERATION
 * for an invoice that is closed.
 */
export const addLine = (deps: InvoiceDeps, of: OnInvoice, body: AddedLineBody): Promise<InvoiceRow> =>
  changeLines(deps, of, async (uow, row, lines) => {
    if (lines.length >= ADDED_LINES_MAX)
      throw invalidMove(row, `At most ${ADDED_LINES_MAX} lines can be added to an invoice.`, 'lines')
    const line = await checkLine(uow, body, {
      ...timeOf(row),
      currency: row.billing_currency,
      customerId: row.customer_id,
      billingEntityId: row.billing_entity_id,
      row,
    })
    await insertAdded(uow, row.id, [{ id: newId('inad'), line, sold: null }])
  })

/** Replaces an added line. Throws RESOURCE_NOT_FOUND for a line that the invoice does not have. */
export const replaceLine = (
  deps: InvoiceDeps,
  of: OnInvoice,
  shownId: string,
  body: AddedLineBody,
): Promise<InvoiceRow> =>
  changeLines(deps, of, async (uow, row, lines) => {
    const { id } = addedLine(row, lines, shownId)
    const line = await checkLine(uow, body, {
      ...timeOf(row),
      currency: row.billing_currency,
      customerId: row.customer_id,
      billingEntityId: row.billing_entity_id,
      row,
    })
    await replaceAdded(uow, row.id, { id, line, sold: null })
  })

/** Removes added lines, by the ids that the invoice shows. */
export const deleteLines = (
  deps: InvoiceDeps,
  of: OnInvoice,
  shownIdsOf: (row: InvoiceRow) => readonly string[],
): Promise<InvoiceRow> =>
  changeLines(deps, of, async (uow, row, lines) => {
    const ids = shownIdsOf(row).map(shownId => addedLine(row, lines, shownId).id)
    if (row.one_off !== null && ids.length >= lines.length)
      throw invalidMove(
        row,
        'A one-off invoice needs a line. Make it VOID instead: POST /v1/invoices/{id}/void.',
        'lines',
      )
    await deleteAdded(uow, row.id, ids)
  })

async function changeLines(
  deps: InvoiceDeps,
  { tenant, actor, id }: OnInvoice,
  work: (uow: Uow, row: InvoiceRow, lines: readonly AddedLine[]) => Promise<void>,
): Promise<InvoiceRow> {
  const found = await readTenant(deps.database, tenant, uow => getInvoice(uow, idOf('invo', id)))
  const prepare = async (uow: Uow) => {
    const row = await lockInvoice(uow, idOf('invo', id))
    if (row.credit !== null)
      throw invalidMove(
        row,
        'The lines of a credit note are fixed. Make it VOID and create another credit note.',
        'lines',
      )
    if (!isOpenEnded(row)) throw invalidMove(row, `The lines of an invoice that is ${row.status} are fixed.`)
    await work(uow, row, await addedLinesOf(uow, id, { default_product_tax_category: null }))
  }
  const request = { tenant, actor, row: found, mayClose: false, prepare }
  return await producerOf(deps, found).recompute(request, async (uow, current) => {
    const row = await lockInvoice(uow, idOf('invo', id))
    if (!current) throw invalidMove(row, 'The subscription no longer has the period of this invoice.')
    const computed = current.compute(null)
    return await change(uow, row, storedColumns(computed), computed.lines)
  })
}

/** The key decides the line, and so the id that the invoice shows. */
function addedLine(row: InvoiceRow, lines: readonly AddedLine[], shownId: string): AddedLine {
  const found = lines.find(({ id }) => lineId(`added ${id}`) === shownId)
  if (found) return found
  const isComputed = row.content.periods.some(({ groups }) =>
    groups.some(group => group.lines.some(({ id }) => id === shownId)),
  )
  if (isComputed)
    throw invalidMove(row, 'The line follows from the prices of the subscription. Add a line that deducts it.', 'lines')
  throw new AppError('RESOURCE_NOT_FOUND', `The invoice has no line ${JSON.stringify(shownId)}.`, {
    resourceType: 'INVOICE_LINE',
  })
}

type Time = { readonly start: string; readonly end: string }

/** The time of a line without dates: the period of the invoice, or the time of its first line. */
function timeOf({ period_start, period_end, content }: InvoiceRow): Time {
  if (period_start !== null && period_end !== null) return { start: period_start, end: period_end }
  const [first] = content.periods
  if (!first) throw new Error('a one-off invoice has a line')
  return { start: first.start_at, end: first.end_at }
}

type LineContext = Time & {
  readonly currency: string
  readonly customerId: string
  readonly billingEntityId: string
  /** The invoice that the line is for; null before it exists. */
  readonly row: Pick<InvoiceRow, 'content' | 'pricing_plan_subscription_id'> | null
  /** The path of the line in the request, with a trailing dot; empty when the line is the request itself. */
  readonly path?: string
}

/** The line as stored. Throws INVALID_FIELD with the member. */
export async function checkLine(uow: Uow, body: AddedLineBody, of: LineContext): Promise<StoredLine> {
  const { path = '', row } = of
  const refused = (field: string, message: string) => new AppError('INVALID_FIELD', message, { field: path + field })
  const given = Object.fromEntries(Object.entries(body).filter(([, value]) => value !== null && value !== undefined))
  const line = { start_at: of.start, end_at: of.end, ...given } as StoredLine
  if (at(line.start_at) >= at(line.end_at)) throw refused('end_at', 'end_at must be after start_at.')
  if (!line.product_item_id && !line.pricing_name)
    throw refused('product_item_id', 'A line needs a product item, or a pricing_name to be printed.')
  const subscriptionId = row?.pricing_plan_subscription_id ?? null
  if (line.pricing_plan_subscription_id && line.pricing_plan_subscription_id !== subscriptionId)
    throw refused('pricing_plan_subscription_id', 'The invoice is not for this subscription.')
  if (line.applicable_for_clauses?.length && subscriptionId === null)
    throw refused('applicable_for_clauses', 'A one-off invoice has no subscription, and so no clauses; leave this out.')
  try {
    priceOfLine(line, of.currency)
  } catch (error) {
    if (error instanceof AppError && error.details.field !== undefined)
      throw refused(error.details.field, error.message)
    throw error
  }
  if (line.product_item_id)
    await requireSold(uow, idOf('proi', line.product_item_id), {
      customerId: of.customerId,
      billingEntityId: of.billingEntityId,
      field: `${path}product_item_id`,
    })
  return line
}
