// A sample of usage as an LLM service sends it: requests with context and generated tokens. Seeded, so one month always
// gives the same events, and a second start sends only repeats.

export type SampleEvent = {
  readonly reference: string
  readonly customer: string
  readonly timestamp: string
  readonly contextTokens: number
  readonly generatedTokens: number
  readonly model: (typeof MODELS)[number]
}

export const MODELS = ['small', 'large'] as const
/** Each takes about half as many requests as the one before it, as customers do. */
export const CUSTOMERS = ['acme-robotics', 'blue-harbour', 'cobalt-labs', 'delta-media'] as const
export const BATCH_SIZE = 50

const REQUESTS = 3_000
const SEED = 20_231_116
const DAY_MS = 86_400_000

/** mulberry32: small, and the same numbers on every machine. Not for secrets. */
function randomFrom(seed: number): () => number {
  let state = seed
  return () => {
    state = (state + 0x6d2b79f5) | 0
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state)
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296
  }
}

/** Token counts are spread log-normally: many short requests, a few very long ones. */
function tokens(random: () => number, median: number, spread: number, most: number): number {
  const normal = Math.sqrt(-2 * Math.log(1 - random())) * Math.cos(2 * Math.PI * random())
  return Math.max(1, Math.min(most, Math.round(median * Math.exp(spread * normal))))
}

function pickCustomer(random: () => number): (typeof CUSTOMERS)[number] {
  const last = CUSTOMERS.length - 1
  return CUSTOMERS[Math.min(last, Math.floor(-Math.log2(1 - random())))] ?? CUSTOMERS[0]
}

/** The sample of the month that starts at `monthStartMs` (UTC), in the order of time, all within its first 28 days. */
export function sampleOfMonth(monthStartMs: number): SampleEvent[] {
  const random = randomFrom(SEED)
  const month = new Date(monthStartMs).toISOString().slice(0, 7)
  return Array.from({ length: REQUESTS }, (_, index) => ({
    reference: `demo-${month}-${String(index).padStart(5, '0')}`,
    customer: pickCustomer(random),
    timestamp: new Date(monthStartMs + Math.floor(((index + random()) / REQUESTS) * 28 * DAY_MS)).toISOString(),
    contextTokens: tokens(random, 1_500, 1.1, 128_000),
    generatedTokens: tokens(random, 60, 1.3, 8_000),
    model: random() < 0.7 ? 'small' : 'large',
  }))
}

/** The events in batches of at most `size`, in order. */
export function batchesOf<T>(items: readonly T[], size: number): T[][] {
  return Array.from({ length: Math.ceil(items.length / size) }, (_, i) => items.slice(i * size, (i + 1) * size))
}
