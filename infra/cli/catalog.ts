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

/** 0: done, or nothing to do. 1: refused or failed. 2: the plan has changes and every limit holds. */
export type ExitCode = 0 | 1 | 2

export const USAGE = `millrace catalog pull  [--file catalog.yaml]   writes the catalog to a file, or prints it
millrace catalog plan  --file catalog.yaml     shows what apply would change; ends with 2 when there are changes
millrace catalog apply --file catalog.yaml     brings the catalog to what the file says

plan and apply fail when the prices of the file change too much of what customers paid, by limits in the file or given here:
  --periods 3                  how many closed periods of each subscription are rated
  --max-revenue-change 5       how many percent the revenue of any currency may change
  --max-customer-increase 10   how many percent more any customer may pay

The file is YAML, or JSON when its name ends in .json.
MILLRACE_URL is the address of the api (default http://127.0.0.1:8080), MILLRACE_API_KEY a key of the environment.`

/** Runs `catalog` with its arguments. Refusals of the api are printed with their field. */
export async function catalogCommand(args: readonly string[], world: CliWorld): Promise<ExitCode> {
  const [verb, ...rest] = args
  const options = optionsOf(rest)
  if (options === null || (verb === 'pull' && Object.keys(options.limits).length > 0)) return usage(world)
  const { file, limits } = options
  if (verb === 'pull') return await pull(world, file)
  if (file === null) return usage(world)
  if (verb === 'plan') return await plan(world, file, limits)
  return verb === 'apply' ? await apply(world, file, limits) : usage(world)
}

function usage({ complain }: CliWorld): ExitCode {
  complain(USAGE)
  return 1
}

type Limits = Readonly<Record<string, string>>
type Options = { readonly file: string | null; readonly limits: Limits }

const LIMITS: Readonly<Record<string, string>> = {
  '--periods': 'periods',
  '--max-revenue-change': 'max_revenue_change',
  '--max-customer-increase': 'max_customer_increase',
}

/** The file and the limits that are named; null for arguments that are not understood. */
function optionsOf(args: readonly string[]): Options | null {
  let file: string | null = null
  const limits: Record<string, string> = {}
  for (let place = 0; place < args.length; place += 2) {
    const [flag = '', value] = args.slice(place)
    const limit = LIMITS[flag]
    if (!value || (limit !== undefined && limit in limits)) return null
    if (limit !== undefined) limits[limit] = value
    else if ((flag === '--file' || flag === '-f') && file === null) file = value
    else return null
  }
  return { file, limits }
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

/** With limits it plans first, since it is the plan that waits for the simulation of prices. */
async function apply(world: CliWorld, file: string, limits: Limits): Promise<ExitCode> {
  const isGated = Object.keys(limits).length > 0 || isRecord((await documentIn(world, file)).revenue_gate)
  if (isGated && (await plan({ ...world, print: () => {} }, file, limits)) === 1) return 1
  const answer = await send(world, pathTo('/apply', limits), file)
  if (answer === null) return 1
  const changes = printChanges(world, answer)
  world.print(changes === 0 ? 'Nothing changed.' : `Applied ${counted(changes)}.`)
  return 0
}

/** Plans the file again as long as its prices are simulated: each call waits a moment, and finds the same simulation. */
async function plan(world: CliWorld, file: string, limits: Limits): Promise<ExitCode> {
  const path = pathTo('/plan', limits)
  for (;;) {
    const answer = await send(world, path, file)
    if (answer === null) return 1
    const gate = isRecord(answer.revenue_gate) ? answer.revenue_gate : null
    for (const { catalog_reference, status, percentage } of gate ? listIn(gate, 'simulations') : [])
      world.complain(`simulation of ${String(catalog_reference)}: ${String(status)}, ${String(percentage)} percent`)
    if (gate?.status === 'IN_PROGRESS') continue
    const changes = printChanges(world, answer)
    for (const refusal of listIn(answer, 'refusals')) {
      world.complain(`${String(refusal.field)}: ${String(refusal.message)}`)
    }
    if (answer.applicable !== true) return 1
    world.print(changes === 0 ? 'Nothing would change.' : `${counted(changes)} would be applied.`)
    return changes === 0 ? 0 : 2
  }
}

function pathTo(path: string, limits: Limits): string {
  const query = new URLSearchParams(limits).toString()
  return query === '' ? path : `${path}?${query}`
}

async function documentIn(world: CliWorld, file: string): Promise<Answer> {
  const document: unknown = readCatalogText(await world.readFile(file), file)
  return isRecord(document) ? document : {}
}

async function send(world: CliWorld, path: string, file: string): Promise<Answer | null> {
  return await call(world, 'POST', path, readCatalogText(await world.readFile(file), file))
}

function printChanges(world: CliWorld, answer: Answer): number {
  const changes = listIn(answer, 'changes')
  for (const change of changes) printChange(world, change)
  return changes.length
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
    const line = `    ${String(field)}: ${JSON.stringify(before)} -> ${JSON.stringify(after)}`
    if (line.length <= LINE_MAX) print(line)
    else for (const text of [`    ${String(field)}:`, ...marked('-', before), ...marked('+', after)]) print(text)
  }
}

/** What does not fit on a line is printed as the file has it, line by line. */
const LINE_MAX = 160
const marked = (mark: '-' | '+', value: unknown): string[] =>
  value === null
    ? []
    : writeCatalogText(value, '')
        .trimEnd()
        .split('\n')
        .map(line => `      ${mark} ${line}`)

const counted = (changes: number): string => (changes === 1 ? '1 change' : `${changes} changes`)

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
