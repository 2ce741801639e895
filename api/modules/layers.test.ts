// What the architecture check (.dependency-cruiser.cjs) does not see: knots between the folders of a module, and SQL that looks upwards.
import { readdirSync, readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { dirname, join, normalize, relative } from 'node:path'
import { expect, test } from 'vitest'

const ROOT = 'api/modules'
const sources = readdirSync(ROOT, { recursive: true, encoding: 'utf8' })
  .filter(name => name.endsWith('.ts') && !name.endsWith('.test.ts') && !name.includes('testing/'))
  .map(name => ({ name, text: readFileSync(join(ROOT, name), 'utf8') }))

const foldersWithFiles = new Set(sources.map(({ name }) => dirname(name)))

/**
 * `catalog/meters` of a file in a folder of a module, or one deeper where that holds only folders; null for the module's own files,
 * which put its folders together.
 */
const folderOf = (name: string): string | null => {
  const parts = name.split('/')
  if (parts.length <= 2) return null
  const folder = parts.slice(0, 2).join('/')
  return foldersWithFiles.has(folder) || parts.length <= 3 ? folder : parts.slice(0, 3).join('/')
}

type Graph = ReadonlyMap<string, ReadonlySet<string>>

function folderImports(): Graph {
  const graph = new Map<string, Set<string>>()
  for (const { name, text } of sources) {
    const from = folderOf(name)
    for (const [, path = ''] of text.matchAll(/from '(\.[^']+)'/g)) {
      const to = folderOf(relative(ROOT, normalize(join(ROOT, dirname(name), path))))
      if (from === null || to === null || to.startsWith('..') || from === to) continue
      graph.set(from, (graph.get(from) ?? new Set()).add(to))
    }
  }
  return graph
}

/** Every node that leads back to itself, with the ones it meets on the way. */
function knotsOf(graph: Graph): string[] {
  const reachable = (from: string): Set<string> => {
    const seen = new Set<string>()
    const waiting = [...(graph.get(from) ?? [])]
    for (let next = waiting.pop(); next !== undefined; next = waiting.pop()) {
      if (seen.has(next)) continue
      seen.add(next)
      waiting.push(...(graph.get(next) ?? []))
    }
    return seen
  }
  const reach = new Map([...graph.keys()].map(node => [node, reachable(node)]))
  const together = (node: string) => [...reach].filter(([other, of]) => of.has(node) && reach.get(node)?.has(other))
  const knots = [...graph.keys()].map(node =>
    together(node)
      .map(([other]) => other)
      .sort()
      .join(' <-> '),
  )
  return [...new Set(knots)].filter(knot => knot !== '').sort()
}

test('the folders of the modules import each other in one direction', () => {
  const graph = folderImports()
  expect(graph.size).toBeGreaterThan(20)
  expect(knotsOf(graph)).toEqual([])
})

test('a knot would be found', () => {
  const graph = new Map([
    ['a', new Set(['b'])],
    ['b', new Set(['c'])],
    ['c', new Set(['a', 'd'])],
    ['d', new Set<string>()],
  ])
  expect(knotsOf(graph)).toEqual(['a <-> b <-> c'])
})

type Rule = { readonly name: string }
const { forbidden }: { forbidden: readonly Rule[] } = createRequire(import.meta.url)('../../.dependency-cruiser.cjs')
/** From the lowest up. */
const LAYERS = forbidden
  .filter(({ name }) => name.startsWith('layer-of-'))
  .map(({ name }) => name.slice('layer-of-'.length).split('-and-'))
const layerOf = (module: string): number => LAYERS.findIndex(folders => folders.includes(module))
const moduleOf = (name: string): string => name.split('/')[0] ?? ''

test('every layer is of modules that there are', () => {
  const modules = readdirSync(ROOT, { withFileTypes: true }).filter(entry => entry.isDirectory())
  expect(LAYERS.flat().toSorted()).toEqual(modules.map(({ name }) => name).toSorted())
})

/** The row that accounts lock is that of the tenant itself. */
const OWN_TENANT = 'accounts/roles/load-roles.ts reads platforms'

test('the SQL of a module names no table of a module above it', () => {
  const owners = new Map(
    sources.flatMap(({ name, text }) =>
      [...text.matchAll(/pgTable\(\s*'([a-z_]+)'/g)].map(([, table = '']) => [table, moduleOf(name)] as const),
    ),
  )
  expect(LAYERS.length).toBeGreaterThan(3)
  expect(owners.size).toBeGreaterThan(30)
  const upwards = sources.flatMap(({ name, text }) => {
    const named = [...text.matchAll(/\b(?:from|join|into|update)\s+\(?([a-z_]+)\b/g)].map(([, table = '']) => table)
    return [...new Set(named)]
      .filter(table => {
        const owner = owners.get(table)
        if (owner === undefined || owner === moduleOf(name) || layerOf(moduleOf(name)) < 0) return false
        return layerOf(owner) > layerOf(moduleOf(name)) || (moduleOf(name) === 'invoices' && owner === 'billing')
      })
      .map(table => `${name} reads ${table}`)
  })
  expect(upwards).toEqual([OWN_TENANT])
})
