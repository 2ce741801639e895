// What each scenario sends, next to nothing else: the same as the files of bench/k6, for where k6 is not.

export type ProbeEvent = {
  readonly reference: string
  readonly meter_reference: string
  readonly customer_reference: string
  readonly timestamp: string
  readonly meter_values: readonly { readonly reference: string; readonly number: string }[]
}
/** One run: its references, customers and times are its own. */
export type Run = { readonly name: string; readonly startMs: number }
export type Scenario = {
  /** Events of the next request. */
  readonly size: (random: () => number) => number
  /** Of a hundred events, those of one customer. */
  readonly hotPercent: number
  /** How often a request is sent again, at once, after it was accepted. */
  readonly repeats: (random: () => number) => number
  /** The share of the rate at a share of the time: 1 is the rate. */
  readonly load: (elapsed: number) => number
  /** Whether 429 is part of it; then it is sent again after Retry-After. */
  readonly overLimit: boolean
}

export const METER = 'k6_requests'
export const VALUE = 'k6_tokens'

const CUSTOMERS = 20
const DAY_MS = 86_400_000
const MIXED_SIZES = [1, 1, 1, 1, 2, 3, 5, 10, 20, 50] as const

const steady: Scenario = { size: () => 20, hotPercent: 0, repeats: () => 0, load: () => 1, overLimit: false }

export const SCENARIOS: Readonly<Record<string, Scenario>> = {
  steady,
  burst: {
    ...steady,
    size: () => 50,
    // A tenth, up to one and a half times the rate, and back: RATE is the platform's limit here.
    load: elapsed => (elapsed < 1 / 3 ? 0.1 + 2.7 * elapsed : elapsed < 2 / 3 ? 1.5 : 0.1),
    overLimit: true,
  },
  mixed: { ...steady, size: random => MIXED_SIZES[Math.floor(random() * MIXED_SIZES.length)] ?? 1 },
  'resend-storm': { ...steady, repeats: random => 1 + Math.floor(random() * 5) },
  'hot-customer': { ...steady, hotPercent: 90 },
}

const customerAt = (run: Run, place: number): string => `probe-${run.name}-${place}`
export const customersOf = (run: Run): string[] =>
  Array.from({ length: CUSTOMERS + 1 }, (_, place) => customerAt(run, place))
/** Every timestamp of a run lies in the seconds from the first to the last. */
export const timesOf = ({ startMs }: Run): { from: number; to: number } => ({
  from: Math.floor(startMs / 1000),
  to: Math.floor((startMs + DAY_MS) / 1000),
})

/** Makes new events for ever; no two share a reference. */
export function eventMaker(run: Run, { hotPercent }: Scenario, random: () => number): (count: number) => ProbeEvent[] {
  let made = 0
  return count =>
    Array.from({ length: count }, () => {
      made += 1
      const place = random() * 100 < hotPercent ? 0 : 1 + Math.floor(random() * CUSTOMERS)
      return {
        reference: `probe-${run.name}-${made}`,
        meter_reference: METER,
        customer_reference: customerAt(run, place),
        timestamp: new Date(run.startMs + Math.floor(random() * DAY_MS)).toISOString(),
        meter_values: [{ reference: VALUE, number: '1' }],
      }
    })
}
