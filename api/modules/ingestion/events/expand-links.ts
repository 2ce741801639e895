// What `expand[]` shows of a trace: whatever its links name.
import type { Actor, ReadUow } from '../../../../shared/database/database.ts'
import { AppError } from '../../../../shared/errors.ts'
import type { Resource, Row, StoredRow } from '../../../resource/define-resource.ts'
import { findMany } from '../../../resource/store.ts'
import { expansionForbidden, viewsOf } from '../../../resource/views.ts'
import { meterValueCalculationResource } from '../../catalog/meters/meter-value-calculation.ts'
import { productItemResource } from '../../catalog/products/product.ts'
import { loadInvoices } from '../../invoices/repository.ts'
import { invoiceView, WITHOUT_PERIODS } from '../../invoices/view.ts'
import { subscriptionResource } from '../../subscriptions/subscription.ts'

const EXPANSIONS = {
  customer: { by: 'customer_id', permission: 'CUSTOMER.VIEW' },
  invoice: { by: 'invoice_id', permission: 'INVOICE.VIEW' },
  pricing_plan_subscription: { by: 'pricing_plan_subscription_id', permission: 'PRICING_PLAN_SUBSCRIPTION.VIEW' },
  product_items: { by: 'product_item_ids', permission: 'PRODUCT_ITEM.VIEW' },
  meter_value_calculations: { by: 'meter_value_calculation_ids', permission: 'METER_VALUE_CALCULATION.VIEW' },
} as const
export type TraceExpansion = keyof typeof EXPANSIONS
const NAMES = ['customer', 'invoice', 'pricing_plan_subscription', 'product_items', 'meter_value_calculations'] as const

/**
 * What the trace shows in place of ids alone, by name or by the field with the id. Throws INVALID_FIELD on anything else, and
 * USER_NOT_ALLOWED where the actor names what it may not view; ALL leaves that out.
 */
export function traceExpansions({ may }: Actor, expand: readonly string[]): ReadonlySet<TraceExpansion> {
  const isAllowed = (name: TraceExpansion): boolean => may?.(EXPANSIONS[name].permission) !== false
  const named = expand.filter(given => given !== 'ALL')
  const wanted = named.map(given => {
    const name = NAMES.find(each => [each, EXPANSIONS[each].by].some(known => known === given))
    if (name === undefined) {
      const message = `EVENT_TRACE cannot expand ${JSON.stringify(given)}. It can expand ${NAMES.join(', ')}, ALL.`
      throw new AppError('INVALID_FIELD', message, { field: 'expand' })
    }
    if (!isAllowed(name)) throw expansionForbidden(given, EXPANSIONS[name].permission)
    return name
  })
  return new Set(named.length < expand.length ? NAMES.filter(isAllowed) : wanted)
}

type Link = {
  readonly meter_value_calculation_ids: readonly string[]
  readonly product_item_ids: readonly string[]
  readonly pricing_plan_subscription_id: string
  readonly invoice_id: string | null
}

/** The links with what is expanded; one query for each kind. Invoices come without their periods. */
export async function expandLinks<L extends Link>(
  uow: ReadUow,
  links: readonly L[],
  wanted: ReadonlySet<TraceExpansion>,
): Promise<Row[]> {
  const load = async <R extends StoredRow>(name: TraceExpansion, resource: Resource<R>, ids: readonly string[]) => {
    const found = wanted.has(name) ? await viewsOf(uow, resource, await findMany(uow, resource, ids)) : []
    return new Map(found.map(view => [String(view['id']), view]))
  }
  const subscriptions = await load(
    'pricing_plan_subscription',
    subscriptionResource,
    links.map(link => link.pricing_plan_subscription_id),
  )
  const items = await load(
    'product_items',
    productItemResource,
    links.flatMap(link => link.product_item_ids),
  )
  const calculations = await load(
    'meter_value_calculations',
    meterValueCalculationResource,
    links.flatMap(link => link.meter_value_calculation_ids),
  )
  const invoices = wanted.has('invoice')
    ? await loadInvoices(
        uow,
        links.flatMap(link => link.invoice_id ?? []),
      )
    : new Map()
  const all = (ids: readonly string[], of: ReadonlyMap<string, Row>): Row[] =>
    ids.flatMap(id => {
      const found = of.get(id)
      return found ? [found] : []
    })
  return links.map(link => {
    const invoice = invoices.get(link.invoice_id)
    return {
      ...link,
      ...(wanted.has('meter_value_calculations')
        ? { meter_value_calculations: all(link.meter_value_calculation_ids, calculations) }
        : {}),
      ...(wanted.has('product_items') ? { product_items: all(link.product_item_ids, items) } : {}),
      ...(wanted.has('pricing_plan_subscription')
        ? { pricing_plan_subscription: subscriptions.get(link.pricing_plan_subscription_id) ?? null }
        : {}),
      ...(wanted.has('invoice') ? { invoice: invoice ? invoiceView(invoice, uow.now, WITHOUT_PERIODS) : null } : {}),
    }
  })
}
