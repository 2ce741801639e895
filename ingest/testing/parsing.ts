// What the tests of the parsing share: events with something changed, and what they are refused with.
import { goodEvent, parseText } from './samples.ts'

export const parseEvent = (changes: Record<string, unknown>) =>
  parseText(JSON.stringify({ ...goodEvent(), ...changes }))
export const single = (changes: Record<string, unknown> = {}) => {
  const parsed = parseEvent(changes)
  if (parsed.kind === 'reject') throw parsed.error
  return parsed.events[0]
}
export const refusal = (parsed: ReturnType<typeof parseText>) => {
  if (parsed.kind !== 'reject') throw new Error('it was not refused')
  return { status: parsed.error.status, code: parsed.error.code, field: parsed.error.details.field }
}
export const tokens = (entry: Record<string, unknown>) => ({ meter_values: [{ reference: 'tokens', ...entry }] })
export const cost = (amount: unknown) => ({
  meter_values: [
    { reference: 'tokens', number: '1' },
    { reference: 'cost', amount },
  ],
})
export const model = { reference: 'model', value: 'm' }

export const SELECTOR = 'pricing_plan_subscription_selector'
export const COUNTRY = 'BILLING_ENTITY_REGISTERED_ADDRESS_COUNTRY'
export const selecting = (selector: unknown) => ({ [SELECTOR]: selector })
export const country = (value: string) => ({ field: COUNTRY, value })
