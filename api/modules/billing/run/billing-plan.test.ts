import { expect, test } from 'vitest'
import { at, formatInstant, type Instant } from '../../../../shared/time.ts'
import type { InvoiceStatus } from '../../invoices/table.ts'
import { UNTOUCHED } from '../../invoices/table.ts'
import { chargesOf } from '../charges/charges.ts'
import { resolveTerms } from '../terms/price-terms.ts'
import { type InvoiceWindow, invoiceWindows } from '../terms/windows.ts'
import { eur, exampleInputs, exampleInvoices, metered, recurring } from '../testing/example-inputs.ts'
import { nextBilling, planBilling } from './billing-plan.ts'
import { openUntilOf } from './open-until.ts'
import { SUBSCRIPTION_BILLING, type SubscriptionInvoice } from './state/subscription-invoices.ts'

const items = [recurring('100', { billing_in_advance: true }), metered([{ amount: eur('1') }])]
const inputs = exampleInputs({ start: '2026-03-11T00:00:00Z', items })

/** Rows of the first invoices, in the given states. */
function rowsOf(...statuses: readonly InvoiceStatus[]): SubscriptionInvoice[] {
  return exampleInvoices(inputs, statuses.length).map(({ content: _content, advanceCharges, ...columns }, index) => ({
    ...columns,
    advance_charges: advanceCharges,
    producer: SUBSCRIPTION_BILLING,
    platform_id: 'p',
    environment: 'TEST',
    id: `invo_${index}`,
    created_at: columns.period_start,
    updated_at: columns.period_start,
    invoice_number: null,
    status: statuses[index] ?? 'OPEN',
    type: 'STANDARD',
    billing_type: 'DEFAULT',
    customer_id: 'cust_1',
    billing_entity_id: 'bill_1',
    pricing_plan_subscription_id: 'ppsu_1',
    on_hold: false,
    payment_status: 'UNPAID',
    ...UNTOUCHED,
    inputs_hash: '',
    finalize_at: statuses[index] === 'DRAFT' ? '2026-04-01T08:00:00Z' : null,
    updated_to_final_at: null,
    to_be_reprocessed_at: null,
  }))
}

function exampleWindows(count: number): InvoiceWindow[] {
  const found: InvoiceWindow[] = []
  for (const window of invoiceWindows(inputs)) if (found.push(window) >= count) break
  return found
}

const text = (instant: Instant | null): string | null => (instant === null ? null : formatInstant(instant))

test('nothing is planned before the start; then the advance invoice and the collecting one', () => {
  const before = planBilling(inputs, [], at('2026-03-10T23:59:59Z'))
  expect([before.keys, text(before.nextOpensAt)]).toEqual([[], '2026-03-11T00:00:00Z'])
  const started = planBilling(inputs, [], at('2026-03-11T00:00:00Z'))
  expect([started.keys.length, started.closes, text(started.nextOpensAt)]).toEqual([2, true, '2026-04-01T00:00:00Z'])
})

test('closed invoices are skipped; a period that ended makes the run wait for usage', () => {
  const rows = rowsOf('FINAL', 'OPEN')
  expect(planBilling(inputs, rows, at('2026-03-20T00:00:00Z'))).toMatchObject({ closes: false })
  const ended = planBilling(inputs, rows, at('2026-04-01T00:00:00Z'))
  expect([ended.keys.length, ended.closes]).toEqual([2, true])
})

test('one may become FINAL once its grace period is over, unless it is on hold', () => {
  const [before, over] = [at('2026-04-01T07:59:59Z'), at('2026-04-01T08:00:00Z')]
  const rows = rowsOf('FINAL', 'DRAFT')
  const issues = (now: Instant, more: object = {}): boolean =>
    planBilling(
      inputs,
      rows.map(row => ({ ...row, ...more })),
      now,
    ).issues
  expect([issues(before), issues(over), issues(over, { on_hold: true })]).toEqual([false, true, false])
})

test('an open invoice whose period the subscription no longer has is processed, to be voided', () => {
  const rows = rowsOf('FINAL', 'FINAL', 'OPEN')
  const cancelled = {
    ...inputs,
    subscription: { ...inputs.subscription, inactive_periods: [{ start_at: '2026-04-01T00:00:00Z' }] },
  }
  expect(planBilling(cancelled, rows, at('2026-04-01T00:00:00Z')).keys).toHaveLength(1)
})

test('invoices to open or close come before those that become FINAL, and these before those only computed again', () => {
  const rows = rowsOf('FINAL', 'DRAFT', 'DRAFT').map((row, index) =>
    index === 1 ? { ...row, on_hold: true, finalize_at: null } : row,
  )
  const plan = planBilling(inputs, rows, at('2026-06-15T00:00:00Z'))
  const starts = plan.keys.map(key => formatInstant(Number(key) as Instant).slice(0, 10))
  expect(starts).toEqual(['2026-05-01', '2026-06-01', '2026-04-01', '2026-03-11'])
  expect(plan.moving).toBe(2)
})

// semantics 4.4: what rises in a period that is paid ahead is billed on the next invoice.
test('what is charged ahead only later in the first period waits for the next invoice, as in later periods', () => {
  const now = at('2026-03-20T00:00:00Z')
  const [opening, first] = rowsOf('FINAL', 'OPEN')
  if (!opening || !first) throw new Error('two invoices')
  const isOpening = (key: string): boolean => key.endsWith(' advance')
  expect(planBilling(inputs, [], now).keys.filter(isOpening)).toHaveLength(1)
  expect(planBilling(inputs, [{ ...first, advance_charges: [] }], now).keys.filter(isOpening)).toEqual([])
  const [, collecting] = exampleWindows(2)
  if (!collecting) throw new Error('a period is collected')
  const later = chargesOf(resolveTerms(inputs), collecting, new Set()).filter(charge => charge.inAdvance)
  expect(later.map(({ service }) => formatInstant(service.start))).toEqual([
    '2026-03-11T00:00:00Z',
    '2026-04-01T00:00:00Z',
  ])
})

test('a subscription that does not bill has no plan', () => {
  const draft = { ...inputs, subscription: { ...inputs.subscription, status: 'DRAFT' } }
  expect(planBilling(draft, [], at('2026-05-01T00:00:00Z'))).toEqual({
    keys: [],
    moving: 0,
    closes: false,
    issues: false,
    nextOpensAt: null,
  })
})

test('the run comes back for the cut, the end of the grace, or within the hour for an OPEN invoice', () => {
  const now = at('2026-03-31T23:30:00Z')
  expect(text(nextBilling(rowsOf('FINAL', 'OPEN'), null, now, inputs))).toBe('2026-04-01T00:00:00Z')
  expect(text(nextBilling(rowsOf('FINAL', 'OPEN'), null, at('2026-03-15T00:00:00Z'), inputs))).toBe(
    '2026-03-15T01:00:00Z',
  )
  expect(text(nextBilling(rowsOf('FINAL', 'DRAFT'), null, now, inputs))).toBe('2026-04-01T08:00:00Z')
  expect(text(nextBilling(rowsOf('FINAL'), at('2026-05-01T00:00:00Z'), now, inputs))).toBe('2026-05-01T00:00:00Z')
  expect(nextBilling(rowsOf('FINAL', 'FINAL'), null, now, inputs)).toBeNull()
})

test('an extra open period keeps what collects OPEN, and delays its grace; what charges ahead alone is DRAFT at once', () => {
  const invoice_settings = { invoice_extra_open_period: { value: 2, type: 'DAY' as const } }
  const platform = { ...inputs.platform, invoice_settings }
  const later = { ...inputs, platform }
  const [ahead, march] = exampleWindows(2)
  if (!ahead || !march) throw new Error('there are two')
  expect([ahead, march].map(window => text(openUntilOf(later, window)))).toEqual([
    '2026-03-11T00:00:00Z',
    '2026-04-03T00:00:00Z',
  ])
  const rows = rowsOf('FINAL', 'OPEN')
  const plan = (now: string) => planBilling(later, rows, at(now))
  // The invoice of April is opened beside it.
  expect([plan('2026-04-02T23:59:59Z').moving, plan('2026-04-03T00:00:00Z').moving]).toEqual([1, 2])
  expect([plan('2026-04-03T07:59:59Z').issues, plan('2026-04-03T08:00:00Z').issues]).toEqual([false, true])
  const back = (now: string) => text(nextBilling(rows, null, at(now), { platform }))
  expect([back('2026-04-02T12:00:00Z'), back('2026-04-02T23:30:00Z')]).toEqual([
    '2026-04-02T13:00:00Z',
    '2026-04-03T00:00:00Z',
  ])
})
