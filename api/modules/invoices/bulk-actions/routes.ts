// The routes of bulk actions that are more than those of any resource: what one would do, and what became of its
// invoices.
import { eq } from 'drizzle-orm'
import type { FastifyInstance } from 'fastify'
import Type from 'typebox'
import { type RouteDeps, readRoute } from '../../../http/route.ts'
import { listRoute } from '../../../list/list-route.ts'
import type { ListSpec } from '../../../list/list-spec.ts'
import { Nullable, OneOf, Optional, Timestamp } from '../../../resource/shapes.ts'
import { getOne } from '../../../resource/store.ts'
import { bulkActionResource } from './bulk-action.ts'
import { chooseInvoices } from './choose-invoices.ts'
import { type BulkAction, type BulkActionItem, bulkActionItems } from './table.ts'

const Target = Type.Object({ type: Type.Literal('INVOICE'), id: Type.String() }, { title: 'BulkActionTarget' })
const Check = Type.Object(
  {
    type: OneOf('FINALIZE_INVOICES'),
    number_of_resources: Type.Integer(),
    included_example_resources: Type.Array(Target),
  },
  { title: 'BulkActionCheck' },
)
const ItemStatus = OneOf('SCHEDULED', 'SUCCEEDED', 'FAILED')
const Item = Type.Object(
  {
    id: Type.String(),
    created_at: Timestamp,
    updated_at: Timestamp,
    status: ItemStatus,
    message: Optional(Nullable(Type.String())),
    target_resource: Target,
  },
  { title: 'BulkActionItem' },
)
const ITEMS: ListSpec = {
  table: bulkActionItems,
  filters: { 'statuses[]': { kind: 'oneOf', column: 'status', schema: ItemStatus } },
  orderBy: ['created_at', 'updated_at'],
  searchable: [],
  ranges: [],
}
const EXAMPLES_MAX = 10
const PATH = `/v1/${bulkActionResource.path}`

/** Registers the routes. */
export function bulkActionRoutes(app: FastifyInstance, deps: RouteDeps): void {
  readRoute(app, deps, {
    tag: bulkActionResource.path,
    permission: 'BULK_ACTION.VIEW',
    summary: 'Check a bulk action: how many invoices it would be for. Nothing is changed.',
    method: 'POST',
    url: `${PATH}/check`,
    body: bulkActionResource.createBody,
    response: Check,
    handle: async (uow, { body }) => {
      const given = body as Pick<BulkAction, 'type' | 'finalize_invoices'>
      const ids = await chooseInvoices(uow, given)
      return {
        type: given.type,
        number_of_resources: ids.length,
        included_example_resources: ids.slice(0, EXAMPLES_MAX).map(id => ({ type: 'INVOICE', id })),
      }
    },
  })
  listRoute<BulkActionItem>(app, deps, {
    tag: bulkActionResource.path,
    permission: 'BULK_ACTION.VIEW',
    summary: 'List the invoices of a bulk action, with what became of each.',
    url: `${PATH}/:id/items`,
    list: ITEMS,
    item: Item,
    of: async (uow, id) => eq(bulkActionItems.bulk_action_id, (await getOne(uow, bulkActionResource, id)).id),
    views: rows => rows.map(itemView),
  })
}

const itemView = ({ id, created_at, updated_at, status, message, invoice_id }: BulkActionItem) => ({
  id,
  created_at,
  updated_at,
  status,
  message,
  target_resource: { type: 'INVOICE', id: invoice_id },
})
