// What a new installation shows: a catalog, customers, a month of usage through the front door, and an invoice of it.
// Only the public interface is used. A second start finds everything by reference and sends only repeats.
import type { NewPlatform } from '../../shared/access/create-platform.ts'
import type { Clock, Instant } from '../../shared/time.ts'
import type { Progress } from '../services/child.ts'
import { ensureCatalog } from './catalog.ts'
import { createClient, listAll } from './client.ts'
import { checkQuantity, finaliseInvoice, printInvoice } from './invoice.ts'
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

/** The other platform must see nothing of this one. */
async function checkIsolation(baseUrl: string, other: NewPlatform): Promise<void> {
  const customers = await listAll(createClient(baseUrl, other.environments.LIVE.api_key), '/v1/customers')
  if (customers.length > 0) throw new Error(`${other.name} sees customers of another platform`)
}

/** Runs the demo; throws at the first step that does not do what it should. */
export async function runDemo({ baseUrl, platforms, clock, log }: DemoOptions): Promise<void> {
  const [platform, other] = platforms
  if (!platform || !other) throw new Error('the demo needs two platforms')
  const client = createClient(baseUrl, platform.environments.LIVE.api_key)
  const month = previousMonth(clock.now())
  const monthStart = month.toISOString()

  const subscriptions = await ensureCatalog(client, monthStart)
  await checkIsolation(baseUrl, other)
  log(`Catalog, ${CUSTOMERS.length} customers and their subscriptions are there`)

  const events = sampleOfMonth(month.getTime())
  const sent = await streamSample(client, events)
  log(
    `${sent.accepted} events accepted in ${sent.seconds.toFixed(1)} s, of which ${sent.duplicates} were sent twice and recognised as duplicates`,
  )

  const [customer] = CUSTOMERS
  const subscription = subscriptions.get(customer)
  if (!subscription) throw new Error(`${customer} has no subscription`)
  const { invoice, finalisedNow } = await finaliseInvoice(client, subscription, monthStart)
  const tokens = events.filter(event => event.customer === customer).map(event => BigInt(event.contextTokens))
  // An invoice finalised by an earlier start, or by its grace period, may be older than some of the sample.
  if (finalisedNow)
    checkQuantity(
      invoice,
      'input-tokens',
      tokens.reduce((total, count) => total + count, 0n),
    )
  printInvoice(log, invoice)
}
