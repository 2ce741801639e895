// The way of one event: when it was received and taken, and what bills it, or why nothing does.
import { type SQL, sql } from 'drizzle-orm'
import { type ReadUow, readTenant } from '../../../shared/database/database.ts'
import { AppError } from '../../../shared/errors.ts'
import type { Tenant } from '../../../shared/tenant.ts'
import { formatInstant } from '../../../shared/time.ts'
import type { Row } from '../../resource/define-resource.ts'
import type { StoredEvent } from '../../usage/stored-events.ts'
import { findEvent, hashesFor, noEvent } from './get-event.ts'
import type { EventsDeps } from './list-events.ts'
import { viewAmendments } from './view-amendments.ts'
import { viewEvents } from './view-events.ts'

const RETRY_AFTER_S = 2

/**
 * The trace of the event with this id or reference. Throws RESOURCE_NOT_FOUND, and SERVICE_UNAVAILABLE while the log does not
 * answer. An event that is deleted or not matched has no links; `meter_data` says which.
 */
export async function traceEvent(
  deps: EventsDeps,
  tenant: Tenant,
  of: { readonly idOrReference: string; readonly withCustomer: boolean },
): Promise<Row> {
  const event = await findEvent(deps, tenant, hashesFor(tenant, of.idOrReference))
  if (!event) throw noEvent(of.idOrReference)
  const takenAt = await deps.events.log.takenAt(event).catch((cause: unknown) => {
    const message = 'The usage log does not answer; send it again.'
    throw new AppError('SERVICE_UNAVAILABLE', message, { retryAfterSeconds: RETRY_AFTER_S, cause })
  })
  const amendments = await deps.events.amendments(tenant, event.idHash)
  return await readTenant(deps.database, tenant, async uow => {
    const [view] = await viewEvents(uow, [event], { withCustomer: of.withCustomer })
    if (!view) throw new Error('one event has one view')
    const { customer, ...meter_data } = view
    const billed = !event.deleted && view['processed_details'].type === 'DEFAULT'
    return {
      object_type: 'EVENT_TRACE',
      id: view['id'],
      meter_data_id: view['id'],
      meter_data,
      customer_id: view['customer_id'],
      ...(of.withCustomer ? { customer } : {}),
      received_time: formatInstant(event.receivedAt),
      ingest_time: takenAt === null ? null : formatInstant(takenAt),
      // When a row reached ClickHouse is not kept.
      processed_time: null,
      amendments: await viewAmendments(uow, event, amendments),
      links: billed ? await linksOf(uow, event, view) : [],
    }
  })
}

type Link = {
  readonly subscription_id: string
  readonly config_id: string
  readonly item_ids: string[]
  readonly calculation_ids: string[]
  readonly invoice_id: string | null
}

/** One link for each price configuration that rates something the event carries. */
async function linksOf(uow: ReadUow, event: StoredEvent, view: Row): Promise<Row[]> {
  const { rows } = await uow.tx.execute<Link>(linksSql(uow, event, view))
  return rows.map(row => ({
    object_type: 'EVENT_TRACE_LINK',
    id: `${view['id']}.${row.config_id}`,
    meter_value_calculation_ids: row.calculation_ids,
    product_item_ids: row.item_ids,
    pricing_plan_subscription_id: row.subscription_id,
    pricing_item_config_id: row.config_id,
    invoice_id: row.invoice_id,
  }))
}

function linksSql(uow: ReadUow, event: StoredEvent, view: Row): SQL {
  const { platformId, environment } = uow.tenant
  const at = sql`to_timestamp(${event.timestamp}::float8 / 1000)`
  const values = JSON.stringify(event.values.map(value => value.reference))
  const properties = JSON.stringify(Object.keys(event.properties))
  // The invoice is known when a price has no period of its own: then it is the one whose time has the event.
  return sql`
    select s.id as subscription_id, config ->> 'id' as config_id,
      array_agg(distinct i.id) as item_ids, array_agg(distinct c.id) as calculation_ids,
      case when bool_and(h.billing_period is null
        and coalesce(nullif(config -> 'billing_period', 'null'), s.billing_period) = s.billing_period
        and coalesce(nullif(config -> 'pricing_period', 'null'), s.billing_period) = s.billing_period) then min(v.id) end as invoice_id
    from pricing_plan_subscriptions s
    join pricing_plan_schedules h on h.platform_id = s.platform_id and h.environment = s.environment
      and h.pricing_plan_subscription_id = s.id and h.status = 'ACTIVE'
    join pricings p on p.platform_id = h.platform_id and p.environment = h.environment
      and p.pricing_plan_version_id = h.pricing_plan_version_id
    cross join lateral jsonb_array_elements(p.items) as item
    cross join lateral jsonb_array_elements(item -> 'configs') as config
    cross join lateral jsonb_array_elements_text(item -> 'product_item_ids') as item_id
    join product_items i on i.platform_id = p.platform_id and i.environment = p.environment and i.id = item_id
    join meter_value_calculations c on c.platform_id = p.platform_id and c.environment = p.environment
      and c.id = i.meter_value_calculation_id and c.meter_id = ${view['meter_id']}
    left join meter_values mv on mv.platform_id = c.platform_id and mv.environment = c.environment and mv.id = c.meter_value_id
    left join meter_properties mp on mp.platform_id = c.platform_id and mp.environment = c.environment and mp.id = c.meter_property_id
    left join invoices v on v.platform_id = s.platform_id and v.environment = s.environment
      and v.pricing_plan_subscription_id = s.id and v.status <> 'VOID' and not v.advance_only
      and v.period_start <= ${at} and v.period_end > ${at}
    where s.platform_id = ${platformId} and s.environment = ${environment} and s.customer_id = ${view['customer_id']}
      and s.status in ('ACTIVE', 'CANCELLED') and h.start_at <= ${at}
      and coalesce(least(h.end_at, s.cancelled_at), 'infinity') > ${at}
      and (${values}::jsonb ? mv.reference or ${properties}::jsonb ? mp.reference)
    group by s.id, config ->> 'id'
    order by s.id, config ->> 'id'`
}
