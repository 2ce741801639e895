// Which invoices are issued together, when, and what the document of them says.
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { type Decimal, decimal, plain, sum, ZERO } from '../../../../../shared/decimal.ts'
import { AppError } from '../../../../../shared/errors.ts'
import { newId } from '../../../../../shared/ids.ts'
import { at, formatInstant, instantOf } from '../../../../../shared/time.ts'
import { NO_PAYERS } from '../../../invoices/funds.ts'
import type { Discount } from '../../../subscriptions/clauses/discount-schema.ts'
import { chargesOf } from '../../charges/charges.ts'
import type { InvoiceRequest } from '../../pricing/invoice-request.ts'
import { priceBeforeDocument, priceInvoice } from '../../pricing/price-invoice.ts'
import type { BillingInputs, SubscriptionInput } from '../../terms/billing-inputs.ts'
import { resolveTerms } from '../../terms/price-terms.ts'
import { type InvoiceWindow, invoiceWindows } from '../../terms/windows.ts'
import { type Example, eur, exampleInputs, metered, plainUsage, recurring } from '../../testing/example-inputs.ts'
import { anyPrice } from '../../testing/example-prices.ts'
import { usageNeeds } from '../../usage/usage-needs.ts'
import type { Target } from '../advance-invoices.ts'
import type { Outcome } from '../outcome.ts'
import { keyOfWindow, type SubscriptionInvoice } from '../subscription-invoices.ts'
import type { Issue } from './issue.ts'
import { issueTogether } from './issue-together.ts'
import { joinedKey, joinInvoices, type Part } from './join-invoices.ts'
import { combinedAt, combinedWith, together } from './match.ts'
import { chooseSets, leaveTogether } from './siblings.ts'

const START = '2026-03-01T00:00:00Z'
const wallet = (available: string) => ({
  walletId: 'wallet',
  walletTypeId: 'type',
  taxCategory: 'STANDARD' as const,
  currency: 'EUR',
  available: decimal(available),
})

type Sold = Partial<Example> & {
  readonly id: string
  readonly usage?: string
  readonly discount?: Discount
  readonly more?: Partial<InvoiceRequest>
}

/** A subscription that combines; what it sells has ids of its own. */
function inputsOf({ id, discount, subscription, ...example }: Sold): BillingInputs {
  return exampleInputs({
    start: START,
    items: [recurring('100')],
    ...example,
    schedules: [{ id: `schedule ${id}`, discount: discount ?? null }],
    subscription: { id, combine: true, ...subscription },
  })
}

const windowOf = (inputs: BillingInputs): InvoiceWindow => {
  for (const window of invoiceWindows(inputs)) if (window.arrears !== null) return window
  throw new Error('no window')
}

function requestOf(inputs: BillingInputs, { usage = '0', more = {} }: Sold): InvoiceRequest {
  const terms = resolveTerms(inputs)
  const window = windowOf(inputs)
  const billed = new Set<string>()
  const needs = usageNeeds(chargesOf(terms, window, billed))
  const counted = new Map(needs.map(need => [need.key, plainUsage(usage)]))
  return { terms, window, billed, usage: counted, finalizedAt: null, ...more }
}

function partOf(sold: Sold): Part {
  const inputs = inputsOf(sold)
  const priced = priceBeforeDocument(inputs, requestOf(inputs, sold))
  return { invoiceId: `invoice ${sold.id}`, subscriptionId: sold.id, priced }
}
const joined = (all: readonly [Sold, ...Sold[]], balances: Parameters<typeof joinInvoices>[1] = []) => {
  const [first, ...others] = all
  return joinInvoices([partOf(first), ...others.map(partOf)], balances)
}
/** Every line by the kind and what it is without tax; then the totals. */
function said({ columns, lines }: ReturnType<typeof joined>): string[] {
  const { amount_excluding_tax, tax_amount, amount_including_tax } = columns
  const each = lines.map(line => `${line.kind} ${plain(decimal(line.amount_excluding_tax))}`)
  return [...each, [amount_excluding_tax, tax_amount, amount_including_tax].join(' ')]
}

describe('a document of several', () => {
  test.each<[string, readonly [Sold, ...Sold[]], string[]]>([
    [
      'adds up the lines, and taxes their sum',
      [{ id: 'a' }, { id: 'b', items: [recurring('50')] }],
      ['REVENUE 100', 'REVENUE 50', '150 31.5 181.5'],
    ],
    [
      'rounds each line, and the tax once: three of 0.333 with 21 % of 0.99',
      [
        { id: 'a', items: [recurring('0.333')] },
        { id: 'b', items: [recurring('0.333')] },
        { id: 'c', items: [recurring('0.333')] },
      ],
      ['REVENUE 0.33', 'REVENUE 0.33', 'REVENUE 0.33', '0.99 0.21 1.2'],
    ],
    [
      'keeps the discounts of each to its own lines',
      [
        { id: 'a', discount: { totals: [{ percentage: '10' }] } },
        { id: 'b', items: [recurring('50')], discount: { totals: [{ amount: eur('15') }] } },
        { id: 'c', items: [recurring('7')] },
      ],
      ['REVENUE 100', 'REVENUE 50', 'REVENUE 7', 'DISCOUNT -10', 'DISCOUNT -15', '132 27.72 159.72'],
    ],
    [
      'has a line of the wallet for each that it pays',
      [
        { id: 'a', more: { wallets: [wallet('120')] } },
        { id: 'b', items: [recurring('50')], more: { wallets: [wallet('20')] } },
      ],
      ['REVENUE 100', 'REVENUE 50', 'WALLET -100', 'WALLET -20', '30 6.3 36.3'],
    ],
    [
      'with prices that include tax, keeps what each line says',
      [
        { id: 'a', amountType: 'INCLUDING_TAX', items: [recurring('121')] },
        { id: 'b', amountType: 'INCLUDING_TAX', items: [recurring('60.5')] },
      ],
      ['REVENUE 100', 'REVENUE 50', '150 31.5 181.5'],
    ],
    [
      'leaves out one that charges nothing',
      [{ id: 'a' }, { id: 'b', items: [metered([{ amount: eur('1') }])] }],
      ['REVENUE 100', '100 21 121'],
    ],
  ])('%s', (_title, all, expected) => {
    expect(said(joined(all))).toEqual(expected)
  })

  test('names its subscriptions and their invoices, and bills the whole time of them', () => {
    const { columns } = joined([{ id: 'a', start: '2026-03-11T00:00:00Z' }, { id: 'b' }])
    expect(columns.content).toMatchObject({
      pricing_plan_subscription_ids: ['a', 'b'],
      combined_invoice_ids: ['invoice a', 'invoice b'],
      billing_period: { type: 'MONTH', value: 1 },
    })
    expect([columns.period_start, columns.period_end, columns.cutoff_at]).toEqual([
      START,
      '2026-04-01T00:00:00Z',
      '2026-04-01T00:00:00Z',
    ])
    const quarter = { billing_period: { type: 'MONTH' as const, value: 3 } }
    const mixed = joined([{ id: 'a' }, { id: 'b', start: '2026-01-01T00:00:00Z', subscription: quarter }])
    expect(mixed.columns.content.billing_period).toBeUndefined()
    expect(mixed.columns.period_start).toBe('2026-01-01T00:00:00Z')
  })

  test('is paid after tax once, by what the wallet has', () => {
    const balances = [{ walletId: 'prepaid', walletTypeId: 'balance', currency: 'EUR', available: decimal('150') }]
    const { columns } = joined([{ id: 'a' }, { id: 'b', items: [recurring('50')] }], balances)
    expect(columns.content.wallet_balances).toEqual([
      {
        wallet_id: 'prepaid',
        used_balance: { amount: eur('150') },
        left_balance: { amount: eur('0') },
        available_balance: { amount: eur('150') },
      },
    ])
  })

  test('gives every line a key of its own, and charges keep theirs', () => {
    const discount: Discount = { totals: [{ percentage: '10' }] }
    const parts = [partOf({ id: 'a', discount }), partOf({ id: 'b', discount })] as const
    const keys = parts.flatMap(part => part.priced.draft.lines.map(({ key }) => joinedKey(part, key)))
    expect(new Set(keys).size).toBe(4)
    const charges = parts.flatMap(({ priced }) => priced.rated.map(({ charge }) => charge.key))
    expect(keys.filter(key => charges.includes(key))).toHaveLength(2)
  })

  test('whatever the prices: it has the lines of each, they add up, and tax differs by rounding alone', () => {
    const anySold = fc.record({
      items: fc.array(anyPrice, { minLength: 1, maxLength: 3 }),
      usage: fc.integer({ min: 0, max: 500 }),
    })
    const amountOf = (text: string): Decimal => decimal(text)
    fc.assert(
      fc.property(fc.array(anySold, { minLength: 1, maxLength: 4 }), sold => {
        const all = sold.map(({ items, usage }, index): Sold => ({ id: `s${index}`, items, usage: String(usage) }))
        const [first, ...others] = all
        if (!first) return
        const { columns, lines } = joined([first, ...others])
        const alone = all.map(each => {
          const inputs = inputsOf(each)
          return priceInvoice(inputs, requestOf(inputs, each))
        })
        const own = alone.flatMap(each => each.lines)
        expect(lines.map(line => line.line_id).sort()).toEqual(own.map(line => line.line_id).sort())
        expect(
          amountOf(columns.amount_excluding_tax).eq(
            sum([...own.map(line => decimal(line.amount_excluding_tax)), ZERO]),
          ),
        ).toBe(true)
        expect(amountOf(columns.amount_excluding_tax).plus(columns.tax_amount).eq(columns.amount_including_tax)).toBe(
          true,
        )
        const taxes = sum([...alone.map(each => decimal(each.columns.tax_amount)), ZERO])
        expect(
          taxes
            .minus(columns.tax_amount)
            .abs()
            .lte(decimal('0.005').times(String(all.length + 1))),
        ).toBe(true)
      }),
      { numRuns: 60 },
    )
  })
})

describe('invoices are issued together', () => {
  const own = inputsOf({ id: 'a' })
  const window = windowOf(own)
  const changed = (subscription: Partial<SubscriptionInput>): BillingInputs => inputsOf({ id: 'b', subscription })

  test('when customer, billing entity, currency, terms of payment and the end of the period are the same', () => {
    expect(combinedWith(own)).not.toBeNull()
    expect(combinedAt(inputsOf({ id: 'b', start: '2026-03-11T00:00:00Z' }), window)).toBe(combinedAt(own, window))
  })

  test.each<[string, BillingInputs]>([
    ['one does not combine', exampleInputs({ start: START, items: [] })],
    ['the currency differs', changed({ billing_currency: 'USD' })],
    ['the purchase order differs', changed({ purchase_order_number: 'PO-1' })],
    ['it is due at another time', changed({ due_date_configuration: { type: 'END_OF_THE_MONTH', period: null } })],
    ['it is paid in another way', changed({ payment_acceptor_ids: ['acceptor'] })],
    ['the sales tax differs', changed({ sales_tax_percentage: '8' })],
    ['one is self-billing', changed({ variant: 'SELF_BILLING' })],
    ['another customer is billed', { ...own, customer: { ...own.customer, id: 'other' } }],
    ['another customer uses it', { ...own, forwarded_from: { ...own.customer, id: 'other' } }],
    ['the billing entity differs', { ...own, billing_entity: { ...own.billing_entity, id: 'other' } }],
  ])('but not when %s', (_title, other) => {
    expect(combinedAt(other, window)).not.toBe(combinedAt(own, window))
  })

  test('but not when one ends its period at another moment, or only charges ahead', () => {
    expect(combinedAt(own, { ...window, cutoffAt: at('2026-03-16T00:00:00Z') })).not.toBe(combinedAt(own, window))
    expect(combinedAt(own, { ...window, arrears: null })).not.toBe(combinedAt(own, window))
  })
})

describe('they become FINAL together', () => {
  const NOW = at('2026-04-01T12:00:00Z')
  const row = (values: Partial<SubscriptionInvoice>): SubscriptionInvoice =>
    ({ period_start: START, advance_only: false, on_hold: false, created_at: START, ...values }) as SubscriptionInvoice
  const draft = (finalize_at: string | null, more: Partial<SubscriptionInvoice> = {}) =>
    row({ status: 'DRAFT', finalize_at, ...more })
  const open = row({ status: 'OPEN', finalize_at: null })

  /** When each of them may close, and whether it does now. */
  function decided(rows: readonly (SubscriptionInvoice | null)[], over: Partial<SubscriptionInput>[] = []) {
    const members = rows.map((own, index) => {
      const inputs = inputsOf({ id: `s${index}`, subscription: over[index] ?? {} })
      const window = windowOf(inputs)
      const target: Target = { key: keyOfWindow(window), window, closes: true }
      const state = { inputs, rows: own ? [own] : [] }
      return [`s${index}`, { state, targets: [target], truncated: false }] as const
    })
    return [...together(new Map(members), NOW).values()].flatMap(targets =>
      targets.map(({ closes, finalizeAt }) => [
        finalizeAt === undefined ? null : formatInstant(instantOf(finalizeAt)),
        closes,
      ]),
    )
  }

  test.each<[string, readonly (SubscriptionInvoice | null)[], readonly [string | null, boolean][]]>([
    [
      'both are due',
      [draft('2026-04-01T08:00:00Z'), draft('2026-04-01T11:00:00Z')],
      [
        ['2026-04-01T11:00:00Z', true],
        ['2026-04-01T11:00:00Z', true],
      ],
    ],
    [
      'one was made later: at its time',
      [draft('2026-04-01T08:00:00Z'), draft('2026-04-01T20:00:00Z')],
      [
        ['2026-04-01T20:00:00Z', false],
        ['2026-04-01T20:00:00Z', false],
      ],
    ],
    [
      'one is still OPEN: after the grace period of its end',
      [draft('2026-04-01T08:00:00Z'), open],
      [
        ['2026-04-01T08:00:00Z', true],
        ['2026-04-01T08:00:00Z', true],
      ],
    ],
    [
      'one is only made now: after a grace period from now',
      [draft('2026-04-01T08:00:00Z'), null],
      [
        ['2026-04-01T20:00:00Z', false],
        ['2026-04-01T20:00:00Z', false],
      ],
    ],
    [
      'one is on hold: none waits for it',
      [draft('2026-04-01T08:00:00Z'), draft(null, { on_hold: true })],
      [
        [null, true],
        [null, true],
      ],
    ],
    ['there is one alone', [draft('2026-04-01T08:00:00Z')], [[null, true]]],
  ])('%s', (_title, rows, expected) => {
    expect(decided(rows)).toEqual(expected)
  })

  test('one that is made on hold keeps no other waiting', () => {
    const rows = [draft('2026-04-01T08:00:00Z'), null]
    expect(decided(rows, [{}, { init_invoice_on_hold: true }])).toEqual([
      [null, true],
      [null, true],
    ])
  })

  test('one with more invoices than a run processes keeps the later ones of the others for the next run', () => {
    const inputs = [inputsOf({ id: 'a' }), inputsOf({ id: 'b' })] as const
    const windows: InvoiceWindow[] = []
    for (const window of invoiceWindows(inputs[0])) if (windows.push(window) >= 4) break
    const targetsOf = (count: number) =>
      windows.slice(0, count).map((window): Target => ({ key: keyOfWindow(window), window, closes: true }))
    const later = at('2026-08-01T00:00:00Z')
    const found = together(
      new Map([
        ['a', { state: { inputs: inputs[0], rows: [] }, targets: targetsOf(4), truncated: false }],
        ['b', { state: { inputs: inputs[1], rows: [] }, targets: targetsOf(3), truncated: true }],
      ]),
      later,
    )
    expect(
      found
        .get('a')
        ?.map(({ finalizeAt }) => finalizeAt !== undefined)
        .slice(-2),
    ).toEqual([true, false])
    expect(found.get('a')?.at(-1)?.closes).toBe(false)
  })
})

describe('in a run', () => {
  const states = (...ids: string[]) => ids.map(id => [id, { inputs: inputsOf({ id }) }] as const)

  const of = {
    tenant: { platformId: newId('plat'), environment: 'TEST' as const },
    now: at('2026-04-02T00:00:00Z'),
    purse: { payers: () => NO_PAYERS, take: () => {}, balanceOf: () => ZERO },
  }
  /** Its invoice, as a DRAFT and as FINAL. */
  function issueOf(inputs: BillingInputs, own_notes: string[] = []): Issue {
    const request = requestOf(inputs, { id: inputs.subscription.id })
    const { columns, lines } = priceInvoice(inputs, request)
    const ids = { id: `invoice ${inputs.subscription.id}`, customer_id: inputs.customer.id, billing_type: 'DEFAULT' }
    const row = { ...columns, ...ids, custom_fields: [], own_notes, usage_counted_until: null, inputs_hash: 'hash' }
    const pending = { row, stored: null, lines, notices: [] }
    return { inputs, request, draft: pending, final: pending } as unknown as Issue
  }
  const stepOf = (issue: Issue) => ({ inputs: issue.inputs, step: { issues: [issue], granted: false } })
  /** The same, billed to another customer. */
  const ofStranger = (inputs: BillingInputs): BillingInputs => ({
    ...inputs,
    customer: { ...inputs.customer, id: 'stranger' },
  })

  test('those that cannot be combined stay DRAFT, and keep no others waiting', () => {
    const [a, b, c, d] = ['a', 'b', 'c', 'd'].map(id => inputsOf({ id })) as [BillingInputs, ...BillingInputs[]]
    const broken = { ...issueOf(a), request: { ...issueOf(a).request, terms: null } } as unknown as Issue
    const sound = [c, d].map(inputs => stepOf(issueOf(ofStranger(inputs as BillingInputs))))
    const { waiting, faults, invoices, parts } = issueTogether(
      [stepOf(broken), stepOf(issueOf(b as BillingInputs)), ...sound],
      of,
    )
    expect([...waiting]).toEqual(['invoice a', 'invoice b'])
    expect([...faults.values()]).toEqual([expect.any(TypeError), expect.any(TypeError)])
    expect([...faults.keys()]).toEqual(['a', 'b'])
    expect(parts.get('invoice b')?.row.combined_into_id).toBeUndefined()
    expect(invoices.map(({ pending }) => pending.row.content.combined_invoice_ids)).toEqual([
      ['invoice c', 'invoice d'],
    ])
  })

  test.each<[string, string[][], string[], string[], string[]]>([
    [
      'all sets that it has one of',
      [
        ['a', 'b'],
        ['c', 'd'],
      ],
      ['a', 'c'],
      ['b', 'd'],
      [],
    ],
    [
      'only as many as it may, and leaves those of the other sets alone',
      [
        ['a', 'b', 'x'],
        ['c', 'd'],
      ],
      ['a', 'c'],
      ['b', 'x'],
      ['c'],
    ],
    [
      'a set that needs no more, whatever else it reads',
      [
        ['a', 'b', 'x'],
        ['c', 'd'],
      ],
      ['a', 'c', 'd'],
      ['b', 'x'],
      [],
    ],
    ['the first set, however large it is', [['a', 'b', 'x', 'y']], ['a'], ['b', 'x', 'y'], []],
  ])('reads %s', (_title, sets, own, others, alone) => {
    const chosen = chooseSets(sets, new Set(own), 2)
    expect([chosen.others, [...chosen.alone]]).toEqual([others, alone])
  })

  test('a note that several of them have is on the document once', () => {
    const all = [issueOf(inputsOf({ id: 'a' }), ['thanks', 'for a']), issueOf(inputsOf({ id: 'b' }), ['thanks'])]
    const { invoices } = issueTogether(all.map(stepOf), of)
    expect(invoices.map(({ pending }) => pending.row.own_notes)).toEqual([['thanks', 'for a']])
  })

  test('all wait for the next one where one has granted what invoices of it could not spend yet', () => {
    const [one, other] = [inputsOf({ id: 'a' }), inputsOf({ id: 'b' })]
    const stranger = ofStranger(one)
    const steps = [one, other, stranger].map(inputs => ({
      inputs,
      step: { issues: inputs === other ? [] : [issueOf(inputs)], granted: inputs === other },
    }))
    const { waiting, parts, invoices } = issueTogether(steps, of)
    expect([[...waiting], [...parts.keys()], invoices]).toEqual([['invoice a'], ['invoice a'], []])
  })

  const failed = (error: Error): Outcome => ({ kind: 'FAILED', error })
  test.each<[string, Outcome | null, string[]]>([
    ['one that another run holds keeps the others for later', { kind: 'ALONE' }, ['other']],
    ['one that changed has the others read again', null, ['other']],
    [
      'one that is refused keeps no other waiting',
      failed(new AppError('INVALID_OPERATION', 'no rate')),
      ['b', 'other'],
    ],
    ['one whose usage could not be read keeps the others for later', failed(new Error('connection reset')), ['other']],
    ['so does a service that was away', failed(new AppError('SERVICE_UNAVAILABLE', 'away')), ['other']],
  ])('%s', (_title, outcome, expected) => {
    const all = new Map(states('a', 'b'))
    const lone = { inputs: exampleInputs({ start: START, items: [] }) }
    const others = states('b').map(([id, state]) => [id, { ...state, rows: [] }] as const)
    const held = new Map([...others, ['other', lone] as const]) as unknown as Parameters<typeof leaveTogether>[1]
    const left = new Map([['a', outcome]])
    leaveTogether(all, held, left, instantOf(0))
    expect([...held.keys()]).toEqual(expected)
    expect(left.get('b')).toEqual(
      expected.includes('b') ? undefined : outcome && expect.objectContaining({ kind: 'ALONE' }),
    )
    if (outcome?.kind === 'FAILED' && !expected.includes('b'))
      expect(left.get('b')).toMatchObject({ waitsFor: { subscriptionId: 'a', error: outcome.error } })
  })

  test.each<[string, Outcome, boolean]>([
    ['2026-04-02T07:59:59Z', failed(new Error('broken')), false],
    ['2026-04-02T08:00:00Z', failed(new Error('broken')), true],
    ['2026-04-02T08:00:00Z', { kind: 'ALONE' }, false],
  ])('waits for one that cannot be billed for a day: at %s', (now, outcome, stays) => {
    // Late for long for another reason, it waits for this one since April.
    const rows = [{ status: 'DRAFT', finalize_at: '2026-03-01T08:00:00Z', combine_fault_at: '2026-04-01T08:00:00Z' }]
    const all = new Map(states('a', 'b'))
    const held = new Map(states('b').map(([id, state]) => [id, { ...state, rows }])) as unknown as Parameters<
      typeof leaveTogether
    >[1]
    leaveTogether(all, held, new Map([['a', outcome]]), at(now))
    expect(held.has('b')).toBe(stays)
  })
})
