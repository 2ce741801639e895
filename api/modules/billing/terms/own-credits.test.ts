// Prices in credits of a schedule, and who sells the credits: its plan or its own prices (semantics 4.3; contract: Wallet rules).
import { describe, expect, test } from 'vitest'
import {
  type ExampleItem,
  eur,
  exampleInputs,
  exampleInvoices,
  linesOf,
  metered,
  plainUsage,
} from '../testing/example-inputs.ts'
import type { UsageNeed } from '../usage/usage-needs.ts'

const JANUARY = '2026-01-01T00:00:00Z'
const QUARTER = { billing_period: { type: 'MONTH', value: 3 } } as const
const MONTHS_OF_A_QUARTER = { ...QUARTER, pricing_period: { type: 'MONTH', value: 1 } } as const

/** 0.05 for each credit that wallets lack. */
const selling = (config: object): ExampleItem => ({
  item: { model_type: 'CREDITS', credits: { credit_type_id: 'ctyp' } },
  config: { pricing_type: 'FLAT', ...config },
  bands: [{ amount: eur('0.05') }],
})
/** A credit a call. */
const CALLS = metered([{ credits: { quantity: '1', credit_type_id: 'ctyp' } }])

/** Which of the two is a price of the schedule; the plan has the other. */
type Own = 'nothing' | 'the seller' | 'the usage'

/** What the first invoice charges of 100 calls a month. */
function charged(config: object, own: Own, plan: 'a plan' | 'a rate card'): string[] {
  const given = exampleInputs({ start: JANUARY, items: [selling(config), CALLS] })
  const isOwn = (index: number): boolean => own === (index === 0 ? 'the seller' : 'the usage')
  const pricings = given.pricings.flatMap(all =>
    ['version', 'own'].map(version => ({
      ...all,
      id: `of-${version}`,
      pricing_plan_version_id: version,
      items: all.items.filter((_item, index) => isOwn(index) === (version === 'own')),
    })),
  )
  const card = { rate_card: [{ pricing_plan_version_id: 'version', start_at: JANUARY }] }
  const schedules = given.schedules.map(schedule => ({
    ...schedule,
    own_version_id: 'own',
    ...(plan === 'a plan' ? {} : card),
  }))
  const usage = ({ interval: { start, end } }: UsageNeed) =>
    plainUsage(String(100 * Math.round((end - start) / (30 * 86_400_000))))
  const [first] = exampleInvoices({ ...given, pricings, schedules }, 1, usage)
  return linesOf(first).toSorted()
}

describe('credits that wallets lack are all charged', () => {
  const months = ['2026-01-01..2026-02-01', '2026-02-01..2026-03-01', '2026-03-01..2026-04-01']
  test.each([
    ['in one', QUARTER, ['2026-01-01..2026-04-01 0.00', '2026-01-01..2026-04-01 15.00']],
    ['month by month', MONTHS_OF_A_QUARTER, months.flatMap(time => [`${time} 0.00`, `${time} 5.00`])],
  ] as const)('by the quarter %s, whether the plan sells them or the schedule', (_name, config, expected) => {
    for (const own of ['nothing', 'the seller', 'the usage'] as const)
      for (const plan of ['a plan', 'a rate card'] as const) expect(charged(config, own, plan)).toEqual(expected)
  })
})
