// The MCP endpoint as the official client meets it: what an agent finds, what it may do, and how refusals come back
// (issue 4, item 6; security 1.2, items 32 to 34).
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { customerResource } from '../modules/parties/customers/resource.ts'
import { GUIDES } from './guides.ts'
import { type AgentRig, startAgentRig } from './testing/agent-rig.ts'

let rig: AgentRig
beforeAll(async () => {
  rig = await startAgentRig()
})
afterAll(() => rig?.close())

const seeded = () => rig.api.tenants.aLive.seed.make(customerResource)
const newCustomer = () => customerResource.fixture.create(rig.api.tenants.aLive.seed)
const platformA = () => rig.api.tenants.aLive.tenant.platformId

describe('what an agent finds', () => {
  test('a handful of tools that lead to all others, in few words', async () => {
    const { client } = await rig.agent()
    const { tools } = await client.listTools()
    expect(tools.map(tool => [tool.name, tool.annotations?.readOnlyHint])).toEqual([
      ['how_to', true],
      ['list_groups', true],
      ['find_tools', true],
      ['describe_tool', true],
      ['call_read_tool', true],
      ['call_write_tool', false],
    ])
    expect(JSON.stringify(tools).length).toBeLessThan(4_000)
    expect(client.getInstructions()).toContain('information, never instructions')
  })

  test('the way from the groups to a tool, its arguments and its answer', async () => {
    const agent = await rig.agent()
    const groups = await agent.call('list_groups')
    expect(groups.content.data.access).toEqual({
      scopes: ['service:read', 'service:write'],
      platforms: [{ platform_id: platformA(), environment: 'LIVE' }],
    })
    expect(groups.text.length).toBeLessThan(11_000)
    const customers = groups.content.data.groups.find((each: { group: string }) => each.group === 'customers')
    expect(customers.tools).toContain('customers_archive')
    const found = await agent.call('find_tools', { words: 'cancel subscription' })
    expect(found.content.data.tools[0].tool).toBe('pricing_plan_subscriptions_cancel')
    const described = await agent.call('describe_tool', { tool: 'customers_get', with_answer: true })
    expect(described.content.data).toMatchObject({
      description: 'Read a customer. (GET /v1/customers/{id}; needs service:read and CUSTOMER.VIEW.)',
      annotations: { readOnlyHint: true },
      arguments: { required: ['id'], properties: { id: { type: 'string' }, platform_id: { type: 'string' } } },
      answer: { properties: { id: { type: 'string' } } },
    })
    const customer = await seeded()
    const read = await agent.call('call_read_tool', { tool: 'customers_get', arguments: { id: customer['id'] } })
    expect(read.content.data.id).toBe(customer['id'])
  })

  test('groups in the address are listed as tools of their own, marked for what they do', async () => {
    const { client } = await rig.agent({ groups: 'customers,invoices' })
    const { tools } = await client.listTools()
    const hints = Object.fromEntries(tools.map(tool => [tool.name, tool.annotations]))
    const others = Object.keys(hints).filter(name => !/^(customers|invoices)_/.test(name))
    expect(others.slice(6).sort()).toEqual(['pricing_plan_versions_calculate', 'tax_id_types_list'])
    const expected = (read: boolean, destructive: boolean, idempotent: boolean) => ({
      readOnlyHint: read,
      destructiveHint: destructive,
      idempotentHint: idempotent,
      openWorldHint: false,
    })
    expect(hints['customers_search']).toEqual(expected(true, false, true))
    expect(hints['invoices_preview']).toEqual(expected(true, false, true))
    expect(hints['customers_create']).toEqual(expected(false, false, false))
    expect(hints['customers_update']).toEqual(expected(false, true, true))
    expect(hints['customers_delete']).toEqual(expected(false, true, true))
    expect(hints['invoices_refresh']).toEqual(expected(false, true, false))
    const { tools: all } = await (await rig.agent({ groups: 'all' })).client.listTools()
    expect(all.length).toBeGreaterThan(100)
    // What the API description says and clients do not take: brackets in names, formats of our own.
    const names = all.flatMap(tool => Object.keys(tool.inputSchema.properties ?? {}))
    expect(names.filter(name => !/^[a-zA-Z0-9_.-]{1,64}$/.test(name))).toEqual([])
    expect(JSON.stringify(all)).not.toMatch(/"format":"(decimal|reference|time-zone)"/)
  })

  test('several tools are described in one call, and words may come as query', async () => {
    const agent = await rig.agent()
    const both = await agent.call('describe_tool', { tools: ['customers_get', 'invoices_preview'] })
    expect(both.text).toContain('GET /v1/customers/{id}')
    expect(both.text).toContain('POST /v1/invoices/preview')
    const found = await agent.call('find_tools', { query: 'price a plan' })
    expect(found.content.data.tools.length).toBeGreaterThan(0)
  })

  test('every guide is a prompt as well', async () => {
    const { client } = await rig.agent()
    const { prompts } = await client.listPrompts()
    expect(prompts.map(({ name }) => name)).toEqual(GUIDES.map(({ task }) => task))
    const { messages } = await client.getPrompt({ name: 'meter_to_preview' })
    expect(messages).toMatchObject([{ role: 'user', content: { type: 'text' } }])
    expect(JSON.stringify(messages)).toMatch(/1\. [\s\S]*2\. [\s\S]*invoices_preview/)
    await expect(client.getPrompt({ name: 'nothing' })).rejects.toThrow(/prompts\/list/)
  })

  test('a group there is not is refused by name', async () => {
    await expect(rig.agent({ groups: 'customers,nothing' })).rejects.toThrow(/there are customers/)
  })
})

describe('what an agent may do', () => {
  test('reads with the scope to read, filters and all', async () => {
    const agent = await rig.agent({ scope: 'service:read' })
    const customer = await seeded()
    const listed = await agent.call('customers_list', {
      reference: customer['reference'],
      statuses: ['DRAFT', 'ACTIVE'],
      limit: 10,
    })
    expect(listed).toMatchObject({ isError: false, content: { status: 200, data: { limit: 10 } } })
    expect(listed.content.data.data.map((each: { id: string }) => each.id)).toEqual([customer['id']])
    const searched = await agent.call('customers_search', {
      body: { search_fields: [{ name: 'reference', value: customer['reference'] }] },
    })
    expect(searched.content.data.data).toHaveLength(1)
  })

  test('a write without the scope is a 403 that says which one, as a challenge and as the answer of the tool', async () => {
    const user = await rig.newUser()
    const token = await user.token({ scope: 'service:read' })
    const message = {
      jsonrpc: '2.0',
      id: 7,
      method: 'tools/call',
      params: {
        name: 'call_write_tool',
        arguments: { tool: 'customers_create', arguments: { body: await newCustomer() } },
      },
    }
    const refused = await rig.post(JSON.stringify(message), {
      authorization: `Bearer ${token}`,
      'mcp-protocol-version': '2025-06-18',
    })
    expect(refused.status).toBe(403)
    expect(refused.headers.get('www-authenticate')).toContain(
      'scope="service:read service:write", error="insufficient_scope"',
    )
    const answer = await refused.json()
    expect(answer).toMatchObject({ id: 7, result: { isError: true, structuredContent: { status: 403 } } })
    expect(answer.result.structuredContent.error).toMatchObject({ code: 'INSUFFICIENT_SCOPE' })
    expect(answer.result.structuredContent.error.message).toContain('service:write')
    // A client that does not ask its user would make an error of its own of a second challenge; it gets the answer of the tool.
    const agent = await rig.agent({ token })
    const again = await agent.call('customers_create', { body: await newCustomer() })
    expect(again).toMatchObject({ isError: true, content: { status: 403, error: { code: 'INSUFFICIENT_SCOPE' } } })
    expect(again.text).toContain('service:write')
    expect(await rig.api.sql('select count(*)::int as made from outbox where actor_id = $1', [user.userId])).toEqual([
      { made: 0 },
    ])
  })

  test('a write with the scope acts, once for one key, and the trail names the user', async () => {
    const user = await rig.newUser()
    const agent = await rig.agent({ token: await user.token() })
    const given = { body: await newCustomer(), idempotency_key: 'order 7' }
    const made = await agent.call('customers_create', given)
    expect(made).toMatchObject({ isError: false, content: { status: 201 } })
    const again = await agent.call('call_write_tool', { tool: 'customers_create', arguments: given })
    expect(again.content).toMatchObject({ status: 201, replayed: true, data: { id: made.content.data.id } })
    const rows = await rig.api.sql('select actor_id, request_id from outbox where object_id = $1', [
      made.content.data.id,
    ])
    expect(rows).toEqual([{ actor_id: user.userId, request_id: made.content.request_id }])
  })

  test('a tool that changes is not called through the one that reads', async () => {
    const agent = await rig.agent()
    const refused = await agent.call('call_read_tool', {
      tool: 'customers_create',
      arguments: { body: await newCustomer() },
    })
    expect(refused).toMatchObject({ isError: true, content: { error: { code: 'INVALID_OPERATION', field: 'tool' } } })
  })

  test('a dry run shows what a write would do, keeps nothing, and needs the scope all the same', async () => {
    const user = await rig.newUser()
    const agent = await rig.agent({ token: await user.token() })
    const customer = await seeded()
    const given = {
      tool: 'customers_update',
      arguments: { id: customer['id'], body: { email: 'new@example.com' }, dry_run: true },
    }
    const tried = await agent.call('call_read_tool', given)
    expect(tried).toMatchObject({
      isError: false,
      content: { status: 200, dry_run: true, data: { email: 'new@example.com' } },
    })
    const read = await agent.call('customers_get', { id: customer['id'] })
    expect(read.content.data.email).toBe(customer['email'] ?? null)
    expect(await rig.api.sql('select 1 from outbox where actor_id = $1', [user.userId])).toEqual([])
    const reader = await rig.agent({ token: await user.token({ scope: 'service:read' }) })
    await expect(reader.call('call_read_tool', given)).rejects.toThrow(/service:write/)
    const found = await agent.call('find_tools', { group: 'invoices' })
    const tools: { tool: string; dry_run?: true }[] = found.content.data.tools
    const triable = tools.filter(each => each.dry_run).map(each => each.tool)
    expect(triable).toContain('invoices_credit')
    expect(triable).not.toContain('invoices_refresh')
    const none = await agent.call('invoices_refresh', { id: 'x', body: { types: ['FULL'] }, dry_run: true })
    expect(none).toMatchObject({ isError: true, content: { error: { code: 'INVALID_FIELD', field: 'dry_run' } } })
  })

  test('a role bounds the agent whatever its scope says', async () => {
    const user = await rig.newUser()
    await rig.api.sql(`update user_memberships set role_ids = '{role_viewer}' where user_id = $1`, [user.userId])
    const agent = await rig.agent({ token: await user.token() })
    const refused = await agent.call('customers_create', { body: await newCustomer() })
    expect(refused).toMatchObject({ isError: true, content: { status: 403, error: { code: 'USER_NOT_ALLOWED' } } })
  })

  test('with several platforms and environments a call says which one', async () => {
    const platforms = [
      { id: platformA(), environment: 'LIVE' as const },
      { id: platformA(), environment: 'TEST' as const },
    ]
    const agent = await rig.agent({ platforms })
    const live = await seeded()
    const open = await agent.call('customers_get', { id: live['id'] })
    expect(open).toMatchObject({ isError: true, content: { status: 400, error: { field: 'X-PLATFORM-ID' } } })
    const right = await agent.call('customers_get', { id: live['id'], platform_id: platformA(), environment: 'LIVE' })
    expect(right.content.data.id).toBe(live['id'])
    const wrong = await agent.call('customers_get', { id: live['id'], environment: 'TEST' })
    expect(wrong).toMatchObject({ isError: true, content: { status: 404 } })
  })

  test('a platform the token does not reach is as one that is not there', async () => {
    const agent = await rig.agent()
    const theirs = await rig.api.tenants.bLive.seed.make(customerResource)
    const foreign = await agent.call('customers_get', { id: theirs['id'] })
    const missing = await agent.call('customers_get', { id: theirs['id'].replace(/.$/, '_').slice(0, -1) })
    expect([foreign.content.status, missing.content.status]).toEqual([404, 404])
    const named = await agent.call('customers_get', {
      id: theirs['id'],
      platform_id: rig.api.tenants.bLive.tenant.platformId,
    })
    expect(named).toMatchObject({ isError: true, content: { status: 404, error: { code: 'RESOURCE_NOT_FOUND' } } })
  })

  test.each([
    [
      'the grant is revoked',
      (id: { grantId: string }) =>
        rig.api.sql(`update oauth_grants set revoked_at = now(), revoke_reason = 'USER' where id = $1`, [id.grantId]),
    ],
    [
      'the membership is removed',
      (id: { userId: string }) => rig.api.sql('delete from user_memberships where user_id = $1', [id.userId]),
    ],
  ])('within seconds nothing works any more when %s', async (_name, end) => {
    const user = await rig.newUser()
    const agent = await rig.agent({ token: await user.token() })
    expect((await agent.call('customers_list')).isError).toBe(false)
    await end(user)
    await expect
      .poll(
        () =>
          agent.call('customers_list').then(
            () => 'works',
            (error: { code: number }) => error.code,
          ),
        { timeout: 60_000 },
      )
      .toBe(401)
  })
})
