// Tests of what a tax engine outside decides: a real HTTP server that answers, is slow, wrong, down, or changes its mind.
import { createServer, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { afterAll, beforeAll, beforeEach } from 'vitest'
import type { TaxEngine } from '../../../../../../shared/billing/tax/tax-engine.ts'
import { silentLogger } from '../../../../../../shared/process/logger.ts'
import { type Instant, instantOf, systemClock } from '../../../../../../shared/time.ts'
import { succeed } from '../../../../../testing/calls.ts'
import { type ApiHarness, startApi, type TestTenant } from '../../../../../testing/harness.ts'
import type { Row } from '../../../../../testing/wire.ts'
import { runBilling } from '../../../../billing/run/run-billing.ts'
import { billedSubscription } from '../../../../billing/testing/billed-subscription.ts'
import { NO_USAGE } from '../../../../billing/testing/no-usage.ts'
import { invoiceProducers } from '../../../../modules.ts'
import { httpTaxEngine } from '../../answers/http-engine.ts'
import { processTaxQuestions } from '../jobs.ts'

type Asked = { readonly authorization: string | undefined; readonly body: Row }
/** How the engine answers. */
export type Say = (response: ServerResponse) => void

export const json =
  (status: number, body: unknown): Say =>
  response => {
    response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(body))
  }
export const taxed = (...rates: [string, string][]): Say =>
  json(200, { treatment: 'TAXED', rates: rates.map(([name, percentage]) => ({ name, percentage })) })

export const QUEBEC = {
  ...{ line1: '1 rue Notre-Dame', city: 'Montréal', postal_code: 'H2Y 1C6', state: 'QC', country: 'CA' },
}
export const WORKSHOP = {
  pricing_name: 'Workshop',
  pricing_type: 'FIXED',
  pricing_band: { amount: { quantity: '200', currency: 'EUR' } },
}

/** Of an invoice, what tax it has and why it waits. */
export const shown = ({ status, tax_summary, tax_categories, validation_result }: Row) => ({
  status,
  tax: tax_summary.tax_amount.quantity,
  rates: tax_categories.flatMap((category: Row) =>
    category['rates'].map((rate: Row) => `${rate['name']} ${rate['tax_amount'].quantity}`),
  ),
  errors: validation_result.filter((each: Row) => each['status'] === 'ERROR').map((each: Row) => each['details']),
})

/** The first invoice of a subscription. */
export const first = async (of: { invoices(): Promise<Row[]> }): Promise<Row> => {
  const [invoice] = await of.invoices()
  if (!invoice) throw new Error('it is billed')
  return invoice
}

type Started = { readonly api: ApiHarness; readonly engine: TaxEngine; readonly before: Instant }

/** Starts the server and the api before the tests of a file, and has every test begin with an engine that answers GST and QST. */
export function engineRig() {
  const usual = taxed(['GST', '5'], ['QST', '9.975'])
  const asked: Asked[] = []
  let says: Say = usual
  let started: Started | null = null
  const server = createServer((request, response) => {
    let text = ''
    request.on('data', piece => {
      text += piece
    })
    request.on('end', () => {
      asked.push({ authorization: request.headers.authorization, body: JSON.parse(text) })
      says(response)
    })
  })
  beforeAll(async () => {
    await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve))
    const host = `127.0.0.1:${(server.address() as AddressInfo).port}`
    const engine = httpTaxEngine({ TAX_ENGINE_URL: `http://${host}/tax`, TAX_ENGINE_SECRET: 'shared secret' })
    if (!engine) throw new Error('its address is set')
    const api = await startApi({ usage: NO_USAGE, taxEngine: engine })
    started = { api, engine, before: api.clock.now() }
  })
  beforeEach(() => {
    asked.length = 0
    says = usual
  })
  afterAll(async () => {
    started?.api.clock.set(started.before)
    await started?.api.close()
    server.closeAllConnections()
    server.close()
  })
  const here = (): Started => {
    if (started === null) throw new Error('the rig starts before the tests')
    return started
  }
  const tenant = (): TestTenant => here().api.tenants.aTest
  const work = (taxEngine: TaxEngine | null = here().engine) => {
    const deps = { database: here().api.database, usage: NO_USAGE, taxEngine }
    return {
      ...deps,
      producers: invoiceProducers(deps),
      system: { ...deps.database, clock: systemClock },
      logger: silentLogger,
    }
  }
  const run = (subscriptionId: string) => runBilling(work(), tenant().tenant, subscriptionId)
  /** A subscription with a fee of 100, of a billing entity in Canada that uses the engine. */
  const subscribed = async (
    start_at: string,
    provider: string | null = 'EXTERNAL',
    subscription: Record<string, unknown> = {},
    frozen_time?: string,
  ) => {
    const of = tenant()
    let clock: string | null = null
    const billed = await billedSubscription(of, { start_at, fee: '100', activate: false, subscription })
    const url = `/v1/pricing-plan-subscriptions/${billed.subscriptionId}`
    const { billing_entity_id } = await succeed(of, 'GET', url)
    await succeed(of, 'PATCH', `/v1/billing-entities/${billing_entity_id}`, {
      registered_address: { country: 'CA', state: 'ON' },
      tax_settings: { provider },
    })
    await succeed(of, 'PATCH', `/v1/customers/${billed.customerId}`, {
      organization: { legal_name: 'Acme', registered_address: QUEBEC },
    })
    if (frozen_time) {
      const customer_ids = [billed.customerId]
      clock = (await succeed(of, 'POST', '/v1/test-clocks', { frozen_time, customer_ids }))['id']
    }
    await succeed(of, 'PATCH', url, { status: 'ACTIVE' })
    const list = `/v1/invoices?pricing_plan_subscription_id=${billed.subscriptionId}&order_by=created_at&order_direction=asc`
    const invoices = async (): Promise<Row[]> => (await succeed(of, 'GET', list))['data']
    return { ...billed, clock, billing_entity_id, run: () => run(billed.subscriptionId), invoices }
  }
  return {
    /** What was asked in this test. */
    asked,
    get say(): Say {
      return says
    },
    set say(next: Say) {
      says = next
    },
    get api(): ApiHarness {
      return here().api
    },
    get engine(): TaxEngine {
      return here().engine
    },
    get tenant(): TestTenant {
      return tenant()
    },
    setTime: (text: string): void => here().api.clock.set(instantOf(Date.parse(text))),
    work,
    /** As the job of the tenant does. */
    ask: (taxEngine?: TaxEngine | null) =>
      processTaxQuestions(work(taxEngine), tenant().tenant, new AbortController().signal),
    run,
    subscribed,
  }
}
