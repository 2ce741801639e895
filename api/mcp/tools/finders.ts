// The few tools that are always listed. An agent looks for what it needs, reads the shape of that one, and calls it by name, so
// that it need not carry the shapes of every operation.
import type { CallToolResult, Tool } from '@modelcontextprotocol/sdk/types.js'
import { AppError } from '../../../shared/errors.ts'
import type { TokenClaims } from '../../access/verify-access-token.ts'
import { GUIDE_NOTE, GUIDES } from '../guides.ts'
import type { Arguments } from '../request.ts'
import { dataResult } from './answer.ts'
import { rankTools, wordsOf } from './rank-tools.ts'
import {
  type ApiTool,
  annotationsOf,
  answerSchemaOf,
  descriptionOf,
  inputSchemaOf,
  scopeNeeded,
  type Tools,
} from './tools.ts'

export type FinderContext = {
  readonly tools: Tools
  readonly claims: TokenClaims
  readonly call: (tool: ApiTool, given: Arguments) => Promise<CallToolResult>
}

type Finder = {
  readonly tool: Tool
  readonly run: (context: FinderContext, given: Arguments) => CallToolResult | Promise<CallToolResult>
}

const READS = { readOnlyHint: true, destructiveHint: false, idempotentHint: true, openWorldHint: false }
const FOUND_MAX = 20
const DESCRIBED_MAX = 8

const schema = (properties: Record<string, object>, required: string[] = []): Tool['inputSchema'] => ({
  type: 'object',
  properties,
  required,
  additionalProperties: false,
})
const TOOL = { type: 'string', description: 'The name of a tool, as find_tools gives it.' }
const ARGUMENTS = { type: 'object', description: 'Its arguments, as describe_tool tells.' }

const FINDERS: readonly Finder[] = [
  {
    tool: {
      name: 'how_to',
      description:
        'The steps of a common task, in order, with the body of each: set up a meter and a plan, subscribe a customer, send usage, ' +
        'preview, correct, change a price, cancel. Without a task: which there are.',
      inputSchema: schema({
        task: { type: 'string', description: 'The name of a task, or what to do in a few words.' },
      }),
      annotations: READS,
    },
    run: howTo,
  },
  {
    tool: {
      name: 'list_groups',
      description:
        'Begin here: the groups of tools with the names of each, and what your token reaches: scopes, platforms, environments.',
      inputSchema: schema({}),
      annotations: READS,
    },
    run: listGroups,
  },
  {
    tool: {
      name: 'find_tools',
      description: `The tools of a group, or those that some words mean, the likeliest first. At most ${FOUND_MAX}.`,
      inputSchema: schema({
        group: { type: 'string' },
        words: { type: 'string', description: 'What to do, such as: cancel subscription' },
        query: { type: 'string', description: 'The same as words.' },
      }),
      annotations: READS,
    },
    run: findTools,
  },
  {
    tool: {
      name: 'describe_tool',
      description: 'The arguments of one tool, or of several in `tools`; with_answer the shape of what it answers.',
      inputSchema: schema({
        tool: TOOL,
        tools: { type: 'array', items: TOOL, maxItems: DESCRIBED_MAX },
        with_answer: { type: 'boolean' },
      }),
      annotations: READS,
    },
    run: describeTool,
  },
  {
    tool: {
      name: 'call_read_tool',
      description: 'Calls a tool that changes nothing: one that reads, or one that changes with dry_run true.',
      inputSchema: schema({ tool: TOOL, arguments: ARGUMENTS }, ['tool']),
      annotations: READS,
    },
    run: (context, given) => {
      const tool = toolNamed(context, given)
      const own = argumentsIn(given)
      if (!tool.isRead && own['dry_run'] !== true) {
        const message = `${tool.name} changes something: call it through call_write_tool.`
        throw new AppError('INVALID_OPERATION', message, { field: 'tool' })
      }
      return context.call(tool, own)
    },
  },
  {
    tool: {
      name: 'call_write_tool',
      description:
        'Calls a tool that changes something. Needs the scope service:write. With dry_run, where the tool has it, nothing is kept.',
      inputSchema: schema({ tool: TOOL, arguments: ARGUMENTS }, ['tool']),
      annotations: { readOnlyHint: false, destructiveHint: true, idempotentHint: false, openWorldHint: false },
    },
    run: (context, given) => context.call(toolNamed(context, given), argumentsIn(given)),
  },
]

/** The finders as they are listed. */
export const FINDER_TOOLS: readonly Tool[] = FINDERS.map(({ tool }) => tool)

/** Runs a finder; null when none has this name. Throws AppError for arguments it cannot use. */
export async function runFinder(
  name: string,
  context: FinderContext,
  given: Arguments,
): Promise<CallToolResult | null> {
  const finder = FINDERS.find(({ tool }) => tool.name === name)
  if (!finder) return null
  const known = Object.keys(finder.tool.inputSchema.properties ?? {})
  const unknown = Object.keys(given).find(argument => !known.includes(argument))
  if (unknown !== undefined) {
    const message = `${unknown} is not an argument of ${name}; it takes ${known.join(', ') || 'none'}.`
    throw new AppError('INVALID_FIELD', message, { field: unknown })
  }
  return await finder.run(context, given)
}

/** The names of the groups, in the order of the description. */
export const groupsOf = (tools: Tools): string[] => [...new Set([...tools.values()].map(tool => tool.operation.group))]

function listGroups({ tools, claims }: FinderContext): CallToolResult {
  const all = [...tools.values()]
  const groups = groupsOf(tools).map(group => ({
    group,
    tools: all.filter(tool => tool.operation.group === group).map(({ name }) => name),
  }))
  const platforms = claims.tenants.map(({ platformId, environment }) => ({ platform_id: platformId, environment }))
  return dataResult({}, { access: { scopes: claims.scopes, platforms }, groups })
}

function findTools({ tools }: FinderContext, given: Arguments): CallToolResult {
  const group = textIn(given, 'group')
  const words = textIn(given, 'words') ?? textIn(given, 'query') ?? ''
  const groups = groupsOf(tools)
  if (group !== null && !groups.includes(group)) {
    throw new AppError('RESOURCE_NOT_FOUND', `There is no such group; there are ${groups.join(', ')}.`, {
      field: 'group',
    })
  }
  const inGroup = [...tools.values()].filter(tool => group === null || tool.operation.group === group)
  const found = rankTools(inGroup, words)
  const hint =
    found.length > 0 ? {} : { hint: `No tool fits. list_groups names all; how_to has the steps of common tasks.` }
  return dataResult(
    {},
    {
      found: found.length,
      ...hint,
      tools: found.slice(0, FOUND_MAX).map(tool => ({
        tool: tool.name,
        does: tool.operation.summary,
        scope: scopeNeeded(tool),
        ...(tool.operation.dryRun && !tool.isRead ? { dry_run: true } : {}),
      })),
    },
  )
}

function describeTool(context: FinderContext, given: Arguments): CallToolResult {
  const names = given.tools
  if (names === undefined) return dataResult({}, described(toolNamed(context, given), given))
  const isNames = Array.isArray(names) && names.every(name => typeof name === 'string')
  if (!isNames || names.length === 0 || names.length > DESCRIBED_MAX) {
    const message = `tools must be a list of 1 to ${DESCRIBED_MAX} names.`
    throw new AppError('INVALID_FIELD', message, { field: 'tools' })
  }
  return dataResult({}, { tools: names.map(tool => described(toolNamed(context, { tool }), given)) })
}

const described = (tool: ApiTool, given: Arguments) => ({
  tool: tool.name,
  group: tool.operation.group,
  description: descriptionOf(tool),
  annotations: annotationsOf(tool),
  arguments: inputSchemaOf(tool),
  ...(given.with_answer === true ? { answer: answerSchemaOf(tool) } : {}),
})

function howTo(_context: FinderContext, given: Arguments): CallToolResult {
  const task = textIn(given, 'task')
  if (task === null) return dataResult({}, { tasks: GUIDES.map(guide => ({ task: guide.task, title: guide.title })) })
  const guide = GUIDES.find(each => each.task === task) ?? guideFor(task)
  if (guide) return dataResult({}, { ...guide, note: GUIDE_NOTE })
  const message = `There is no such task; there are ${GUIDES.map(each => each.task).join(', ')}.`
  throw new AppError('RESOURCE_NOT_FOUND', message, { field: 'task' })
}

/** The guide whose title has most of the words. */
function guideFor(text: string): (typeof GUIDES)[number] | null {
  const words = wordsOf(text)
  const scored = GUIDES.map(guide => {
    const own = wordsOf(`${guide.task.replaceAll('_', ' ')} ${guide.title}`)
    return { guide, score: words.filter(word => own.includes(word)).length }
  }).toSorted((a, b) => b.score - a.score)
  const [best] = scored
  return best && best.score > 0 ? best.guide : null
}

function toolNamed({ tools }: FinderContext, given: Arguments): ApiTool {
  const name = textIn(given, 'tool')
  if (name === null) throw new AppError('MISSING_FIELD', 'tool is required.', { field: 'tool' })
  const tool = tools.get(name)
  if (tool) return tool
  throw new AppError('RESOURCE_NOT_FOUND', 'There is no such tool; find_tools gives the names.', { field: 'tool' })
}

function argumentsIn(given: Arguments): Arguments {
  const { arguments: own = {} } = given
  if (typeof own === 'object' && own !== null && !Array.isArray(own)) return own as Arguments
  throw new AppError('INVALID_FIELD', 'arguments must be an object.', { field: 'arguments' })
}

function textIn(given: Arguments, name: string): string | null {
  const value = given[name]
  if (value === undefined || value === null) return null
  if (typeof value === 'string') return value
  throw new AppError('INVALID_FIELD', `${name} must be a text.`, { field: name })
}
