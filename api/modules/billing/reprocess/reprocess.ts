// A reprocess: the invoices of one customer, of all customers, or one invoice are computed again from current usage,
// prices and parties (semantics 1.4). Events need no extra work: they are matched when they are read.
import Type from 'typebox'
import type { Uow } from '../../../../shared/database/database.ts'
import { AppError } from '../../../../shared/errors.ts'
import { type Id, idOf } from '../../../../shared/ids.ts'
import { formatInstant, instantOf } from '../../../../shared/time.ts'
import { defineResource, field, readOnly } from '../../../resource/define-resource.ts'
import { IdText, Nullable, OneOf, Optional, Shape, Timestamp } from '../../../resource/shapes.ts'
import { getOne, requireAll } from '../../../resource/store.ts'
import { findInvoice } from '../../invoices/repository.ts'
import { customerResource } from '../../parties/customers/resource.ts'
import { platformResource } from '../../parties/platforms/platform.ts'
import { delayOf } from '../../parties/platforms/reprocessing-settings.ts'
import { markInvoices } from './affected-invoices.ts'
import { type Reprocess, reprocesses } from './table.ts'

const Range = { start_at: Optional(Nullable(Timestamp)), end_at: Optional(Nullable(Timestamp)) }
const CustomerRange = { customer_id: IdText('customer'), ...Range }

export const reprocessResource = defineResource<Reprocess>({
  objectType: 'REPROCESS',
  shapeName: 'Reprocess',
  idPrefix: 'repr',
  path: 'reprocess',
  table: reprocesses,
  fields: {
    type: field(OneOf('NOT_MATCHED', 'INVOICE', 'CUSTOMER'), { create: 'required', change: 'never' }),
    status: readOnly(OneOf('SCHEDULED', 'IN_PROGRESS', 'DONE', 'ERROR')),
    percentage: readOnly(Type.Integer({ description: 'Of the invoices it has to compute again.' })),
    message: readOnly(Type.String({ description: 'Why it is in ERROR, or what it waits for.' })),
    invoice: field(Shape({ invoice_id: IdText('invoice') }), { change: 'never' }),
    not_matched: field(Shape({ ...CustomerRange, customer_id: Optional(Nullable(IdText('customer'))) }), {
      change: 'never',
    }),
    customer: field(Shape(CustomerRange), { change: 'never' }),
    automatic: readOnly(Type.Boolean({ description: 'Whether a change set it off and not a call.' })),
    scheduled_at: readOnly(Timestamp),
    finished_at: readOnly(Timestamp),
  },
  operations: ['create', 'list', 'get'],
  byReference: false,
  // The worker takes it up by the time of the day, and computes each invoice in that of its customer.
  testClockOf: null,
  filters: {
    type: { kind: 'equals', column: 'type', schema: OneOf('NOT_MATCHED', 'INVOICE', 'CUSTOMER') },
    status: { kind: 'equals', column: 'status', schema: OneOf('SCHEDULED', 'IN_PROGRESS', 'DONE', 'ERROR') },
  },
  orderBy: ['scheduled_at', 'finished_at'],
  // The customer is shown inside `customer`, beside its id.
  expand: { customer: { by: 'customer_id', to: () => customerResource, within: 'customer' } },
  computed: {
    customer: Type.Object({
      ...CustomerRange,
      customer: Type.Optional(Nullable(customerResource.view)),
    }),
  },
  derive: ({ customer }) => ({ customer }),
  defaults: async (uow, row) => {
    const platform = await getOne(uow, platformResource, uow.tenant.platformId)
    const delayMs = delayOf(platform.reprocessing_settings, row.automatic === true)
    const scheduled_at = formatInstant(instantOf(uow.now + delayMs))
    return { status: 'SCHEDULED', percentage: 0, automatic: false, scheduled_at }
  },
  resolve: async (uow, row) => {
    requireOwnPart(row)
    const range = row.customer ?? row.not_matched
    const customerId = range?.customer_id ?? null
    if (customerId !== null) {
      const at = row.type === 'CUSTOMER' ? 'customer.customer_id' : 'not_matched.customer_id'
      await requireAll(uow, customerResource, [{ id: customerId, field: at }])
    }
    if (row.invoice) await requireComputable(uow, idOf('invo', row.invoice.invoice_id))
    return {
      ...row,
      invoice_id: idOf('invo', row.invoice?.invoice_id ?? null),
      customer_id: idOf('cust', customerId),
      start_at: range?.start_at ?? null,
      end_at: range?.end_at ?? null,
    }
  },
  afterSave: async (uow, row, previous) => {
    if (previous === null) await markInvoices(uow, row)
  },
  fixture: {
    create: async seed => ({
      type: 'CUSTOMER',
      customer: { customer_id: (await seed.make(customerResource)).id, start_at: '2026-01-01T00:00:00Z' },
    }),
    update: null,
  },
})

const PARTS = { INVOICE: 'invoice', NOT_MATCHED: 'not_matched', CUSTOMER: 'customer' } as const

/** Throws unless exactly the member that belongs to the type is given and its range is valid. */
function requireOwnPart(row: Reprocess): void {
  for (const [type, name] of Object.entries(PARTS)) {
    if (row[name] !== null && row.type !== type)
      throw new AppError('INVALID_FIELD', `${name} belongs to type ${type}.`, { field: name })
  }
  const part = PARTS[row.type]
  if (row[part] === null && row.type !== 'NOT_MATCHED')
    throw new AppError('MISSING_FIELD', `Type ${row.type} needs ${part}.`, { field: part })
  const { start_at: start, end_at: end } = row.customer ?? row.not_matched ?? {}
  if (start && end && start >= end)
    throw new AppError('INVALID_FIELD', 'The range must end after it starts.', { field: `${part}.end_at` })
}

async function requireComputable(uow: Uow, id: Id<'invo'>): Promise<void> {
  const field = 'invoice.invoice_id'
  const invoice = await findInvoice(uow, id)
  if (!invoice) {
    const message = `There is no INVOICE ${JSON.stringify(id)}.`
    throw new AppError('RESOURCE_NOT_FOUND', message, { field, resourceType: 'INVOICE' })
  }
  if (invoice.status === 'OPEN' || invoice.status === 'DRAFT') return
  const message = `The invoice is ${invoice.status}; only an OPEN or DRAFT one is computed again.`
  throw new AppError('INVALID_OPERATION', message, { field, resourceId: id, resourceType: 'INVOICE' })
}
