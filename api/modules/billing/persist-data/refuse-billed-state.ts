// What an invoice has billed stays: no state is accepted for time that a closed invoice has billed.
import { sql } from 'drizzle-orm'
import type { Uow } from '../../../../shared/database/database.ts'
import { AppError } from '../../../../shared/errors.ts'
import type { PriceTerm } from '../terms/price-terms.ts'
import type { Moment } from './named-price.ts'

type Billed = { readonly id: string; readonly number: string | null; readonly until: string }

/**
 * Throws INVALID_OPERATION when a closed invoice of the subscription has billed the price for the moment or for time
 * after it. The caller holds the subscription's lock. Closing an invoice takes the same lock, so neither can miss the
 * other.
 */
export async function refuseBilledState(
  uow: Uow,
  of: { readonly subscriptionId: string; readonly term: PriceTerm; readonly moment: Moment },
): Promise<void> {
  const { platformId, environment } = uow.tenant
  const { schedule, config } = of.term
  const from = sql`to_timestamp(${of.moment.at}::float8 / 1000)`
  const utc = sql.raw(`'YYYY-MM-DD"T"HH24:MI:SS"Z"'`)
  // An invoice that became FINAL before counted usage was stored has billed everything of its time.
  const { rows } = await uow.tx.execute<Billed>(sql`
    select coalesce(v.combined_into_id, v.id) as id, v.invoice_number as number, to_char(billed.until at time zone 'UTC', ${utc}) as until
    from invoices v
    left join closed_usage c on c.platform_id = v.platform_id and c.environment = v.environment and c.invoice_id = v.id
    cross join lateral (
      select case when c.invoice_id is null then case when v.status = 'FINAL' then v.period_end end else (
        select to_timestamp(max((charge -> 'service' ->> 1)::float8) / 1000) from jsonb_array_elements(c.charges) as charge
        where charge ->> 'schedule_id' = ${schedule.id} and charge ->> 'config_id' = ${config.id})
      end as until
    ) as billed
    where v.platform_id = ${platformId} and v.environment = ${environment}
      and v.pricing_plan_subscription_id = ${of.subscriptionId} and v.status in ('FINAL', 'ARCHIVED') and not v.advance_only
      and billed.until > ${from}
    order by billed.until desc, 1
    limit 1`)
  const [billed] = rows
  if (!billed) return
  const message =
    `The invoice ${billed.number ?? billed.id} has billed this price until ${billed.until} and never changes. ` +
    'Send the state for that time or later.'
  throw new AppError('INVALID_OPERATION', message, {
    field: of.moment.field,
    resourceId: billed.id,
    resourceType: 'INVOICE',
  })
}
