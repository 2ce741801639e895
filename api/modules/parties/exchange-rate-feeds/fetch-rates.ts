// Fetches the reference rates of one platform from the address that it gives, and stores those that it does not have.
import { and, eq, inArray, sql } from 'drizzle-orm'
import { type Database, inTenant, readTenant, SERVICE, type Uow } from '../../../../shared/database/database.ts'
import { tryInTransaction } from '../../../../shared/database/savepoint.ts'
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
import { platforms } from '../platforms/table.ts'
import { type PublishedRates, parseFeed, WrongFeed } from './parse-feed.ts'

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
  const { exchange_rate_settings } = await readTenant(database, tenant, uow =>
    getOne(uow, platformResource, idOf('plat', tenant.platformId)),
  )
  const { url } = exchange_rate_settings
  if (!url) return null
  const found = await published(rates, { url, signal, now: database.clock.now() })
  return await inTenant(database, tenant, SERVICE, async uow => {
    // As they are now: the answer may have taken half a minute. They stay so until commit.
    const [platform] = await uow.tx
      .select({ settings: platforms.exchange_rate_settings, status: platforms.exchange_rate_status })
      .from(platforms)
      .where(inThisTenant(uow, platforms))
      .for('no key update')
    // Another address since then: the next search finds it.
    if (platform?.settings.url !== url) return null
    const refused = typeof found === 'string' ? NONE : await store(uow, found, { ...platform.settings, url })
    const status = statusOf(found, platform.status, uow.now, refused)
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

/** Why rates were not stored, by currency. */
type Refused = ReadonlyMap<string, string>
const NONE: Refused = new Map()

/** Pure. What is tried again sooner: an answer without rates, and rates that were `refused`. */
export function statusOf(
  found: PublishedRates | string,
  before: ExchangeRateStatus | null,
  now: Instant,
  refused: Refused = NONE,
): ExchangeRateStatus {
  const fault = typeof found === 'string' ? found : faultOf(refused)
  const rates_of = typeof found === 'string' ? (before?.rates_of ?? null) : found.rate_timestamp
  const isOld = rates_of !== null && at(rates_of) < now - OLD_MS
  const old = isOld ? `The newest rates are of ${rates_of}, more than seven days ago.` : null
  return {
    attempted_at: formatInstant(now),
    next_attempt_at: formatInstant(instantOf(now + (fault === null ? NEXT_MS : RETRY_MS))),
    rates_of,
    fault: [fault, old].filter(text => text !== null).join(' ') || null,
  }
}

function faultOf(refused: Refused): string | null {
  const [first] = refused
  return first ? `Not stored: ${[...refused.keys()].join(', ')}. The rate of ${first[0]}: ${first[1]}` : null
}

/** Stores each rate by itself, so that one that is refused keeps no other back. Returns the refused ones. */
async function store(
  uow: Uow,
  { base_currency, rate_timestamp, rates }: PublishedRates,
  { url, source, overwrite }: ExchangeRateSettings & { readonly url: string },
): Promise<Refused> {
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
  const refused = new Map<string, string>()
  for (const { currency, rate } of rates) {
    const known = stored.find(each => each.currency === currency)
    if (known && (overwrite !== true || decimal(known.rate).eq(decimal(rate)))) continue
    const result = await tryInTransaction(uow.tx, () =>
      known
        ? updateResource(uow, exchangeRateResource, known.id, { rate, source: publisher })
        : createResource(uow, exchangeRateResource, {
            base_currency,
            currency,
            rate,
            rate_timestamp,
            source: publisher,
          }),
    )
    // A user gave a rate meanwhile: it is one that is stored.
    if ('refused' in result && result.refused.code !== 'RESOURCE_ALREADY_EXISTS')
      refused.set(currency, result.refused.message)
  }
  return refused
}
