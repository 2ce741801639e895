// What a new installation shows: a catalog, customers, a month of usage through the front door, and an invoice of it.
// Only the public interface is used. Run again, it finds everything by reference and sends only repeats.
import type { NewPlatform } from '../../shared/access/create-platform.ts'
import type { Clock, Instant } from '../../shared/time.ts'
import type { Progress } from '../services/child.ts'
import { ensureCatalog } from './catalog.ts'
import { type Client, createClient } from './client.ts'
import { checkQuantity, finalizeInvoice, printInvoice } from './invoice.ts'
import { CUSTOMERS, sampleOfMonth } from './sample.ts'
import { streamSample } from './usage.ts'

export type DemoOptions = {
  readonly baseUrl: string
  readonly platforms: readonly NewPlatform[]
  readonly clock: Clock
  readonly log: Progress
}

/** The start of the month before `now`, UTC: it has ended, so it can be invoiced. */
export function previousMonth(now: Instant): Date {
  const date = new Date(now)
  return new Date(Date.UTC(date.getUTCFullYear(), date.getUTCMonth() - 1, 1))
}

/** Throws when the other platform reaches a customer of this one. It may have customers of its own, by the same references too. */
export async function checkIsolation(client: Pick<Client, 'find'>, stranger: Pick<Client, 'find'>): Promise<void> {
  for (const reference of CUSTOMERS) {
    const own = await client.find(`/v1/customers/${reference}`)
    if (!own) throw new Error(`${reference} is not found`)
    if (await stranger.find(`/v1/customers/${own.id}`)) throw new Error(`another platform sees ${reference}`)
    const namesake = await stranger.find(`/v1/customers/${reference}`)
    if (namesake?.id === own.id) throw new Error(`another platform sees ${reference}`)
  }
}

/** Runs the demo; throws at the first step that does not do what it should. */
export async function runDemo({ baseUrl, platforms, clock, log }: DemoOptions): Promise<void> {
  const [platform, other] = platforms
  if (!platform || !other) throw new Error('the demo needs two platforms')
  const client = createClient(baseUrl, platform.environments.LIVE.api_key)
  const month = previousMonth(clock.now())
  const monthStart = month.toISOString()

  const subscriptions = await ensureCatalog(client, monthStart)
  await checkIsolation(client, createClient(baseUrl, other.environments.LIVE.api_key))
  log(`Catalog, ${CUSTOMERS.length} customers and their subscriptions are there`)

  const events = sampleOfMonth(month.getTime())
  const sent = await streamSample(client, events)
  log(
    `${sent.accepted} events accepted in ${sent.seconds.toFixed(1)} s; ${sent.duplicates} were sent twice and recognised as duplicates`,
  )

  const [customer] = CUSTOMERS
  const subscription = subscriptions.get(customer)
  if (!subscription) throw new Error(`${customer} has no subscription`)
  const { invoice, finalizedNow } = await finalizeInvoice(client, subscription, monthStart)
  const tokens = events.filter(event => event.customer === customer).map(event => BigInt(event.contextTokens))
  // An invoice finalized by an earlier start, or by its grace period, may be older than some of the sample.
  if (finalizedNow)
    checkQuantity(
      invoice,
      'input-tokens',
      tokens.reduce((total, count) => total + count, 0n),
    )
  printInvoice(log, invoice)
}
