// The corpus of invoices: each still says what it said when the corpus was made. After an intended change of invoices,
// run this file with `-u` and name every altered line of the corpus in the commit.
import { createHash } from 'node:crypto'
import { expect, test } from 'vitest'
import { invoiceCorpus } from './invoice-corpus.ts'

/** The members of every object in one order, so that only values count. */
const canonical = (value: unknown, indent = 0): string =>
  JSON.stringify(
    value,
    (_name, member: unknown) =>
      typeof member === 'object' && member !== null && !Array.isArray(member)
        ? Object.fromEntries(Object.entries(member).sort(([a], [b]) => (a < b ? -1 : 1)))
        : member,
    indent,
  )

const corpus = invoiceCorpus()

test('there are 300 invoices, of every price model, and few of them are refusals', () => {
  expect(corpus.length).toBeGreaterThan(280)
  for (const word of ['FIXED/', 'FLAT/', 'TIERED/', 'TOP_TIERED/', 'STAIR_STEP/', 'sub lines', 'two schedules'])
    expect(corpus.filter(({ name }) => name.includes(word)).length, word).toBeGreaterThan(20)
  const texts = corpus.map(({ invoice }) => canonical(invoice))
  expect(texts.filter(text => text.includes('"refused"')).length).toBeLessThan(20)
  expect(texts.filter(text => text.includes('late_for_invoice_id')).length).toBeGreaterThan(30)
  expect(texts.filter(text => text.includes('previously_billed')).length).toBeGreaterThan(40)
  expect(texts.filter(text => text.includes('persist_data_id')).length).toBeGreaterThan(10)
})

test('every invoice of the corpus says what it said, byte for byte', async () => {
  const lines = corpus.map(({ name, invoice }) => {
    const hash = createHash('sha256').update(canonical(invoice)).digest('hex')
    return `${hash} ${name}`
  })
  await expect(`${lines.join('\n')}\n`).toMatchFileSnapshot('invoice-corpus.txt')
})

test('and a few of them in full', async () => {
  const few = corpus.filter((_, index) => index % 80 === 7)
  await expect(`${canonical(few, 2)}\n`).toMatchFileSnapshot('invoice-corpus-in-full.txt')
})
