// The receipts that prove which events an invoice counted.
import { createHash } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest'
import { succeed } from '../../../api/modules/billing/testing/billed-subscription.ts'
import { getReceipt, makeReceipts, type ReceiptDeps } from '../../../api/modules/billing/why/receipt/receipts.ts'
import type { TestTenant } from '../../../api/testing/harness.ts'
import type { Row } from '../../../api/testing/wire.ts'
import { idOf } from '../../../shared/ids.ts'
import { at, interval } from '../../../shared/time.ts'
import { closedMarch } from './closed-march.ts'
import { type EventsRig, openEventsRig, START, tokensOf } from './rig.ts'

let rig: EventsRig
let tenant: TestTenant
beforeAll(async () => {
  rig = await openEventsRig()
  tenant = rig.tenant
})
afterAll(() => rig?.close())

const get = (invoice: Row, path: string) => succeed(tenant, 'GET', `/v1/invoices/${invoice['id']}/${path}`)

/** Makes all that are missing, as the job does. Returns why some could not be made. */
async function makeAll(deps: ReceiptDeps = rig.billing): Promise<unknown[]> {
  const failures: unknown[] = []
  for (let after = ''; ; ) {
    const made = await makeReceipts(deps, tenant.tenant, { after })
    failures.push(...made.failures)
    if (made.last === null) return failures
    after = made.last
  }
}

/** The program of docs/why.md. */
const program = (): ((receipt: unknown) => boolean) => {
  const [, code = ''] = /```js\n([\s\S]*?)```/.exec(readFileSync('docs/why.md', 'utf8')) ?? []
  const body = code.replace(/^import .*$/m, '').replace('export ', '')
  expect(body.trim().split('\n').length).toBeLessThanOrEqual(30)
  return new Function('createHash', `${body}; return isInReceipt`)(createHash)
}

const sha256 = (...parts: readonly Buffer[]): Buffer => createHash('sha256').update(Buffer.concat(parts)).digest()

/** The root over the events of the line of usage, by the definition of RFC 9162, 2.1.1. */
async function rootOfLine(invoice: Row): Promise<string> {
  const lines: Row[] = invoice['periods'].flatMap((period: Row) =>
    period['groups'].flatMap((group: Row) => group['lines']),
  )
  const metered = lines.find(({ meter_value }) => meter_value !== undefined)
  const { data } = await get(invoice, `lines/${metered?.['id']}/events?limit=100`)
  const leaves = (data as Row[])
    .map(({ reference, content_hash }) => ({
      place: sha256(Buffer.from(reference)).toString('hex'),
      leaf: sha256(Buffer.of(0), Buffer.from(content_hash, 'hex'), Buffer.from(reference)),
    }))
    .sort((a, b) => (a.place < b.place ? -1 : 1))
    .map(({ leaf }) => leaf)
  const root = (list: readonly Buffer[]): Buffer => {
    const [only] = list
    if (!only) return sha256()
    if (list.length === 1) return only
    let half = 1
    while (half * 2 < list.length) half *= 2
    return sha256(Buffer.of(1), root(list.slice(0, half)), root(list.slice(half)))
  }
  return root(leaves).toString('hex')
}

describe('a receipt', () => {
  test('proves of every event of the invoice that it is in it, by the program that the docs show', async () => {
    const { invoice, references, of } = await closedMarch(rig, ['1', '2', '3', '4', '5', '6', '7'])
    expect(await makeAll()).toEqual([])
    const isInReceipt = program()
    const receipts = await Promise.all(references.map(reference => get(invoice, `receipt?reference=${reference}`)))
    expect(receipts.map(isInReceipt)).toEqual(references.map(() => true))
    const [receipt] = receipts as [Row]
    expect([receipt['number_of_events'], receipt['root']]).toEqual([7, await rootOfLine(invoice)])
    const index = (receipt['proof'].index + 1) % references.length
    for (const wrong of [{ reference: 'another' }, { content_hash: '0'.repeat(16) }, { index }, { hashes: [] }])
      expect(isInReceipt({ ...receipt, proof: { ...receipt['proof'], ...wrong } }), JSON.stringify(wrong)).toBe(false)
    const other = await tenant.call('GET', `/v1/invoices/${invoice['id']}/receipt?reference=another`)
    expect(other).toMatchObject({ status: 404, body: { code: 'RESOURCE_NOT_FOUND', field: 'reference' } })
    // What happens to events afterwards changes nothing of it.
    const [first = ''] = references
    await succeed(tenant, 'POST', `/v1/events/${first}/delete`)
    await rig.send({ ...tokensOf(of, rig.reference()), quantity: '99' })
    expect(await get(invoice, `receipt?reference=${first}`)).toEqual(receipt)
  })

  test('that was not made yet is made when it is read, once', async () => {
    const { invoice } = await closedMarch(rig, ['1', '2'])
    const [one, other] = await Promise.all([get(invoice, 'receipt'), get(invoice, 'receipt')])
    expect(one).toMatchObject({ number_of_events: 2 })
    expect(other).toEqual(one)
    expect(await makeAll()).toEqual([])
    expect(await get(invoice, 'receipt')).toEqual(one)
  })

  test('of an invoice without usage has no event', async () => {
    const { invoice } = await closedMarch(rig, [])
    expect(await get(invoice, 'receipt')).toMatchObject({ number_of_events: 0 })
  })

  test('has only the events of its own invoice, whatever is made with it', async () => {
    const first = await closedMarch(rig, ['1', '2', '3'])
    const second = await closedMarch(rig, ['4', '5'])
    const third = await closedMarch(rig, ['6', '7'], {}, ['reference-é-"\\', 'reference-\u{1F600}'])
    expect(await makeAll()).toEqual([])
    for (const [each, events] of [
      [first, 3],
      [second, 2],
      [third, 2],
    ] as const) {
      const receipt = await get(each.invoice, 'receipt')
      expect(receipt).toMatchObject({ number_of_events: events, root: await rootOfLine(each.invoice) })
    }
  })

  test('that cannot be made keeps no other from being made', async () => {
    const [broken, whole] = [await closedMarch(rig, ['1']), await closedMarch(rig, ['2'])]
    const fault = new Error('unreadable')
    const usage: ReceiptDeps['usage'] = {
      ...rig.billing.usage,
      receiptEntries: (of, query) => {
        if (query.customerKeys.includes(broken.of.customerId)) throw fault
        return rig.billing.usage.receiptEntries(of, query)
      },
    }
    expect(await makeAll({ ...rig.billing, usage })).toEqual([fault])
    const rows = await rig.api.sql(
      'select invoice_id as id from pinned_inputs where has_receipt and invoice_id = any($1)',
      [[broken.invoice['id'], whole.invoice['id']]],
    )
    expect(rows.map(row => row['id'])).toEqual([whole.invoice['id']])
    expect(await makeAll()).toEqual([])
  })

  test('whose events cannot be read in time is refused, and made by the job', async () => {
    const { invoice } = await closedMarch(rig, ['1', '2'])
    let now = performance.now()
    // Other code reads the time as well, so each reading is later than the one before.
    const clock = vi.spyOn(performance, 'now').mockImplementation(() => {
      now += 21_000
      return now
    })
    const asked = { tenant: tenant.tenant, id: idOf('invo', invoice['id']), reference: undefined }
    await expect(getReceipt(rig.billing, asked)).rejects.toMatchObject({ code: 'SERVICE_UNAVAILABLE' })
    clock.mockRestore()
    expect(await makeAll()).toEqual([])
    expect(await getReceipt(rig.billing, asked)).toMatchObject({ number_of_events: 2 })
  })
})

const hashOf = (reference: string): Buffer => sha256(Buffer.from(reference))

function referenceWith(isWanted: (reference: string) => boolean): string {
  for (;;) {
    const reference = rig.reference()
    if (isWanted(reference)) return reference
  }
}

test('entries that are read a slice at a time are those that are read at once, in their order', async () => {
  const quantities = Array.from({ length: 40 }, (_, place) => String(place + 1))
  // Hashes with a zero at their end, and at the end of what decides on their slice, where text would end.
  const ofZero = (byte: number) => (reference: string) => hashOf(reference)[byte] === 0
  const given = quantities.map((_, place) =>
    referenceWith(place % 3 === 1 ? ofZero(31) : place % 3 === 2 ? ofZero(3) : () => true),
  )
  const { of, references } = await closedMarch(rig, quantities, {}, given)
  const [deleted = ''] = references
  await succeed(tenant, 'POST', `/v1/events/${deleted}/delete`)
  expect(await rig.billing.usage.settle(60_000)).toBe(true)
  const contents: string[] = []
  const read = async (atOnce: number) => {
    const slices: string[][] = []
    const query = {
      customerKeys: [of.customerReference],
      meterReferences: [tokensOf(of, '').meterReference],
      interval: interval(at(START), at('2026-04-01T00:00:00Z')),
      upTo: null,
      proven: references[1] ?? '',
      atOnce,
    }
    for await (const slice of rig.billing.usage.receiptEntries(tenant.tenant, query)) {
      contents.push(...slice.flatMap(({ provenContent }) => provenContent ?? []))
      const entries = slice.flatMap(({ number, orderOf, leafOf, placeOf }) =>
        Array.from({ length: number }, (_, index) =>
          [orderOf(index), leafOf(index).toString('hex'), placeOf(index).timestamp].join(' '),
        ),
      )
      slices.push(entries.toSorted())
    }
    return slices
  }
  const [whole, sliced] = [await read(50_000), await read(8)]
  const orders = references.slice(1).map(reference => hashOf(reference).toString('hex').toUpperCase())
  expect(whole.map(entries => entries.map(entry => entry.split(' ')[0]))).toEqual([orders.toSorted()])
  expect(whole.flat().every(entry => entry.split(' ')[1]?.length === 64)).toBe(true)
  expect(sliced.length).toBeGreaterThan(4)
  expect(sliced.flat()).toEqual(whole.flat())
  expect(new Set(contents).size).toBe(1)
  expect(contents).toHaveLength(2)
})
