// Invoices whose state was persisted, compared with invoices that derive it from every event.
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { decimal, plain, sum } from '../../../../shared/decimal.ts'
import { at, formatInstant, instantOf } from '../../../../shared/time.ts'
import type { NamedCustomer } from '../../invoices/document/parties.ts'
import type { LineView } from '../../invoices/schema.ts'
import type { BillingInputs, CalculationInput } from '../terms/billing-inputs.ts'
import { type Arrival, closeInTurn, linesIn, quantityOf } from '../testing/example-closing.ts'
import { type ExampleItem, eur, exampleInputs, metered } from '../testing/example-inputs.ts'
import { anyPrice, anyTiers } from '../testing/example-prices.ts'

const START = '2026-03-01T00:00:00Z'
const APRIL = 31
const DAY_MS = 86_400_000
const FLAT = metered([{ amount: eur('1') }])
const INVOICES = 4

type Persisted = { readonly day: number; readonly usage: string; readonly schedule?: string }
type Options = {
  readonly item?: ExampleItem
  readonly type?: CalculationInput['calculation_type']
  readonly persisted?: readonly Persisted[]
  readonly schedules?: BillingInputs['schedules']
  readonly shared?: boolean
  readonly money?: boolean
}

const named = (id: string): NamedCustomer => ({
  id,
  reference: null,
  type: 'ORGANIZATION',
  individual: null,
  organization: { legal_name: id },
})

function inputsOf({
  item = FLAT,
  type = 'SUM',
  persisted = [],
  schedules,
  shared = false,
  money = false,
}: Options): BillingInputs {
  const inputs = exampleInputs({ start: START, items: [item], ...(schedules ? { schedules } : {}) })
  return {
    ...inputs,
    subscription: { ...inputs.subscription, display_invoice_sub_lines_per_processing_only_customer: shared },
    sub_line_customers: ['alpha', 'beta', 'customer'].map(named),
    calculations: inputs.calculations.map(each => ({
      ...each,
      calculation_type: type,
      persist: true,
      value_type: money ? ('AMOUNT' as const) : each.value_type,
    })),
    persisted_usages: persisted.map(({ day, usage, schedule = 'schedule0' }, index) => ({
      id: `persisted${index}`,
      schedule_id: schedule,
      config_id: 'config0',
      start_at: formatInstant(instantOf(at(START) + day * DAY_MS)),
      persist_usage: usage,
    })),
  }
}

const of = (day: number, quantity: string, more: Partial<Arrival> = {}): Arrival => ({
  day,
  quantity,
  after: 0,
  ...more,
})
const numberOf = (line: LineView | undefined) => line?.meter_value?.number ?? line?.meter_value?.amount?.quantity ?? '0'
/** What each of the first invoices counts, in its only line. */
const counted = (options: Options, arrivals: readonly Arrival[], invoices = INVOICES): string[] =>
  closeInTurn(inputsOf(options), arrivals, invoices).map(invoice => numberOf(linesIn(invoice)[0]))
const printed = (inputs: BillingInputs, arrivals: readonly Arrival[]): string[] =>
  closeInTurn(inputs, arrivals, INVOICES).map(({ columns }) => columns.amount_excluding_tax)

describe('what is counted', () => {
  const arrivals = [of(3, '5'), of(APRIL + 1, '2'), of(APRIL + 31, '-1')]

  test.each<[string, Options, string[]]>([
    ['nothing persisted', {}, ['5', '7', '6', '6']],
    ['persisted at the start', { persisted: [{ day: 0, usage: '37' }] }, ['42', '44', '43', '43']],
    [
      'persisted inside March: earlier usage of March counts nowhere',
      { persisted: [{ day: 4, usage: '37' }] },
      ['37', '39', '38', '38'],
    ],
    [
      'persisted at the cut: March does not change',
      { persisted: [{ day: APRIL, usage: '37' }] },
      ['5', '39', '38', '38'],
    ],
    [
      'persisted twice',
      {
        persisted: [
          { day: 4, usage: '37' },
          { day: APRIL + 2, usage: '10' },
        ],
      },
      ['37', '10', '9', '9'],
    ],
    ['MAX', { type: 'MAX', persisted: [{ day: APRIL, usage: '1' }] }, ['5', '2', '2', '2']],
    ['MAX without events since', { type: 'MAX', persisted: [{ day: 80, usage: '-4' }] }, ['5', '5', '-4', '-4']],
    ['MIN', { type: 'MIN', persisted: [{ day: APRIL, usage: '37' }] }, ['5', '2', '-1', '-1']],
    ['money', { money: true, persisted: [{ day: APRIL, usage: '37.5' }] }, ['5', '39.5', '38.5', '38.5']],
  ])('%s', (_, options, expected) => {
    expect(counted(options, arrivals)).toEqual(expected)
  })

  test('a new schedule starts from nothing, even with the same price', () => {
    const [first] = inputsOf({}).schedules
    if (!first) throw new Error('there is a schedule')
    const schedules = [
      { ...first, end_at: '2026-05-01T00:00:00Z' },
      { ...first, id: 'schedule1', start_at: '2026-05-01T00:00:00Z' },
    ]
    expect(counted({ schedules, persisted: [{ day: APRIL, usage: '37' }] }, arrivals)).toEqual(['5', '39', '-1', '-1'])
    // Persisted for the first schedule, which has since been ended before that moment.
    expect(counted({ schedules, persisted: [{ day: 65, usage: '37' }] }, arrivals)).toEqual(['5', '7', '-1', '-1'])
  })

  test('the line shows the persisted state, its record, and from when usage is added to it', () => {
    const [, april] = closeInTurn(inputsOf({ persisted: [{ day: APRIL, usage: '37' }] }), arrivals, 2)
    const [line] = april ? linesIn(april) : []
    expect(line?.meter_value).toMatchObject({ number: '39', count: '1' })
    expect(line?.details).toMatchObject({
      description: '39 × 1 EUR, counted on from 37 at 2026-04-01T00:00:00Z',
      persisted_usage: {
        persist_data_id: 'persisted0',
        start_at: '2026-04-01T00:00:00Z',
        meter_value: { number: '37' },
      },
    })
  })

  test('metered money: the line shows the currency, and a price per event applies to events since the state', () => {
    const item = metered([{ percentage: '10', amount: eur('0.25') }])
    const [march] = closeInTurn(
      inputsOf({ item, money: true, persisted: [{ day: 1, usage: '37.5' }] }),
      [of(0, '9'), of(2, '-7.5')],
      1,
    )
    const [line] = march ? linesIn(march) : []
    expect(line?.details).toMatchObject({
      description: '10 % of 30 EUR + 1 events × 0.25 EUR, counted on from 37.5 EUR at 2026-03-02T00:00:00Z',
      persisted_usage: { meter_value: { amount: eur('37.5') } },
    })
  })

  test('usage of March that comes late is on the next invoice, and in no state after it', () => {
    const late = [...arrivals, of(10, '100', { after: 1 }), of(APRIL + 3, '1000', { after: 2 })]
    const invoices = closeInTurn(inputsOf({ persisted: [{ day: APRIL, usage: '37' }] }), late, INVOICES)
    expect(invoices.map(invoice => linesIn(invoice).map(numberOf))).toEqual([
      ['5'],
      ['100', '39'],
      ['1000', '1038'],
      ['1038'],
    ])
    expect(invoices.map(({ columns }) => columns.amount_excluding_tax)).toEqual(['5', '139', '2038', '1038'])
  })
})

const arrival = (days: number) =>
  fc.record({
    day: fc.integer({ min: 0, max: days }),
    quantity: fc.integer({ min: 1, max: 9_999 }).map(units => plain(decimal(String(units)).div(decimal('100')))),
    after: fc.integer({ min: 0, max: INVOICES - 1 }),
  })
const arrivalsOver = (days: number) => fc.array(arrival(days), { minLength: 1, maxLength: 10 })
const inTime = (arrivals: readonly Arrival[]): Arrival[] => arrivals.map(each => ({ ...each, after: 0 }))
const quarterly = anyTiers.map(bands =>
  metered(bands, { pricing_type: 'TIERED', pricing_period: { type: 'MONTH', value: 3 } }),
)

describe('whatever the price', () => {
  test('a state that equals the result of the events before it gives the same invoices, even within a pricing period', () => {
    const item = fc.oneof(anyPrice, quarterly)
    const type = fc.constantFrom('SUM' as const, 'MAX' as const, 'MIN' as const)
    fc.assert(
      fc.property(item, type, arrivalsOver(110), fc.integer({ min: 0, max: 110 }), (price, calculation, given, day) => {
        const arrivals = inTime(given)
        const before = arrivals.filter(each => each.day < day)
        if (before.length === 0) return
        const persisted = [{ day, usage: plain(quantityOf(calculation, before)) }]
        const options = { item: price, type: calculation }
        expect(printed(inputsOf({ ...options, persisted }), arrivals)).toEqual(printed(inputsOf(options), arrivals))
      }),
      { numRuns: 120 },
    )
  })

  test('all invoices together, with late usage before and after the moment, bill what invoices in time bill', () => {
    fc.assert(
      fc.property(anyPrice, arrivalsOver(60), fc.constantFrom(0, 12, APRIL, APRIL + 9), (item, arrivals, day) => {
        const inputs = inputsOf({ item, persisted: [{ day, usage: '37' }] })
        const asked = (given: readonly Arrival[]) => plain(sum(printed(inputs, given).map(decimal)))
        expect(asked(arrivals)).toBe(asked(inTime(arrivals)))
      }),
      { numRuns: 120 },
    )
  })

  test('the same within a pricing period that spans several invoices, within a cent for each', () => {
    fc.assert(
      fc.property(quarterly, arrivalsOver(91), fc.constantFrom(0, 40, APRIL, 70), (item, arrivals, day) => {
        const inputs = inputsOf({ item, persisted: [{ day, usage: '37' }] })
        const asked = (given: readonly Arrival[]) => sum(printed(inputs, given).map(decimal))
        expect(
          asked(arrivals)
            .minus(asked(inTime(arrivals)))
            .abs()
            .lte(decimal('0.04')),
        ).toBe(true)
      }),
      { numRuns: 120 },
    )
  })

  test('sub lines sum to their line, and the state belongs to the own customer', () => {
    const whose = fc.constantFrom('alpha', 'beta', 'customer')
    const shared = fc.array(
      fc.tuple(arrival(110), whose).map(([each, customerId]) => ({ ...each, customerId })),
      { maxLength: 8 },
    )
    const usage = fc.integer({ min: -20, max: 60 }).map(String)
    fc.assert(
      fc.property(
        fc.oneof(anyPrice, quarterly),
        shared,
        usage,
        fc.integer({ min: 0, max: 90 }),
        (item, arrivals, persisted, day) => {
          const inputs = inputsOf({ item, shared: true, persisted: [{ day, usage: persisted }] })
          for (const line of closeInTurn(inputs, arrivals, INVOICES).flatMap(linesIn)) {
            const parts = (line.sub_lines ?? []).map(sub => decimal(sub.details.amount.quantity))
            if (line.details.persisted_usage) expect(line.sub_lines?.[0]?.processing_only_customer_id).toBe('customer')
            if (parts.length > 0) expect(plain(sum(parts))).toBe(plain(decimal(line.amount_excluding_tax.quantity)))
          }
        },
      ),
      { numRuns: 80 },
    )
  })

  test('a persisted state without events stays with the own customer, even when negative', () => {
    const inputs = inputsOf({ shared: true, type: 'MAX', persisted: [{ day: 0, usage: '-4' }] })
    const [march] = closeInTurn(inputs, [of(2, '1', { customerId: 'alpha' })], 1)
    const [line] = march ? linesIn(march) : []
    // One is below zero, so the shares go by events, and the persisted state counts as one event.
    expect(line?.sub_lines?.map(({ details }) => [details.meter_value?.number, details.amount.quantity])).toEqual([
      ['-4', '0.50'],
      ['1', '0.50'],
    ])
  })

  test('37 persisted seats and one more of another customer: 37 and 1 of 38', () => {
    const inputs = inputsOf({ shared: true, persisted: [{ day: 0, usage: '37' }] })
    const [march] = closeInTurn(inputs, [of(2, '1', { customerId: 'alpha' })], 1)
    const [line] = march ? linesIn(march) : []
    expect(
      line?.sub_lines?.map(({ processing_only_customer_id, details }) => [
        processing_only_customer_id,
        details.meter_value?.number,
        details.meter_value?.count,
        details.amount.quantity,
      ]),
    ).toEqual([
      ['customer', '37', '0', '37.00'],
      ['alpha', '1', '1', '1.00'],
    ])
  })
})
