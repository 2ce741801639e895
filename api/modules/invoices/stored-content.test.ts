import { brotliDecompressSync } from 'node:zlib'
import { expect, test } from 'vitest'
import { exampleInputs, exampleInvoices, recurring } from '../billing/testing/example-inputs.ts'
import type { InvoiceContent } from './schema.ts'
import {
  contentOf,
  isSameContent,
  mayBePaidByWallets,
  storedContent,
  type TaxShares,
  withTaxShares,
} from './stored-content.ts'

function contentWith(lines: number): InvoiceContent {
  const items = Array.from({ length: lines }, () => recurring('10'))
  const [invoice] = exampleInvoices(exampleInputs({ start: '2026-01-01T00:00:00Z', items }), 1)
  return invoice?.content ?? expect.unreachable()
}
const asJson = <T>(value: T): T => JSON.parse(JSON.stringify(value))
const storedOf = (content: InvoiceContent) => JSON.parse(storedContent(content))
const others = (content: InvoiceContent): InvoiceContent => ({ ...content, notes: ['Another'] })
/** As if no tax were shown on any of them. */
const untaxed = (content: InvoiceContent): TaxShares =>
  content.periods.map(({ groups }) => ({
    tax_categories: [],
    groups: groups.map(({ lines }) => ({ tax_categories: [], lines: lines.map(() => []) })),
  }))

test.each<[string, InvoiceContent, 'object' | 'string']>([
  ['without lines', { ...contentWith(1), periods: [] }, 'object'],
  ['of one line', contentWith(1), 'string'],
  ['of forty lines', contentWith(40), 'string'],
])('content %s is read as it was stored', (_name, content, kind) => {
  const stored = storedOf(content)
  expect(typeof stored.periods).toBe(kind)
  expect(contentOf(stored)).toEqual(asJson(content))
})

test('what is packed is its JSON, and takes less than half of it', () => {
  const { periods } = contentWith(40)
  const { periods: packed } = storedOf({ ...contentWith(1), periods })
  expect(brotliDecompressSync(Buffer.from(packed, 'base64')).toString()).toBe(JSON.stringify(periods))
  expect(packed.length).toBeLessThan(JSON.stringify(periods).length / 2)
})

test('periods that were read are stored as they were, packed or not', () => {
  const content = contentWith(40)
  const packed = storedOf(content)
  // As another version of Brotli might have packed it: the same value, and another text.
  const text = { ...packed, periods: PACKED_EMPTY }
  expect(storedOf(others(contentOf(text))).periods).toBe(PACKED_EMPTY)
  // As the program wrote it before anything was packed.
  const whole = asJson(content)
  expect(storedOf(others(contentOf(whole)))).toEqual(others(whole))
})
const PACKED_EMPTY = 'iwCAW10D'

test('packed periods are unpacked when they are first read, and once', () => {
  const read = contentOf({ ...storedOf(contentWith(40)), periods: 'of no use' })
  expect(read.notes).toEqual([])
  expect(() => read.periods).toThrow()
  const whole = contentOf(storedOf(contentWith(40)))
  expect(whole.periods).toBe(whole.periods)
  expect({ ...whole }.periods).toBe(whole.periods)
})

/** Members of each object in the opposite order. */
const reversed = (value: unknown): unknown => {
  if (Array.isArray(value)) return value.map(reversed)
  if (typeof value !== 'object' || value === null) return value
  return Object.fromEntries(
    Object.entries(value)
      .reverse()
      .map(([name, member]) => [name, reversed(member)]),
  )
}
const doubled = ({ periods, ...content }: InvoiceContent): InvoiceContent => ({
  ...content,
  periods: [...periods, ...periods],
})

test.each<[string, (content: InvoiceContent) => InvoiceContent, boolean]>([
  ['the same', content => content, true],
  ['the same with members in another order', content => reversed(content) as InvoiceContent, true],
  ['another note', others, false],
  ['other periods', doubled, false],
  [
    'another digit of a line',
    content => JSON.parse(JSON.stringify(content).replaceAll('"10.00"', '"20.00"')) as InvoiceContent,
    false,
  ],
])('content that was computed is compared with what is stored: %s', (_name, change, isSame) => {
  for (const lines of [1, 40]) {
    const stored = storedOf(contentWith(lines))
    const computed = () => change(asJson(contentWith(lines)))
    const read = contentOf(stored)
    expect(isSameContent(computed(), read)).toBe(isSame)
    // Again, now that its periods may be known, and after they were read.
    expect(isSameContent(computed(), read)).toBe(isSame)
    expect(read).toEqual(contentOf(stored))
    expect(isSameContent(computed(), read)).toBe(isSame)
    const split = contentOf(storedOf({ ...read, periods: withTaxShares(read.periods, untaxed(read)) }))
    expect(isSameContent(computed(), split)).toBe(false)
  }
})

test('stored content that a run computed again is not unpacked, and is stored as it was', () => {
  const computed = asJson(contentWith(40))
  const read = contentOf(storedOf(computed))
  expect(isSameContent(computed, read)).toBe(true)
  expect(read.periods).toBe(computed.periods)
  expect(storedOf(read)).toEqual(storedOf(contentWith(40)))
  expect(storedOf(others(read)).periods).toBe(storedOf(contentWith(40)).periods)
})

test('content that is another is stored as it is', () => {
  const read = contentOf(storedOf(contentWith(40)))
  const other = doubled(contentWith(40))
  expect(isSameContent(other, read)).toBe(false)
  expect(contentOf(storedOf(other))).toEqual(asJson(other))
})

test('other shares of tax stand beside what is packed, and within what is not', () => {
  const content = contentWith(40)
  const packed = storedOf(content)
  const read = contentOf(packed)
  const split = { ...read, periods: withTaxShares(read.periods, untaxed(read)) }
  const stored = storedOf(split)
  expect(stored).toEqual({ ...packed, tax_shares: untaxed(content) })
  const again = contentOf(stored)
  expect(again).toEqual(split)
  expect(again.periods[0]?.groups[0]?.lines[0]?.tax_categories).toEqual([])
  // Read, changed otherwise, and stored once more.
  expect(storedOf(others(again))).toEqual(others(stored))
  const whole = contentOf(asJson(content))
  expect(storedOf({ ...whole, periods: withTaxShares(whole.periods, untaxed(whole)) })).toEqual(asJson(split))
})

test('shares of tax of periods that were never stored are packed with them', () => {
  const content = contentWith(40)
  const split = { ...content, periods: withTaxShares(content.periods, untaxed(content)) }
  const stored = storedOf(split)
  expect(stored).not.toHaveProperty('tax_shares')
  expect(contentOf(stored)).toEqual(asJson(split))
})

test('what is packed says whether credits paid usage, and a reader is not shown that', () => {
  const content = contentWith(40)
  const [period = expect.unreachable()] = content.periods
  const [group = expect.unreachable()] = period.groups
  const [line = expect.unreachable(), ...rest] = group.lines
  const paid = { ...line, details: { ...line.details, wallet_balances: [{}] } }
  const periods = asJson([{ ...period, groups: [{ ...group, lines: [...rest, paid] }] }]) as InvoiceContent['periods']
  expect(storedOf(content)).not.toHaveProperty('paid_by_credits')
  const stored = storedOf({ ...content, periods })
  expect(stored).toMatchObject({ paid_by_credits: true })
  expect(contentOf(stored)).not.toHaveProperty('paid_by_credits')
  // Known of what was read without unpacking it; of what is computed it is not.
  expect([content, contentOf(storedOf(content)), contentOf(stored)].map(mayBePaidByWallets)).toEqual([
    true,
    false,
    true,
  ])
})

test('a list reads it without periods', () => {
  const { periods: _periods, ...listed } = storedOf(contentWith(40))
  expect(contentOf(listed)).toEqual(listed)
})
