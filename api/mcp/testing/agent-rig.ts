// An agent in a test: the api on a real port, tokens as the identity host signs them, and the official client.
import { Client } from '@modelcontextprotocol/sdk/client/index.js'
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js'
import type { AppDeps } from '../../app.ts'
import type { ApiHarness } from '../../testing/harness.ts'
import { startTokenApi } from '../../testing/token-rig.ts'

/** What a client of the protocol says it takes. */
export const ACCEPT = 'application/json, text/event-stream'

type Reach = { readonly id: string; readonly environment: 'TEST' | 'LIVE' }
/** What a token is made with; by default it reads and writes platform A in LIVE. */
export type TokenOptions = { readonly scope?: string; readonly platforms?: readonly Reach[]; readonly seconds?: number }

export type ToolAnswer = {
  readonly isError: boolean
  // biome-ignore lint/suspicious/noExplicitAny: the answers of every tool, each of its own shape.
  readonly content: any
  /** The structured answer as JSON. */
  readonly text: string
  /** The line beside it. */
  readonly line: string
}
export type Agent = {
  readonly client: Client
  /** Calls a tool; its structured answer. */
  call(name: string, given?: Record<string, unknown>): Promise<ToolAnswer>
}

export type AgentRig = {
  readonly api: ApiHarness
  readonly mcpUrl: string
  /** Posts a body as it is. */
  post(body: string, headers?: Record<string, string>): Promise<Response>
  /** A user who administers platform A, with a grant of their own. */
  newUser(): Promise<{
    readonly userId: string
    readonly grantId: string
    token(options?: TokenOptions): Promise<string>
  }>
  /** The official client with a token of a new user, or with the token given. */
  agent(options?: TokenOptions & { readonly token?: string; readonly groups?: string }): Promise<Agent>
  close(): Promise<void>
}

/** Starts it on a database of its own. */
export async function startAgentRig(more: Partial<AppDeps> = {}): Promise<AgentRig> {
  const rig = await startTokenApi(more)
  const { api } = rig
  const mcpUrl = `${await api.app.listen({ host: '127.0.0.1', port: 0 })}/mcp`
  const clients: Client[] = []
  const newUser: AgentRig['newUser'] = async () => {
    const { userId, grantId, token } = await rig.person()
    return { userId, grantId, token: options => token(changeOf(options)) }
  }
  return {
    api,
    mcpUrl,
    newUser,
    post: (body, headers = {}) =>
      fetch(mcpUrl, {
        method: 'POST',
        body,
        headers: { 'content-type': 'application/json', accept: ACCEPT, ...headers },
      }),
    agent: async ({ token, groups, ...options } = {}) => {
      const bearer = token ?? (await (await newUser()).token(options))
      const url = new URL(groups === undefined ? mcpUrl : `${mcpUrl}?groups=${groups}`)
      const client = new Client({ name: 'test-agent', version: '1' })
      await client.connect(
        // The SDK's own type is not exact about optional properties.
        new StreamableHTTPClientTransport(url, {
          requestInit: { headers: { authorization: `Bearer ${bearer}` } },
        }) as Parameters<Client['connect']>[0],
      )
      clients.push(client)
      return { client, call: (name, given = {}) => callTool(client, name, given) }
    },
    close: async () => {
      await Promise.all(clients.map(client => client.close()))
      await rig.close()
    },
  }
}

const changeOf = ({ scope, platforms, seconds }: TokenOptions = {}) => ({
  claims: { ...(scope === undefined ? {} : { scope }), ...(platforms === undefined ? {} : { platforms }) },
  ...(seconds === undefined ? {} : { seconds }),
})

async function callTool(client: Client, name: string, given: Record<string, unknown>): Promise<ToolAnswer> {
  const answer = await client.callTool({ name, arguments: given })
  const [block] = answer.content as { type: string; text: string }[]
  return {
    isError: answer.isError === true,
    content: answer.structuredContent,
    text: JSON.stringify(answer.structuredContent),
    line: block?.text ?? '',
  }
}
