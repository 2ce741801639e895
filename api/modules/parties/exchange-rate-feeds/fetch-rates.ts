// Fetches the reference rates of one platform from the address that it gives, and stores those that it does not have.
import { and, eq, inArray, sql } from 'drizzle-orm'
import { type Database, inTenant, readTenant, type Uow } from '../../../../shared/database/database.ts'
import { decimal } from '../../../../shared/decimal.ts'
import { idOf } from '../../../../shared/ids.ts'
import { FailedFetch, type FetchTextDeps, fetchText } from '../../../../shared/outbound/fetch-text.ts'
import type { Tenant } from '../../../../shared/tenant.ts'
import { at, formatInstant, type Instant, instantOf } from '../../../../shared/time.ts'
import { createResource, updateResource } from '../../../resource/commands.ts'
import { getOne } from '../../../resource/store.ts'
import { inThisTenant } from '../../../resource/tenant-condition.ts'
import { exchangeRateResource } from '../exchange-rates/exchange-rate.ts'
import { exchangeRates as e } from '../exchange-rates/table.ts'
import type { ExchangeRateSettings, ExchangeRateStatus } from '../platforms/exchange-rate-settings.ts'
import { platformResource } from '../platforms/platform.ts'
import { type PublishedRates, parseFeed, WrongFeed } from './parse-feed.ts'

const ACTOR = { id: null, requestId: null }
/** Reference rates are published once a day; a newer file is found within hours. */
const NEXT_MS = 6 * 3_600_000
/** After a fault. */
const RETRY_MS = 3_600_000
/** No authority pauses longer: Christmas and Easter have four days without rates. */
const OLD_MS = 7 * 86_400_000

export type FeedDeps = { readonly database: Database; readonly rates: FetchTextDeps }

/**
 * One attempt. Rates that are stored for the same time stay as they are, unless the platform has set `overwrite`: then they are
 * corrected, with their history. The outcome is `exchange_rate_status` of the platform. Throws only for a fault of ours.
 */
export async function fetchRates(
  { database, rates }: FeedDeps,
  tenant: Tenant,
  signal: AbortSignal,
): Promise<ExchangeRateStatus | null> {
  const { exchange_rate_settings: settings } = await readTenant(database, tenant, uow =>
    getOne(uow, platformResource, idOf('plat', tenant.platformId)),
  )
  const { url } = settings
  if (!url) return null
  const found = await published(rates, { url, signal, now: database.clock.now() })
  return await inTenant(database, tenant, ACTOR, async uow => {
    const platform = await getOne(uow, platformResource, idOf('plat', tenant.platformId))
    // Changed meanwhile: the next search finds it.
    if (platform.exchange_rate_settings.url !== url) return null
    if (typeof found !== 'string') await store(uow, found, { ...settings, url })
    const status = statusOf(found, platform.exchange_rate_status, uow.now)
    // Not a change of the platform by anybody, so nothing follows from it.
    await uow.tx.execute(sql`
      update platforms set exchange_rate_status = ${JSON.stringify(status)}
      where platform_id = ${tenant.platformId} and environment = ${tenant.environment}`)
    return status
  })
}

/** What the address gives, or why it gives nothing. */
async function published(
  deps: FetchTextDeps,
  { url, signal, now }: { readonly url: string; readonly signal: AbortSignal; readonly now: Instant },
): Promise<PublishedRates | string> {
  try {
    return parseFeed(await fetchText(deps, url, { accept: 'application/json', signal }), now)
  } catch (error) {
    if (error instanceof FailedFetch || error instanceof WrongFeed) return error.message
    throw error
  }
}

/** Pure. */
export function statusOf(
  found: PublishedRates | string,
  before: ExchangeRateStatus | null,
  now: Instant,
): ExchangeRateStatus {
  const isFault = typeof found === 'string'
  const rates_of = isFault ? (before?.rates_of ?? null) : found.rate_timestamp
  const isOld = rates_of !== null && at(rates_of) < now - OLD_MS
  const old = isOld ? `The newest rates are of ${rates_of}, more than seven days ago.` : null
  return {
    attempted_at: formatInstant(now),
    next_attempt_at: formatInstant(instantOf(now + (isFault ? RETRY_MS : NEXT_MS))),
    rates_of,
    fault: isFault ? [found, old].filter(text => text !== null).join(' ') : old,
  }
}

async function store(
  uow: Uow,
  { base_currency, rate_timestamp, rates }: PublishedRates,
  { url, source, overwrite }: ExchangeRateSettings & { readonly url: string },
): Promise<void> {
  const stored = await uow.tx
    .select({ id: e.id, currency: e.currency, rate: e.rate })
    .from(e)
    .where(
      and(
        inThisTenant(uow, e),
        eq(e.base_currency, base_currency),
        eq(e.rate_timestamp, rate_timestamp),
        inArray(
          e.currency,
          rates.map(({ currency }) => currency),
        ),
      ),
    )
  const publisher = source ?? new URL(url).hostname
  for (const { currency, rate } of rates) {
    const known = stored.find(each => each.currency === currency)
    if (!known) {
      const body = { base_currency, currency, rate, rate_timestamp, source: publisher }
      await createResource(uow, exchangeRateResource, body)
    } else if (overwrite === true && !decimal(known.rate).eq(decimal(rate)))
      await updateResource(uow, exchangeRateResource, known.id, { rate, source: publisher })
  }
}
