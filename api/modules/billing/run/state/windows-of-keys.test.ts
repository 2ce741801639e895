import { expect, test } from 'vitest'
import { at, type Instant, instantOf } from '../../../../../shared/time.ts'
import { invoiceWindows } from '../../terms/windows.ts'
import { exampleInputs, recurring } from '../../testing/example-inputs.ts'
import { keyOfWindow, windowsOfKeys } from './subscription-invoices.ts'

const inputs = exampleInputs({
  start: '2026-03-01T00:00:00Z',
  items: [recurring('1', { billing_in_advance: true })],
  subscription: { billing_period: { type: 'DAY', value: 1 } },
})

/** The cutoffs of the windows that are found, and how many windows were looked at. */
function search(keys: readonly string[]): { readonly cutoffs: Instant[]; readonly seen: number } {
  let seen = 0
  function* counted() {
    for (const window of invoiceWindows(inputs)) {
      seen += 1
      yield window
    }
  }
  const found = windowsOfKeys(counted(), keys)
  for (const [key, window] of found) expect(keyOfWindow(window)).toBe(key)
  return { cutoffs: [...found.values()].map(({ cutoffAt }) => cutoffAt), seen }
}

test('an opening invoice and the one that collects its period are two', () => {
  const start = at('2026-03-01T00:00:00Z')
  expect(search([`${start} advance`, String(start)]).cutoffs).toEqual([start, at('2026-03-02T00:00:00Z')])
})

test('the search for a period that is gone ends where it was', () => {
  const gone = instantOf(at('2026-03-10T00:00:00Z') + 3_600_000)
  const { cutoffs, seen } = search([String(gone), String(at('2026-03-05T00:00:00Z'))])
  expect(cutoffs).toEqual([at('2026-03-06T00:00:00Z')])
  expect(seen).toBeLessThan(15)
})
