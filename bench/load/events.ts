// The events the benchmark sends: requests to a language model, as the demo meters them.

export const METER_REFERENCE = 'llm_requests'
export const VALUE_REFERENCES = ['context_tokens', 'generated_tokens'] as const
export const PROPERTY_REFERENCE = 'model'

/** Digits of a reference that the generator overwrites, so that no two events of a run are the same. */
export const COUNTER_DIGITS = 12
const COUNTER = '0'.repeat(COUNTER_DIGITS)

/** The minute of all events, where a run names no other. */
const MINUTE = '2026-01-16T18:17'

const event = (run: string, place: number, minute: string) => ({
  reference: `req-${run}-${COUNTER}`,
  meter_reference: METER_REFERENCE,
  customer_reference: `customer-${place % 7}`,
  timestamp: `${minute}:${String(place % 60).padStart(2, '0')}.979Z`,
  meter_values: [
    { reference: VALUE_REFERENCES[0], number: String(4808 + place) },
    { reference: VALUE_REFERENCES[1], number: String(10 + place) },
  ],
  meter_properties: [{ reference: PROPERTY_REFERENCE, value: 'code-1' }],
})

/** The body of a request with `events` events of one minute, such as 2026-01-16T18:17; of one event it is the bare event. */
export function requestBody(run: string, events: number, minute = MINUTE): string {
  const list = Array.from({ length: events }, (_, place) => event(run, place, minute))
  return JSON.stringify(events === 1 ? list[0] : list)
}

/** Where in `text` the counters stand that make references unique. */
export function counterPlaces(text: string, run: string): number[] {
  const mark = `req-${run}-`
  const places: number[] = []
  for (let at = text.indexOf(mark); at >= 0; at = text.indexOf(mark, at + 1)) places.push(at + mark.length)
  return places
}
