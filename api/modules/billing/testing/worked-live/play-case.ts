// Plays a worked case in the time of a test clock, and shows its invoices.
import type { ClickHouseClient } from '../../../../../shared/usage/clickhouse.ts'
import { succeed } from '../../../../testing/calls.ts'
import type { TestTenant } from '../../../../testing/harness.ts'
import type { Row } from '../../../../testing/wire.ts'
import { termsOfCase } from './case-terms.ts'
import { type SoldCase, sellCase } from './sell-case.ts'
import { storeUnits } from './store-units.ts'
import { after, timeOf, type WorkedCase, type WorkedStep } from './worked-case.ts'

const ADDRESS = { country: 'NL', city: 'Utrecht' }
const SUBSCRIPTIONS = 'pricing-plan-subscriptions'
const SCHEDULES = 'pricing-plan-schedules'
type Seats = { readonly number: string; readonly start_at: string; end_at?: string }

/** The invoices of a case, one line each and one for each of their lines. */
export async function playCase(client: ClickHouseClient, tenant: TestTenant, of: WorkedCase): Promise<string[]> {
  const played = new Played(client, tenant, of)
  await played.begin()
  for (const step of of.steps) await played.step(step)
  return await played.shown()
}

class Played {
  private readonly client: ClickHouseClient
  private readonly tenant: TestTenant
  private readonly of: WorkedCase
  private sold: SoldCase | null = null
  private customer: Row = {}
  private entity = ''
  private clock = ''
  private subscription = ''
  private readonly schedules: string[] = []
  private seats: Seats[] = []
  constructor(client: ClickHouseClient, tenant: TestTenant, of: WorkedCase) {
    this.client = client
    this.tenant = tenant
    this.of = of
  }

  private post = (url: string, body: unknown = {}): Promise<Row> => succeed(this.tenant, 'POST', `/v1/${url}`, body)
  private get plans(): SoldCase {
    if (!this.sold) throw new Error('a case begins with what is sold')
    return this.sold
  }
  private version(plan: string): string {
    return this.plans.plans.get(plan)?.version ?? ''
  }

  async begin(): Promise<void> {
    const { tenant, of } = this
    const { seed } = tenant
    this.sold = await sellCase(tenant, of)
    const [start = ''] = of.start
    this.customer = await this.post('customers', {
      reference: seed.unique('acme'),
      type: 'ORGANIZATION',
      status: 'ACTIVE',
      timezone: after(of.start, 'zone') ?? 'UTC',
      organization: { legal_name: 'Acme', tax_id: 'NL1', registered_address: ADDRESS },
    })
    this.entity = (
      await this.post('billing-entities', {
        reference: seed.unique('main'),
        legal_name: 'Millrace',
        registered_address: ADDRESS,
      })
    )['id']
    const clock = { frozen_time: timeOf(start), customer_ids: [this.customer['reference']] }
    this.clock = (await this.post('test-clocks', clock))['id']
    await this.subscribe(after(of.start, 'on') ?? 'A', timeOf(after(of.start, 'since') ?? start))
  }

  private async subscribe(plan: string, start_at: string): Promise<void> {
    const { of } = this
    const [type, value] = (after(of.start, 'every') ?? 'MONTH-1').split('-')
    const currency = after(of.start, 'currency') ?? 'EUR'
    const { schedule, seats } = await termsOfCase(this.tenant, of, this.plans)
    const [trial, anchor] = [after(of.start, 'trial'), after(of.start, 'anchor')]
    this.seats = seats === null ? [] : [{ number: seats, start_at: trial === null ? start_at : timeOf(trial) }]
    const own = { pricing_plan_version_id: this.version(plan), pricing_currency: currency, ...schedule }
    const made = await this.post(`${SUBSCRIPTIONS}/init`, {
      pricing_plan_subscription: {
        customer_id: this.customer['id'],
        billing_entity_id: this.entity,
        billing_currency: currency,
        billing_period: { type, value: Number(value) },
        billing_time: of.start.includes('exact') ? 'EXACT' : 'CALENDAR',
        ...(anchor === null ? {} : { billing_anchor: timeOf(anchor) }),
        init_invoice_on_hold: of.start.includes('held'),
        combine: of.start.includes('combined'),
        status: 'ACTIVE',
      },
      pricing_plan_subscription_start_at: start_at,
      pricing_plan_schedules: [
        ...(trial === null
          ? []
          : [
              {
                type: 'TRIAL',
                pricing_plan_version_id: this.version(plan),
                pricing_currency: currency,
                end_at: timeOf(trial),
              },
            ]),
        { ...own, ...(this.seats.length > 0 ? { seats_values: this.seatsValues() } : {}) },
      ],
    })
    this.subscription = (made['pricing_plan_subscription'] ?? made)['id']
    this.schedules.push(...made['pricing_plan_schedules'].map(({ id }: Row) => id))
  }

  private seatsValues(): object[] {
    return this.seats.map(each => ({ pricing_item_config_id: this.plans.configs.get('A.seats'), ...each }))
  }

  private async advance(time: string): Promise<void> {
    for (;;) {
      const answer = await this.post(`test-clocks/${this.clock}/advance`, { frozen_time: timeOf(time) })
      if (answer['failures'].length > 0) throw new Error(JSON.stringify(answer['failures']))
      if (answer['complete']) return
    }
  }

  async step({ at, what, words }: WorkedStep): Promise<void> {
    await this.advance(at)
    const on = (verb: string, body: object) => this.post(`${SUBSCRIPTIONS}/${this.subscription}/${verb}`, body)
    const [first = ''] = words
    const last = this.schedules.at(-1) ?? ''
    switch (what) {
      case 'change': {
        const from = after(words, 'from')
        const [type, value] = after(words, 'every')?.split('-') ?? []
        const body = {
          pricing_plan_id: this.plans.plans.get(first)?.id,
          ...(type ? { billing_period: { type, value: Number(value) } } : {}),
          ...(from ? { start_at: timeOf(from) } : {}),
        }
        this.schedules.push((await on('change-plan', body))['id'])
        return
      }
      case 'cancel': {
        const type = { now: 'NOW', next: 'NEXT_BILLING_PERIOD' }[first]
        const when = type ? { type } : { type: 'DATE', cancel_at: timeOf(first) }
        await on('cancel', { ...when, refund_advance_charges: words.includes('credit') })
        return
      }
      case 'pause': {
        const [start = '', end = ''] = first.split('..')
        await on('pause', { start_at: timeOf(start), end_at: timeOf(end) })
        return
      }
      case 'use':
        await storeUnits(this.client, this.tenant, {
          customer: this.customer['reference'],
          meter: this.plans.meter,
          value: this.plans.value['reference'],
          quantity: first,
          time: timeOf(after(words, 'of') ?? at),
        })
        return
      case 'seats': {
        const time = timeOf(at)
        const running = this.seats.at(-1)
        if (running) running.end_at = time
        this.seats = [...this.seats, { number: first, start_at: time }]
        await succeed(this.tenant, 'PATCH', `/v1/${SCHEDULES}/${last}`, { seats_values: this.seatsValues() })
        return
      }
      case 'enable': {
        const [start = '', end = ''] = first.split('..')
        const entry = { pricing_id: this.plans.pricings.get('A+'), start_at: timeOf(start), end_at: timeOf(end) }
        await succeed(this.tenant, 'PATCH', `/v1/${SCHEDULES}/${last}`, { enabled_pricings: [entry] })
        return
      }
      case 'migrate': {
        const coupon_discount_behaviour = words.includes('carry') ? 'CARRY_OVER' : 'NONE'
        const body = { pricing_plan_version_id: this.version(first), start_at: timeOf(after(words, 'from') ?? at) }
        const { id } = await this.post(`${SCHEDULES}/${last}/migrate`, { ...body, coupon_discount_behaviour })
        await this.post(`${SCHEDULES}/${id}/activate`)
        this.schedules.push(id)
        return
      }
      case 'copy': {
        const { id } = await this.post(`${SCHEDULES}/${last}/copy`, { start_at: timeOf(first) })
        await this.post(`${SCHEDULES}/${id}/activate`)
        this.schedules.push(id)
        return
      }
      case 'move': {
        const organization = { registered_address: { country: first, city: 'Lyon' } }
        await succeed(this.tenant, 'PATCH', `/v1/customers/${this.customer['id']}`, { organization })
        return
      }
      case 'zone':
        await succeed(this.tenant, 'PATCH', `/v1/customers/${this.customer['id']}`, { timezone: first })
        return
      case 'begin': {
        const url = `/v1/${SCHEDULES}/${last}?set_previous_end_at=true`
        await succeed(this.tenant, 'PATCH', url, { start_at: timeOf(first) })
        return
      }
      case 'end-trial': {
        const url = `/v1/${SCHEDULES}/${this.schedules.at(-2)}?set_next_start_at=true`
        await succeed(this.tenant, 'PATCH', url, { end_at: timeOf(first) })
        return
      }
      case 'take-back':
        await succeed(this.tenant, 'DELETE', `/v1/${SCHEDULES}/${this.schedules.pop()}`)
        return
      case 'again':
        await this.subscribe(first, timeOf(at))
        return
      case 'end':
        return
      default:
        throw new Error(`${this.of.title}: ${what}`)
    }
  }

  async shown(): Promise<string[]> {
    const zone: string = this.customer['timezone']
    const format = new Intl.DateTimeFormat('en-CA', { timeZone: zone, dateStyle: 'short' })
    const day = (text: string): string => format.format(Date.parse(text))
    const { data } = await succeed(
      this.tenant,
      'GET',
      `/v1/invoices?customer_id=${this.customer['id']}&include_lines=true&limit=100`,
    )
    const made = (invoice: Row): string => invoice['updated_to_final_at'] ?? invoice['created_at']
    const order = (invoice: Row): string =>
      [made(invoice), invoice['invoice_date'], invoice['created_at'], invoice['invoice_number']].join(' ')
    const shown = (data as Row[]).filter(({ status }) => status === 'FINAL' || status === 'DRAFT')
    return shown
      .toSorted((a, b) => (order(a) < order(b) ? -1 : 1))
      .flatMap(invoice => [
        `= ${day(made(invoice))}${invoice['status'] === 'DRAFT' ? ' draft' : ''} ${invoice['invoice_amount_excluding_tax'].quantity} tax ${invoice['tax_summary'].tax_amount.quantity}`,
        ...((invoice['periods'] ?? []) as Row[]).flatMap(period =>
          (period['groups'] as Row[]).flatMap(group =>
            (group['lines'] as Row[]).map(
              line =>
                `- ${nameOf(line)} ${day(period['start_at'])}..${day(period['end_at'])} ${line['amount_excluding_tax'].quantity}`,
            ),
          ),
        ),
      ])
  }
}

function nameOf(line: Row): string {
  if (line['type'] === 'COMMITMENT') return 'minimum'
  if (line['type'] !== 'REVENUE') return line['type'].toLowerCase()
  const [name = '', refund] = (line['description'] as string).split(', ')
  return `${line['late_for_invoice_id'] ? 'late ' : ''}${refund ? 'credit ' : ''}${name}`
}
