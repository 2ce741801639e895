// {base_url}/mcp: the interface for AI agents, as Model Context Protocol over streamable HTTP. Each call is a request to a route
// of this api with the caller's own token, so that every rule of the route holds here too.
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { AppError } from '../../shared/errors.ts'
import { once } from '../../shared/memory/once.ts'
import type { TokenAccess } from '../access/token-access.ts'
import { type JsonObject, objectIn } from '../description/json.ts'
import { bearerOf } from '../http/authenticate.ts'
import type { RequestLimits } from '../http/rate-limit/request-limits.ts'
import { requestOf } from './request.ts'
import { createScopeChallenges, type ScopeChallenges } from './scope-challenges.ts'
import { answerMessage, type Exchange } from './server.ts'
import { resultOf } from './tools/answer.ts'
import { groupsOf } from './tools/finders.ts'
import { type Tools, toolsOf } from './tools/tools.ts'

const PATH = '/mcp'
/** Versions of the protocol are dates. */
const STRUCTURED_SINCE = '2025-06-18'
const BODY_BYTES_MAX = 1_048_576

export type McpDeps = {
  readonly tokens: TokenAccess
  readonly baseUrl: string
  /** How often a grant may send messages; without it, as often as it likes. */
  readonly limits?: Pick<RequestLimits, 'takeMessage'> | undefined
  /** Origins whose pages may call this address besides our own. */
  readonly origins?: readonly string[]
  /** The published description of the api. */
  readonly description: () => JsonObject
}

/** Declares the endpoint. Its tools are made from the description by the first message. */
export function mcpEndpoint(app: FastifyInstance, deps: McpDeps): void {
  const tools = once(() => {
    const api = deps.description()
    const schemas = objectIn(objectIn(api, 'components'), 'schemas')
    return toolsOf({ paths: objectIn(api, 'paths'), components: { schemas } })
  })
  const challenges = createScopeChallenges(() => performance.now())
  // Before the body is read: who may not come in sends us nothing.
  const onRequest = async (request: FastifyRequest, reply: FastifyReply): Promise<void> => {
    allowOrigin(request, reply, deps)
    const { grantId } = await bearerOf(deps.tokens, request)
    deps.limits?.takeMessage(request, grantId)
  }
  const shared = { url: PATH, config: { permission: 'bearer' }, schema: { hide: true }, onRequest } as const
  app.route({
    ...shared,
    method: 'POST',
    bodyLimit: BODY_BYTES_MAX,
    handler: (request, reply) => answerPost(app, { ...deps, tools: tools(), challenges }, request, reply),
  })
  // What a browser asks before it lets a page of another origin send its token.
  app.options(PATH, { config: { permission: 'bearer' }, schema: { hide: true } }, (request, reply) => {
    allowOrigin(request, reply, deps)
    return reply.status(204).headers(PREFLIGHT).send()
  })
  // There are no sessions to end and no stream to listen to; the protocol has 405 for both.
  app.route({ ...shared, method: ['GET', 'DELETE'], handler: refuseMethod })
}

const PREFLIGHT = {
  allow: 'POST, OPTIONS',
  'access-control-allow-methods': 'POST',
  'access-control-allow-headers':
    'authorization, content-type, accept, mcp-protocol-version, mcp-session-id, last-event-id',
  'access-control-max-age': '600',
}

/**
 * Against pages that reach this address through the browser of a user inside: a browser says where a request comes from, and only
 * our own address and those of the setting MCP_ORIGINS may. Programs send no Origin.
 */
function allowOrigin({ headers }: FastifyRequest, reply: FastifyReply, { baseUrl, origins = [] }: McpDeps): void {
  const { origin } = headers
  if (origin === undefined || origin === new URL(baseUrl).origin) return
  if (!origins.includes(origin)) {
    throw new AppError('USER_NOT_ALLOWED', 'Pages of other origins may not call this address; see MCP_ORIGINS.')
  }
  reply.headers({
    'access-control-allow-origin': origin,
    'access-control-expose-headers': 'www-authenticate, x-request-id, retry-after',
    vary: 'origin',
  })
}

function refuseMethod(_request: FastifyRequest, reply: FastifyReply): FastifyReply {
  const refusal = new AppError('INVALID_OPERATION', 'Send messages by POST; there are no sessions and no stream here.')
  return reply.status(405).header('allow', 'POST').send(refusal.toBody())
}

async function answerPost(
  app: FastifyInstance,
  { tokens, baseUrl, tools, challenges }: McpDeps & { readonly tools: Tools; readonly challenges: ScopeChallenges },
  request: FastifyRequest,
  reply: FastifyReply,
): Promise<FastifyReply> {
  if (Array.isArray(request.body)) throw new AppError('BAD_REQUEST', 'Send one message in a request.')
  let refused: { readonly status: number; readonly challenge: string } | null = null
  const claims = await bearerOf(tokens, request)
  const exchange: Exchange = {
    tools,
    claims,
    listed: groupsListed(request, tools),
    requestId: request.id,
    readsStructured: String(request.headers['mcp-protocol-version'] ?? '') >= STRUCTURED_SINCE,
    version: '1',
    onFault: error => request.log.error({ err: error }, 'the tool call failed'),
    call: async (tool, given) => {
      const { headers, ...inner } = requestOf(tool, given)
      const authorization = request.headers.authorization ?? ''
      const answer = await app.inject({ ...inner, headers: { ...headers, authorization }, remoteAddress: request.ip })
      const challenge = answer.headers['www-authenticate']
      const isDue = answer.statusCode !== 403 || challenges.dueFor(claims.grantId)
      if (challenge !== undefined && isDue) refused = { status: answer.statusCode, challenge: String(challenge) }
      return resultOf(answer)
    },
  }
  const answer = await answerMessage(exchange, webRequest(request, baseUrl), request.body)
  return await sendAnswer(reply, answer, refused)
}

/** The groups in `?groups=`, a comma between them, or `all`. Throws for one there is not. */
function groupsListed({ query }: FastifyRequest, tools: Tools): ReadonlySet<string> {
  const { groups: given } = query as Readonly<Record<string, unknown>>
  const groups = groupsOf(tools)
  if (given === undefined) return new Set()
  const names = String(given).split(',')
  if (names.includes('all')) return new Set(groups)
  const unknown = names.find(name => !groups.includes(name))
  if (unknown === undefined) return new Set(names)
  const message = `There is no group of tools of this name; there are ${groups.join(', ')}, and all.`
  throw new AppError('INVALID_FIELD', message, { field: 'groups' })
}

/** The request as the SDK takes it; the body has been read and is given to it apart. */
function webRequest({ headers }: FastifyRequest, baseUrl: string): Request {
  const given = new Headers()
  for (const [name, value] of Object.entries(headers)) {
    if (value !== undefined && name !== 'authorization') given.set(name, String(value))
  }
  return new Request(new URL(PATH, baseUrl), { method: 'POST', headers: given })
}

/**
 * A refusal that a client can mend with another token keeps its status and challenge, so that the client gets one: it asks its
 * user for the scope that is missing (RFC 6750, 3.1), which no answer within the protocol would make it do.
 */
async function sendAnswer(
  reply: FastifyReply,
  answer: Response,
  refused: { readonly status: number; readonly challenge: string } | null,
): Promise<FastifyReply> {
  if (refused) reply.header('www-authenticate', refused.challenge)
  reply.status(refused?.status ?? answer.status).header('cache-control', 'no-store')
  const text = await answer.text()
  if (text === '') return await reply.send()
  return await reply.type('application/json').serializer(asItIs).send(text)
}

const asItIs = (text: unknown): string => text as string
