// The exchange rates that can convert between given currencies.
import { sql } from 'drizzle-orm'
import type { ExchangeRate } from '../../../../shared/billing/exchange/exchange-rates.ts'
import type { ReadUow } from '../../../../shared/database/database.ts'
import { at, formatInstant, type Instant, instantOf } from '../../../../shared/time.ts'

/** Days before a subscription starts whose rates are read too: the first invoice may be dated before any later rate. */
const BEFORE_MS = 31 * 86_400_000

/** Why prices in one currency cannot be invoiced in another, and what to do. */
export const noExchange = (from: string, to: string): string =>
  `Prices in ${from} cannot be invoiced in ${to}: there is no exchange rate. Add one: POST /v1/exchange-rates.`

/**
 * All rates of these currencies that hold at `since` or later, against any base, in a fixed order. The latest of each
 * pair is always among them.
 */
export async function loadRates(uow: ReadUow, currencies: readonly string[], since: Instant): Promise<ExchangeRate[]> {
  const { platformId, environment } = uow.tenant
  const from = formatInstant(instantOf(since - BEFORE_MS))
  const { rows } = await uow.tx.execute<ExchangeRate>(sql`
    select e.base_currency, e.currency, trim_scale(e.rate)::text as rate,
      to_char(e.rate_timestamp at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS"Z"') as rate_timestamp, e.source
    from exchange_rates e
    where e.platform_id = ${platformId} and e.environment = ${environment} and e.currency = any(${sql.param([...currencies])})
      and (e.rate_timestamp >= ${from}::timestamptz or not exists (select from exchange_rates n
        where n.platform_id = e.platform_id and n.environment = e.environment and n.base_currency = e.base_currency
          and n.currency = e.currency and n.rate_timestamp > e.rate_timestamp))
    order by e.base_currency, e.currency, e.rate_timestamp`)
  return rows
}

/** What `loadRates` gives for these currencies and this time, from rates that were loaded for more. */
export function ratesOf(all: readonly ExchangeRate[], currencies: readonly string[], since: Instant): ExchangeRate[] {
  const own = all.filter(({ currency }) => currencies.includes(currency))
  const isLatest = (rate: ExchangeRate, place: number): boolean => {
    // They are in the order of their pairs and times.
    const next = own[place + 1]
    return next?.base_currency !== rate.base_currency || next.currency !== rate.currency
  }
  return own.filter((rate, place) => at(rate.rate_timestamp) >= since - BEFORE_MS || isLatest(rate, place))
}
