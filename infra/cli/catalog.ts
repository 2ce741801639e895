// millrace catalog pull | plan | apply: the catalog as a file, for people and for CI.
import { readCatalogText, writeCatalogText } from './catalog-text.ts'

/** What a command reaches of the world around it. */
export type CliWorld = {
  readonly env: Readonly<Record<string, string | undefined>>
  readonly fetch: (
    url: string,
    init: { method: string; headers: Record<string, string>; body?: string },
  ) => Promise<{ readonly status: number; text(): Promise<string> }>
  readonly readFile: (path: string) => Promise<string>
  readonly writeFile: (path: string, text: string) => Promise<void>
  readonly print: (line: string) => void
  readonly complain: (line: string) => void
}

/** 0: done, or nothing to do. 1: refused or failed. 2: the plan has changes. */
export type ExitCode = 0 | 1 | 2

export const USAGE = `millrace catalog pull  [--file catalog.yaml]   writes the catalog to a file, or prints it
millrace catalog plan  --file catalog.yaml     shows what apply would change; ends with 2 when there are changes
millrace catalog apply --file catalog.yaml     brings the catalog to what the file says

The file is YAML, or JSON when its name ends in .json.
MILLRACE_URL is the address of the api (default http://127.0.0.1:8080), MILLRACE_API_KEY a key of the environment.`

/** Runs `catalog` with its arguments. Refusals of the api are printed with their field. */
export async function catalogCommand(args: readonly string[], world: CliWorld): Promise<ExitCode> {
  const [verb, ...rest] = args
  const file = fileOf(rest)
  if (file === undefined || (verb !== 'pull' && file === null)) return usage(world)
  if (verb === 'pull') return await pull(world, file)
  if ((verb === 'plan' || verb === 'apply') && file !== null) return await send(world, verb, file)
  return usage(world)
}

function usage({ complain }: CliWorld): ExitCode {
  complain(USAGE)
  return 1
}

/** The file that is named; null for none, undefined for arguments that are not understood. */
function fileOf(args: readonly string[]): string | null | undefined {
  if (args.length === 0) return null
  const [flag, path, ...more] = args
  return (flag === '--file' || flag === '-f') && path && more.length === 0 ? path : undefined
}

async function pull(world: CliWorld, file: string | null): Promise<ExitCode> {
  const answer = await call(world, 'GET', '')
  if (answer === null) return 1
  const text = writeCatalogText(answer, file ?? 'catalog.yaml')
  if (file === null) world.print(text.trimEnd())
  else {
    await world.writeFile(file, text)
    world.complain(`Wrote ${file}`)
  }
  return 0
}

async function send(world: CliWorld, verb: 'plan' | 'apply', file: string): Promise<ExitCode> {
  const body = readCatalogText(await world.readFile(file), file)
  const answer = await call(world, 'POST', `/${verb}`, body)
  if (answer === null) return 1
  const changes = listIn(answer, 'changes')
  for (const change of changes) printChange(world, change)
  for (const refusal of listIn(answer, 'refusals')) world.complain(`${refusal.field}: ${refusal.message}`)
  if (verb === 'apply') {
    world.print(changes.length === 0 ? 'Nothing changed.' : `Applied ${changes.length} changes.`)
    return 0
  }
  if (answer.applicable !== true) return 1
  world.print(changes.length === 0 ? 'Nothing would change.' : `${changes.length} changes would be applied.`)
  return changes.length === 0 ? 0 : 2
}

type Answer = Readonly<Record<string, unknown>>
const isRecord = (value: unknown): value is Answer =>
  typeof value === 'object' && value !== null && !Array.isArray(value)
const listIn = (answer: Answer, name: string): Answer[] => {
  const list: unknown = answer[name]
  return Array.isArray(list) ? list.filter(isRecord) : []
}

function printChange({ print }: CliWorld, change: Answer): void {
  print(`${change.action === 'CREATE' ? '+' : '~'} ${String(change.section)} ${String(change.reference)}`)
  for (const { field, before, after } of listIn(change, 'differences')) {
    print(`    ${String(field)}: ${JSON.stringify(before)} -> ${JSON.stringify(after)}`)
  }
}

/** The answer; null after a refusal, which is printed. */
async function call(world: CliWorld, method: 'GET' | 'POST', path: string, body?: unknown): Promise<Answer | null> {
  const key = world.env.MILLRACE_API_KEY
  if (!key) {
    world.complain('Set MILLRACE_API_KEY to an API key of the environment whose catalog it is.')
    return null
  }
  const address = (world.env.MILLRACE_URL ?? 'http://127.0.0.1:8080').replace(/\/+$/, '')
  const headers = { 'x-api-key': key, ...(body === undefined ? {} : { 'content-type': 'application/json' }) }
  const sent = body === undefined ? {} : { body: JSON.stringify(body) }
  const answer = await world.fetch(`${address}/v1/catalog${path}`, { method, headers, ...sent })
  const text = await answer.text()
  const read = parsed(text)
  if (answer.status < 300 && read) return read
  world.complain(
    read
      ? `${String(read.code)}${read.field ? ` ${String(read.field)}` : ''}: ${String(read.message)}`
      : `The api answered ${answer.status}: ${text.slice(0, 200)}`,
  )
  return null
}

function parsed(text: string): Answer | null {
  try {
    const value: unknown = JSON.parse(text)
    return isRecord(value) ? value : null
  } catch {
    return null
  }
}
