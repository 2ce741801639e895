// `npm run build`, then `node dist/bench/invoice-lines/main.js [lines]`: an invoice of many lines, rated and laid out as the document
// that is stored (not written as text), in processor time. Ten thousand lines must take less than a second, and at most two and a half
// times what half of them take: code that is quadratic in lines takes four times as much.
import { chargesOf } from '../../api/modules/billing/charges/charges.ts'
import { priceInvoice } from '../../api/modules/billing/pricing/price-invoice.ts'
import type { BillingInputs } from '../../api/modules/billing/terms/billing-inputs.ts'
import { resolveTerms } from '../../api/modules/billing/terms/price-terms.ts'
import { invoiceWindows } from '../../api/modules/billing/terms/windows.ts'
import { eur, exampleInputs, metered } from '../../api/modules/billing/testing/example-inputs.ts'
import { usageNeeds } from '../../api/modules/billing/usage/usage-needs.ts'
import { decimalOfInteger } from '../../shared/decimal.ts'

const LINES = Number(process.argv[2] ?? 10_000)
const RUNS = 5
const MS_MAX = 1_000
const DOUBLED_MAX = 2.5

/** Three tiers, so that most lines have sub lines; each price meters usage of its own. */
const inputsOf = (lines: number): BillingInputs =>
  exampleInputs({
    start: '2026-01-01T00:00:00Z',
    items: Array.from({ length: lines }, (_, index) => {
      const { item, ...price } = metered(
        [
          { amount: eur('0.10'), tier_top_bound: { number: '100' } },
          { amount: eur('0.08'), tier_top_bound: { number: '1000' } },
          { amount: eur('0.05') },
        ],
        { pricing_type: 'TIERED' },
      )
      return { ...price, item: { ...item, meter_value_calculation_id: `calc${index}` } }
    }),
    inputs: {
      calculations: Array.from({ length: lines }, (_, index) => ({
        id: `calc${index}`,
        reference: `tokens_${index}`,
        calculation_type: 'SUM' as const,
        persist: false,
        meter_reference: 'inference',
        value_reference: 'tokens',
        value_type: 'NUMBER' as const,
        property_reference: null,
        property_type: null,
      })),
    },
  })

const firstTwo = <T>(all: Iterator<T>): (T | undefined)[] =>
  [all.next(), all.next()].map(each => (each.done ? undefined : each.value))

/** Processor milliseconds of one invoice from its inputs and usage to the document. */
function once(inputs: BillingInputs, lines: number): number {
  const begun = process.cpuUsage()
  const terms = resolveTerms(inputs)
  // The first is of what is charged ahead, at the start; usage is on the second.
  const [, window] = firstTwo(invoiceWindows(inputs))
  if (!window) throw new Error('a subscription has an invoice')
  const billed = new Set<string>()
  const usage = new Map(
    usageNeeds(chargesOf(terms, window, billed)).map((need, index) => [
      need.key,
      [{ currency: null, number: decimalOfInteger(1 + ((index * 37) % 3_000)), count: 1 }],
    ]),
  )
  const invoice = priceInvoice(inputs, { terms, window, billed, usage, finalizedAt: null })
  if (invoice.lines.length !== lines) throw new Error(`the document has ${invoice.lines.length} lines`)
  const { user, system } = process.cpuUsage(begun)
  return (user + system) / 1_000
}

function median(lines: number): number {
  const inputs = inputsOf(lines)
  const times = Array.from({ length: RUNS }, () => once(inputs, lines))
  const middle = times.toSorted((a, b) => a - b)[Math.floor(RUNS / 2)] ?? 0
  console.log(
    `${lines} lines: ${times.map(ms => ms.toFixed(0)).join(', ')} ms of processor time, median ${middle.toFixed(0)} ms`,
  )
  return middle
}

median(Math.ceil(LINES / 10)) // until the code is compiled
const half = median(Math.ceil(LINES / 2))
const whole = median(LINES)
console.log(`twice the lines take ${(whole / half).toFixed(1)} times as much`)
if (whole > MS_MAX || whole > half * DOUBLED_MAX) {
  console.error(`more than ${MS_MAX} ms, or than ${DOUBLED_MAX} times half of the lines`)
  process.exitCode = 1
}
