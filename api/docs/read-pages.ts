// The documentation of this installation: the Markdown pages in docs/, in the order a reader needs them.
import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'

/** One Markdown page. */
export type Page = {
  /** Below /docs: `quick-start`, `decisions/0001-the-log-decides`. */
  readonly path: string
  readonly title: string
  readonly markdown: string
}

/** The menu, in order. Pages that are not named here are served and found all the same. */
export const MENU: readonly string[] = [
  'quick-start',
  'concepts',
  'pricing-models',
  'first-calls',
  'test-clocks',
  'api-guide',
  'errors',
  'codes',
  'webhooks',
  'identity',
  'agents',
  'glossary',
  'deploying',
  'operating',
  'configuration',
  'benchmarks',
  'fault-tests',
  'contract-tests',
  'security-checklist',
  'event-to-invoice',
  'changelog',
]

/** The folder docs/ of this package, whether it runs from its sources or from dist/; null where it was not shipped. */
function findFolder(): string | null {
  let folder = dirname(fileURLToPath(import.meta.url))
  while (!existsSync(join(folder, 'docs', 'quick-start.md'))) {
    const parent = dirname(folder)
    if (parent === folder) return null
    folder = parent
  }
  return join(folder, 'docs')
}

function* namesIn(folder: string): Generator<string> {
  for (const entry of readdirSync(folder, { recursive: true, encoding: 'utf8' }).sort())
    if (entry.endsWith('.md')) yield entry.slice(0, -'.md'.length)
}

/** Every page, those of the menu first; none where docs/ was not shipped. */
export function readPages(folder: string | null = findFolder()): Page[] {
  if (folder === null) return []
  const place = (path: string) => (MENU.includes(path) ? MENU.indexOf(path) : MENU.length)
  return [...namesIn(folder)]
    .map(name => name.replaceAll('\\', '/'))
    .sort((one, other) => place(one) - place(other))
    .map(path => {
      const markdown = readFileSync(join(folder, `${path}.md`), 'utf8')
      return { path, title: /^# (.+)$/m.exec(markdown)?.[1] ?? path, markdown }
    })
}

/** The pictures of the pages, by their path below /docs. */
export function readImages(folder: string | null = findFolder()): ReadonlyMap<string, string> {
  if (folder === null || !existsSync(join(folder, 'images'))) return new Map()
  const names = readdirSync(join(folder, 'images')).filter(name => name.endsWith('.svg'))
  return new Map(names.map(name => [`images/${name}`, readFileSync(join(folder, 'images', name), 'utf8')]))
}
