// The lines of a file: by status, page by page, and by cursor.
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { refusal } from '../../../testing/catalog.ts'
import { type ApiHarness, startApi, type TestTenant } from '../../../testing/harness.ts'
import type { Row } from '../../../testing/wire.ts'
import { base64, filesOf } from './testing/files-of.ts'

let api: ApiHarness
let tenant: TestTenant
let files: Awaited<ReturnType<typeof filesOf>>
beforeAll(async () => {
  api = await startApi()
  tenant = api.tenants.aLive
  files = await filesOf(tenant)
})
afterAll(() => api?.close())

describe('GET /v1/files/{id}/lines', () => {
  let id: string
  // Blocks as the worker leaves them: three lines, three lines and one.
  beforeAll(async () => {
    const text = 'h1,h2\na,1\nb,2\n"c\n",3\nd,4\ne,5\nf,6\ng,7'
    const file = await files.create({ content: base64(text) })
    const insert = (values: unknown[]) =>
      api.sql(
        `insert into file_line_blocks (platform_id, environment, file_id, number, first_line, lines, byte_start, byte_end, statuses,
           messages, imported, done, skipped, error) values ($1, 'LIVE', $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13)`,
        [tenant.tenant.platformId, file['id'], ...values],
      )
    await insert([0, 1, 3, 6, 21, 'DSE', { 1: 'known', 2: 'wrong' }, 0, 1, 1, 1])
    await insert([1, 4, 3, 21, 33, 'DDE', { 2: 'bad' }, 0, 2, 0, 1])
    await insert([2, 7, 1, 33, 36, 'I', {}, 1, 0, 0, 0])
    await api.sql(
      'update files set lines_imported = 1, lines_done = 3, lines_skipped = 1, lines_error = 2 where id = $1',
      [file['id']],
    )
    id = file['id']
  })
  const lines = async (query: string) => {
    const { status, body } = await tenant.call('GET', `/v1/files/${id}/lines?${query}`)
    expect(status).toBe(200)
    return body
  }
  const numbersIn = (body: Row): number[] => body['data'].map((line: Row) => line['line_item_number'])
  const numbers = async (query: string) => numbersIn(await lines(query))

  test('each line with its text, status and message; several statuses, and the deprecated single one', async () => {
    expect((await lines('limit=3'))['data']).toEqual([
      { file_id: id, line_item_number: 1, data: 'a,1', status: 'DONE', message: null },
      { file_id: id, line_item_number: 2, data: 'b,2', status: 'SKIPPED', message: 'known' },
      { file_id: id, line_item_number: 3, data: '"c\n",3', status: 'ERROR', message: 'wrong' },
    ])
    expect(await numbers('')).toEqual([1, 2, 3, 4, 5, 6, 7])
    expect(await numbers('statuses[]=ERROR&statuses[]=SKIPPED&statuses[]=ERROR')).toEqual([2, 3, 6])
    expect(await numbers('statuses[]=IMPORTED')).toEqual([7])
    expect(await numbers('status=DONE')).toEqual([1, 4, 5])
    const both = await tenant.call('GET', `/v1/files/${id}/lines?status=DONE&statuses[]=ERROR`)
    expect(refusal(both)).toEqual([400, 'INVALID_FIELD', 'status'])
    expect((await tenant.call('GET', `/v1/files/${id}/lines?statuses[]=LOST`)).status).toBe(400)
  })

  test('pages of any size show every line once, in order, with a true number of pages', async () => {
    const cases = [
      ['', [1, 2, 3, 4, 5, 6, 7]],
      ['statuses[]=DONE', [1, 4, 5]],
      ['statuses[]=DONE&statuses[]=IMPORTED', [1, 4, 5, 7]],
    ] as const
    for (const [query, expected] of cases) {
      // A line each, less than a block, a block, more than a block, all.
      for (const limit of [1, 2, 3, 4, 7]) {
        const pages = Math.max(1, Math.ceil(expected.length / limit))
        const found: number[] = []
        for (let page = 1; page <= pages + 1; page += 1) {
          const body = await lines(`${query}&limit=${limit}&page=${page}`)
          expect(body['total_number_of_pages']).toBe(pages)
          found.push(...numbersIn(body))
        }
        expect(found).toEqual(expected)
      }
    }
    expect((await lines('limit=2&statuses[]=DONE'))['links'].next).toContain('statuses%5B%5D=DONE')
  })

  test('cursors lead through every line once, both ways, also past lines whose status changes meanwhile', async () => {
    const through = async (query: string, way: 'next' | 'previous') => {
      const found: number[][] = []
      for (let url: string | null = `/v1/files/${id}/lines?${query}`; url !== null; ) {
        const { body } = await tenant.call('GET', url)
        found.push(numbersIn(body))
        expect(body['has_more']).toBe(body['links'][way] !== null)
        url = body['links'][way]
      }
      return found
    }
    const done = 'statuses[]=DONE&statuses[]=IMPORTED&limit=2'
    expect(await through(`${done}&starting_after=1`, 'next')).toEqual([[4, 5], [7]])
    expect(await through(`${done}&ending_before=7`, 'previous')).toEqual([[4, 5], [1]])
    expect(await through('limit=3&starting_after=2', 'next')).toEqual([
      [3, 4, 5],
      [6, 7],
    ])
    expect(await through('limit=3&ending_before=6', 'previous')).toEqual([
      [3, 4, 5],
      [1, 2],
    ])
    // Line 2 is SKIPPED: a place all the same, for a reader of DONE lines whose last one became another.
    expect(await numbers('statuses[]=DONE&starting_after=2')).toEqual([4, 5])
    expect(await lines('starting_after=7')).toMatchObject({ data: [], has_more: false, links: { next: null } })
    for (const [query, field] of [
      ['starting_after=8', 'starting_after'],
      ['ending_before=0', 'ending_before'],
      ['starting_after=x', 'starting_after'],
      ['starting_after=1&page=2', 'page'],
    ]) {
      const refused = await tenant.call('GET', `/v1/files/${id}/lines?${query}`)
      expect([refused.status, refused.body['field']], query).toEqual([400, field])
    }
  })
})
