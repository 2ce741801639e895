// A real hour of an LLM service, request by request, and what its customers must be charged for it, in whole cents and
// with no arithmetic of the product.
import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { PROJECT_ROOT } from '../../../infra/services/project.ts'

export type TraceRequest = {
  readonly reference: string
  readonly customer: CustomerName
  /** As in the file, with all its digits, as ISO 8601. */
  readonly timestamp: string
  readonly contextTokens: bigint
  readonly generatedTokens: bigint
}

// Of every seven requests the first customer makes four, the second two and the third one.
export const CUSTOMERS = ['trace-north', 'trace-south', 'trace-east'] as const
export type CustomerName = (typeof CUSTOMERS)[number]
const SHARES: readonly CustomerName[] = [
  'trace-north',
  'trace-north',
  'trace-south',
  'trace-north',
  'trace-east',
  'trace-south',
  'trace-north',
]

/** The Azure LLM inference trace of 2023 (code), as the project is given it beside the checkout. */
const FILE = join(PROJECT_ROOT, '..', 'shared', 'data', 'llm_inference_trace_code.csv')
/** Whether the real trace is there. A clone without it is tested with a made one of the same form, and says so. */
export const isReal = existsSync(FILE)
const LINE = /^(\d{4}-\d\d-\d\d) (\d\d:\d\d:\d\d\.\d{7}),(\d+),(\d+)$/

/** Every request of the trace. Throws at a line of another form: nothing is left out. */
export function readTrace(): TraceRequest[] {
  const [header, ...lines] = (isReal ? readFileSync(FILE, 'utf8') : madeTrace()).trim().split(/\r?\n/)
  if (header !== 'TIMESTAMP,ContextTokens,GeneratedTokens') throw new Error(`unknown columns ${header}`)
  return lines.map((line, index) => {
    const [, day, time, context = '', generated = ''] = LINE.exec(line) ?? []
    if (!day || !time) throw new Error(`line ${index + 2} is not a request: ${line}`)
    return {
      reference: `trace-${String(index).padStart(5, '0')}`,
      customer: SHARES[index % SHARES.length] ?? CUSTOMERS[0],
      timestamp: `${day}T${time}Z`,
      contextTokens: BigInt(context),
      generatedTokens: BigInt(generated),
    }
  })
}

/** A trace in the same form and of the same hour, from a fixed sequence, for where the real one is not. */
function madeTrace(): string {
  let state = 1
  const below = (bound: number): number => {
    state = (state * 48_271) % 2_147_483_647
    return state % bound
  }
  const lines = Array.from({ length: 3_000 }, (_, index) => {
    const at = new Date(Date.UTC(2023, 10, 16, 18, 0) + index * 1_100).toISOString()
    return `${at.slice(0, 10)} ${at.slice(11, 23)}0000,${1 + below(7_500)},${1 + below(900)}`
  })
  return ['TIMESTAMP,ContextTokens,GeneratedTokens', ...lines].join('\n')
}

/** Prices of 1,000 tokens, in hundredths of a cent, and the monthly fee in cents. */
export const CONTEXT_PRICE = 125n
export const GENERATED_PRICE = 375n
export const FEE_CENTS = 2_500n
const HUNDREDTHS_OF_CENT = 100n
const BLOCK = 1_000n

export type Expected = {
  readonly requests: number
  readonly contextTokens: bigint
  readonly generatedTokens: bigint
  readonly contextCents: bigint
  readonly generatedCents: bigint
  readonly netCents: bigint
  readonly taxCents: bigint
  readonly grossCents: bigint
}

/** a / b rounded half up, for what is not negative. */
const divideHalfUp = (a: bigint, b: bigint): bigint => (2n * a + b) / (2n * b)
const sum = (values: readonly bigint[]): bigint => values.reduce((total, value) => total + value, 0n)

/** What a customer's month comes to. Lines are rounded to the cent, tax is on their sum. */
export function expectedOf(requests: readonly TraceRequest[], taxPercentage: bigint): Expected {
  const contextTokens = sum(requests.map(request => request.contextTokens))
  const generatedTokens = sum(requests.map(request => request.generatedTokens))
  const contextCents = divideHalfUp(contextTokens * CONTEXT_PRICE, BLOCK * HUNDREDTHS_OF_CENT)
  const generatedCents = divideHalfUp(generatedTokens * GENERATED_PRICE, BLOCK * HUNDREDTHS_OF_CENT)
  const netCents = contextCents + generatedCents + FEE_CENTS
  const taxCents = divideHalfUp(netCents * taxPercentage, 100n)
  return {
    requests: requests.length,
    contextTokens,
    generatedTokens,
    contextCents,
    generatedCents,
    netCents,
    taxCents,
    grossCents: netCents + taxCents,
  }
}

/** Cents as money travels: `1234` is 12.34 EUR. */
export const euros = (cents: bigint): { quantity: string; currency: string } => ({
  quantity: `${cents / 100n}.${String(cents % 100n).padStart(2, '0')}`,
  currency: 'EUR',
})
