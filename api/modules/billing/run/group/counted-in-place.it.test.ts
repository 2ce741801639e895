// An OPEN invoice whose usage moved is counted again, up to once a minute. PostgreSQL then changes none of its indexes: no column that
// changed is in one, and its page has room.
import { afterAll, beforeAll, expect, test } from 'vitest'
import { useTokens } from '../../testing/billed-subscription.ts'
import { openInvoiceRig } from '../../testing/invoice-rig.ts'

let rig: Awaited<ReturnType<typeof openInvoiceRig>>
beforeAll(async () => {
  rig = await openInvoiceRig()
})
afterAll(() => rig?.close())

type Stored = { readonly page: string; readonly columns: Readonly<Record<string, unknown>> }

test('an OPEN invoice that is counted again stays on its page, and no index has a column that changed', async () => {
  const tenant = rig.api.tenants.aLive
  rig.setTime('2026-03-20T10:00:00Z')
  const billed = await rig.subscribe(tenant)
  const countAt = async (time: string, tokens: string): Promise<Stored> => {
    await useTokens(rig.client, tenant, { billed, tokens, timestamp: '2026-03-15 12:00:00.000' })
    rig.setTime(time)
    await rig.run(tenant, billed)
    const [row] = await rig.api.sql(
      `select (ctid::text::point)[0]::text as page, to_jsonb(v) as columns from invoices v
       where status = 'OPEN' and pricing_plan_subscription_id = $1`,
      [billed.subscriptionId],
    )
    return { page: row?.['page'], columns: row?.['columns'] }
  }
  const first = await countAt('2026-03-20T10:00:00Z', '3450')
  const second = await countAt('2026-03-20T10:01:00Z', '200000')
  const changed = Object.keys(first.columns).filter(
    name => JSON.stringify(first.columns[name]) !== JSON.stringify(second.columns[name]),
  )
  expect(changed).toEqual(expect.arrayContaining(['amount_including_tax', 'content', 'updated_at']))
  expect(second.page).toBe(first.page)

  const indexed = await rig.api.sql(
    `select indexrelid::regclass::text as index, name from pg_index, unnest($1::text[]) as name
     where indrelid = 'invoices'::regclass and pg_get_indexdef(indexrelid) ~ ('\\m' || name || '\\M')`,
    [changed],
  )
  expect(indexed).toEqual([])
})

test('a page of invoices has room for all of its rows once more', async () => {
  const rows = await rig.api.sql(`select reloptions as options from pg_class where oid = 'invoices'::regclass`)
  expect(rows).toEqual([{ options: ['fillfactor=50'] }])
})
