// CREDIT_AND_REBILL: a correction bills the late usage of an invoice, unless the invoice charged nothing or was combined:
// then the next invoice does. Both can happen within one pricing period, and nothing of it is billed twice.
import { describe, expect, test } from 'vitest'
import { decimal, plain, sum } from '../../../../shared/decimal.ts'
import { at } from '../../../../shared/time.ts'
import type { Charge } from '../charges/charge.ts'
import { chargesOf } from '../charges/charges.ts'
import { priceInvoice } from '../pricing/price-invoice.ts'
import { resolveTerms } from '../terms/price-terms.ts'
import { invoiceWindows } from '../terms/windows.ts'
import { linesIn } from '../testing/example-closing.ts'
import { type ExampleItem, eur, exampleInputs, metered, plainUsage } from '../testing/example-inputs.ts'
import { usageNeeds } from '../usage/usage-needs.ts'
import type { ClosedUsage } from './closed-usage.ts'
import { type LateUnit, lateCharge, lateUnits, termOf } from './late-usage.ts'
import { forNextInvoice } from './later-invoices.ts'

function* take<T>(all: Iterable<T>, count: number): Generator<T> {
  let left = count
  for (const each of all) {
    if (left-- <= 0) return
    yield each
  }
}

describe('CREDIT_AND_REBILL: late usage of a part of a pricing period', () => {
  const DAYS = { april: 5, may: 35, june: 65 } as const
  type Month = keyof typeof DAYS
  const MONTHS: readonly Month[] = ['april', 'may', 'june']
  type Used = Readonly<Record<Month, string>>
  /**
   * A quarter that is billed by month. Its first months are closed with the usage of `then`, each late bill with the
   * usage of one of `now`; `nothing`: the months whose invoices are not credited. Returns what each late bill charges,
   * by the first month of its lines.
   */
  const lateBills = (item: ExampleItem, then: Used, of: { nothing: readonly string[]; now: readonly Used[] }) => {
    const quarter = { pricing_period: MONTHS_3, billing_period: { type: 'MONTH' as const, value: 1 } }
    const inputs = exampleInputs({
      start: '2026-04-01T00:00:00Z',
      items: [{ ...item, config: { ...item.config, ...quarter } }],
    })
    const terms = resolveTerms(inputs)
    const closed: ClosedUsage[] = []
    const nothing = new Set(of.nothing)
    const start = at('2026-04-01T00:00:00Z')
    const read = (used: Used, charges: readonly Charge[]) =>
      new Map(
        usageNeeds(charges).map(({ key, interval }) => {
          const own = MONTHS.filter(month => {
            const time = start + DAYS[month] * 86_400_000
            return interval.start <= time && time < interval.end
          })
          return [key, plainUsage(plain(sum(own.map(month => decimal(used[month])))), own.length)]
        }),
      )
    const all = { subscription_id: 's', positions: [], customer_keys: [], names_hash: null }
    const windows = [...take(invoiceWindows(inputs), 9)].filter(({ arrears }) => arrears !== null)
    const bill = (index: number, used: Used, units: readonly LateUnit[]) => {
      const window = windows[index] ?? expect.fail('there is a window')
      const late = units.map(unit => {
        const term = termOf(terms, unit) ?? expect.fail('it has its price')
        return lateCharge(term, unit, `invoice${index}`)
      })
      const charges = [...chargesOf(terms, window, new Set()), ...late.map(({ charge }) => charge)]
      return priceInvoice(inputs, {
        ...{ terms, window, billed: new Set<string>(), usage: read(used, charges) },
        ...{ late, finalizedAt: null },
      })
    }
    for (const [index, month] of MONTHS.entries()) {
      const { counted } = bill(index, then, [])
      closed.push({ ...all, invoice_id: month, charges: counted })
    }
    return of.now.map((used, place) => {
      const units = lateUnits(forNextInvoice(closed, nothing))
      const priced = bill(3 + place, used, units)
      closed.push({ ...all, invoice_id: `late${place}`, charges: priced.counted })
      nothing.add(`late${place}`)
      return linesIn(priced)
        .filter(line => line.late_for_invoice_id)
        .map(line => `${line.late_for_invoice_id} ${line.meter_value?.number} ${line.amount_excluding_tax.quantity}`)
    })
  }
  const MONTHS_3 = { type: 'MONTH' as const, value: 3 }
  const tiered = (...bands: ExampleItem['bands']) => metered(bands, { pricing_type: 'TIERED' })
  const plainly = tiered({ amount: eur('1') })
  const stepped = tiered({ amount: eur('1'), tier_top_bound: { number: '150' } }, { amount: eur('0.5') })
  const used = (april: string, may: string, june: string): Used => ({ april, may, june })

  test.each<[string, ExampleItem, Used, { nothing: readonly string[]; now: readonly Used[] }, string[][]]>([
    [
      'one late unit in May costs 1, after April was issued by itself for 100',
      plainly,
      used('100', '10', '0'),
      { nothing: ['may'], now: [used('100', '11', '0')] },
      [['may 1 1.00']],
    ],
    [
      'the same where May had no usage and charged nothing',
      plainly,
      used('100', '0', '0'),
      { nothing: ['may', 'june'], now: [used('100', '1', '0')] },
      [['may 1 1.00']],
    ],
    [
      'it is billed once, whatever was late before',
      plainly,
      used('100', '10', '0'),
      { nothing: ['may'], now: [used('100', '11', '0'), used('100', '13', '0'), used('100', '13', '0')] },
      [['may 1 1.00'], ['may 2 2.00'], []],
    ],
    [
      'the same where every month was combined',
      plainly,
      used('100', '10', '5'),
      { nothing: MONTHS, now: [used('100', '11', '5'), used('101', '13', '5')] },
      [['april 1 1.00'], ['april 3 3.00']],
    ],
    [
      'late usage of April is left to the correction of its invoice',
      plainly,
      used('100', '10', '0'),
      { nothing: ['may'], now: [used('105', '10', '0'), used('105', '11', '0')] },
      [[], ['may 1 1.00']],
    ],
    [
      // April cost 100, and May 50 + 25; with 10 more in April, May costs 40 + 30.
      'a month gives back what late usage of an earlier month makes cheaper, as a correction of it would',
      stepped,
      used('100', '100', '0'),
      { nothing: ['may'], now: [used('110', '100', '0')] },
      [['may 0 -5.00']],
    ],
    [
      'less usage gives nothing back',
      stepped,
      used('100', '100', '0'),
      { nothing: ['may'], now: [used('100', '90', '0')] },
      [[]],
    ],
    [
      // 100 + 60 in the first tier of 150: April 100, May 50 + 5; June 50 × 0.50.
      'months apart are billed apart',
      stepped,
      used('100', '60', '50'),
      { nothing: ['april', 'june'], now: [used('110', '60', '52')] },
      [['april 10 10.00', 'june 2 1.00']],
    ],
  ])('%s', (_, item, then, of, expected) => {
    expect(lateBills(item, then, of)).toEqual(expected)
  })
})
