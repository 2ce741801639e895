// A bulk action: one action on many invoices. Each invoice succeeds or fails on its own (semantics 5.1).
import { and, inArray, sql } from 'drizzle-orm'
import Type from 'typebox'
import type { ReadUow, Uow } from '../../../../shared/database/database.ts'
import { AppError } from '../../../../shared/errors.ts'
import { newId } from '../../../../shared/ids.ts'
import { formatInstant } from '../../../../shared/time.ts'
import { defineResource, field, type Resource, readOnly } from '../../../resource/define-resource.ts'
import { insertMany } from '../../../resource/rows/many-rows.ts'
import { OneOf, Shape, Timestamp } from '../../../resource/shapes.ts'
import { inThisTenant } from '../../../resource/tenant-condition.ts'
import { chooseInvoices } from './choose-invoices.ts'
import { type BulkAction, bulkActionItems, bulkActions } from './table.ts'

export const bulkActionResource: Resource<BulkAction> = defineResource<BulkAction>({
  objectType: 'BULK_ACTION',
  shapeName: 'BulkAction',
  idPrefix: 'bulk',
  path: 'bulk-actions',
  table: bulkActions,
  fields: {
    type: field(OneOf('FINALIZE_INVOICES'), { create: 'required', change: 'never' }),
    status: readOnly(OneOf('SCHEDULED', 'IN_PROGRESS', 'DONE', 'ERROR')),
    message: readOnly(Type.String()),
    finalize_invoices: field(
      Shape(
        { invoice_date: Type.String({ pattern: '^\\d{4}-\\d{2}-\\d{2}(T.*)?$', maxLength: 40 }) },
        { title: 'FinalizeInvoices' },
      ),
      { change: 'never' },
    ),
    executed_at: readOnly(Timestamp),
  },
  operations: ['create', 'list', 'get', 'search'],
  byReference: false,
  orderBy: ['executed_at'],
  searchable: ['type', 'status'],
  computed: { number_of_resources: Type.Integer(), percentage: Type.Integer() },
  compute: progressOf,
  defaults: uow => ({ status: 'SCHEDULED', actor_id: uow.actor.id }),
  check: uow => {
    if (uow.actor.may?.('INVOICE.UPDATE') !== false) return
    throw new AppError('USER_NOT_ALLOWED', 'Making invoices FINAL needs the permission INVOICE.UPDATE.')
  },
  afterSave: async (uow, row, previous) => {
    if (previous === null) await keepItems(uow, row)
  },
  fixture: {
    create: async () => ({ type: 'FINALIZE_INVOICES', finalize_invoices: { invoice_date: '2026-01-31' } }),
    update: null,
  },
})

/** The invoices are chosen when the action is created: what becomes a DRAFT later is not part of it. */
async function keepItems(uow: Uow, row: BulkAction): Promise<void> {
  const now = formatInstant(uow.now)
  const items = (await chooseInvoices(uow, row)).map(invoice_id => ({
    platform_id: row.platform_id,
    environment: row.environment,
    id: newId('buit'),
    created_at: now,
    updated_at: now,
    bulk_action_id: row.id,
    invoice_id,
    status: 'SCHEDULED',
    message: null,
  }))
  await insertMany(uow, bulkActionItems, items)
}

/** How many invoices each has, and how much of them is done. */
async function progressOf(uow: ReadUow, rows: readonly BulkAction[]) {
  const i = bulkActionItems
  const counts = await uow.tx
    .select({
      id: i.bulk_action_id,
      all: sql<number>`count(*)::int`,
      done: sql<number>`count(*) filter (where ${i.status} <> 'SCHEDULED')::int`,
    })
    .from(i)
    .where(
      and(
        inThisTenant(uow, i),
        inArray(
          i.bulk_action_id,
          rows.map(({ id }) => id),
        ),
      ),
    )
    .groupBy(i.bulk_action_id)
  return rows.map(({ id, status }) => {
    const { all, done } = counts.find(count => count.id === id) ?? { all: 0, done: 0 }
    const percentage = all === 0 ? (status === 'DONE' ? 100 : 0) : Math.floor((100 * done) / all)
    return { number_of_resources: all, percentage }
  })
}
