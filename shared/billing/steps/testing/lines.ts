// Lines and clauses for tests: defaults for everything that a test does not set.
import { type Decimal, decimal, plain } from '../../../decimal.ts'
import { interval, parseInstant } from '../../../time.ts'
import { computeAmounts, type InvoiceAmounts } from '../../amount-pipeline.ts'
import { zoneOf } from '../../local-days.ts'
import { taxAtRate } from '../../tax/tax.ts'
import { amountLines, applyClauses } from '../apply-clauses.ts'
import { type Change, type Clauses, type Commitment, type Discount, type Markup, NO_CLAUSES } from '../clauses.ts'
import type { Line, LinePeriod, Scope } from '../line.ts'
import type { StepContext } from '../step.ts'

const at = (text: string) => {
  const instant = parseInstant(`${text}T00:00:00Z`)
  if (instant === null) throw new Error(`no date: ${text}`)
  return instant
}

/** From the first day to the day after the last. */
export const span = (from: string, to: string) => interval(at(from), at(to))
export const since = (from: string) => ({ start: at(from), end: null })
export const MARCH: LinePeriod = { service: span('2026-03-01', '2026-04-01'), full: span('2026-03-01', '2026-04-01') }
const UTC = zoneOf('UTC')
if (UTC === null) throw new Error('UTC is a zone')

export const context: StepContext = {
  currency: 'EUR',
  amountType: 'EXCLUDING_TAX',
  rounding: 'DEFAULT',
  tax: taxAtRate('VAT', '21'),
  zone: UTC,
  pauses: [],
  invoicePeriod: MARCH,
}

const SCOPE: Scope = {
  subscriptionId: 'ppsu_1',
  scheduleId: 'ppsc_1',
  pricingId: 'pric_1',
  itemId: 'prii_1',
  configId: 'pico_1',
  productItemId: 'proi_1',
  productId: 'prod_1',
  categoryId: 'proc_1',
}

export const line = (
  key: string,
  exact: string,
  given: Partial<Omit<Line, 'of'>> & { of?: Partial<Scope> } = {},
): Line => ({
  kind: 'REVENUE',
  taxCategory: 'STANDARD',
  because: [],
  period: MARCH,
  inAdvance: false,
  late: false,
  applicableForClauses: null,
  volume: null,
  ...given,
  key,
  exact: decimal(exact),
  of: { ...SCOPE, ...given.of },
})

export const percent = (text: string): Change => ({ kind: 'PERCENTAGE', percentage: decimal(text) })
export const off = (text: string): Change => ({ kind: 'AMOUNT', amount: decimal(text) })

const CLAUSE = { scheduleId: null, during: null, of: null } as const
export const markup = (id: string, value: Change, given: Partial<Markup> = {}): Markup => ({
  ...CLAUSE,
  of: { level: 'CONFIG', ids: ['pico_1'] },
  ...given,
  id,
  value,
})
export const discount = (id: string, value: Change, given: Partial<Discount> = {}): Discount => ({
  ...CLAUSE,
  condition: null,
  coupon: null,
  ...given,
  id,
  value,
})
export const commitment = (id: string, amount: string, given: Partial<Commitment> = {}): Commitment => ({
  ...CLAUSE,
  inAdvance: false,
  isOfOnePrice: true,
  value: { kind: 'AMOUNT', amount: decimal(amount) },
  ...given,
  id,
})

export type Applied = { readonly lines: readonly Line[]; readonly amounts: InvoiceAmounts }

/** The lines after every step, and the invoice they make. */
export function invoiceOf(
  lines: readonly Line[],
  clauses: Partial<Clauses> = {},
  given: Partial<StepContext> = {},
): Applied {
  const all = { ...context, ...given }
  const after = applyClauses(lines, { ...NO_CLAUSES, ...clauses }, all)
  const amounts = computeAmounts({ ...all, sign: 'INVOICE', lines: amountLines(after) })
  return { lines: after, amounts }
}

const text = (value: Decimal): string => plain(value)

/** The lines that steps made: kind, clause and amount. */
export const made = ({ lines }: Applied): string[] =>
  lines
    .filter(({ kind, because }) => kind !== 'REVENUE' && because.length > 0)
    .map(({ kind, because, exact, taxCategory }) =>
      [kind, because[0]?.clauseId, text(exact), ...(taxCategory === 'STANDARD' ? [] : [taxCategory])].join(' '),
    )

/** Net, tax and gross of the invoice. */
export const totals = ({ amounts: { totals: of } }: Applied): string =>
  [of.base, of.tax, of.total].map(({ quantity }) => text(quantity)).join(' ')
