// A module that is imported with a fault in force hands it on to what it imports, if that leads to a file that the fault edits.
import { existsSync, readFileSync } from 'node:fs'
import { dirname, join, resolve } from 'node:path'
import type { Vite } from 'vitest/node'
import { PROJECT_ROOT } from '../../../infra/services/project.ts'
import { MUTANTS } from './mutants.ts'
import { faultOf, withFault } from './runs.ts'

/** Our own modules name each other by relative paths that end in `.ts`; types are not imported at run time. */
const IMPORT = /(?:^(?:import|export)\s(?!type\b)[^'"]*|\bimport\()['"](\.[^'"]+\.ts)['"]/gm

const editsOf = (sabotage: string) => {
  const mutant = MUTANTS[sabotage]
  if (!mutant) throw new Error(`there is no sabotage called ${sabotage}`)
  return mutant.edits.map(edit => ({ ...edit, file: join(PROJECT_ROOT, edit.file) }))
}

/** What each file imports, read once. */
function createImports(): (file: string) => readonly string[] {
  const known = new Map<string, readonly string[]>()
  return file => {
    const found = known.get(file)
    if (found) return found
    const text = existsSync(file) ? readFileSync(file, 'utf8') : ''
    const imports = [...text.matchAll(IMPORT)].map(match => resolve(dirname(file), match[1] ?? ''))
    known.set(file, imports)
    return imports
  }
}

/** The files among those that `file` leads to from which one of `targets` can be reached. */
function leadingTo(targets: ReadonlySet<string>, file: string, importsOf: (file: string) => readonly string[]) {
  const importers = new Map<string, string[]>()
  const seen = new Set([file])
  for (const each of seen)
    for (const imported of importsOf(each)) {
      importers.set(imported, [...(importers.get(imported) ?? []), each])
      seen.add(imported)
    }
  const leading = new Set([...targets].filter(target => seen.has(target)))
  for (const each of leading) for (const importer of importers.get(each) ?? []) leading.add(importer)
  return leading
}

/** Of the vitest of a lane. */
export function sabotagePlugin(): Vite.Plugin {
  const importsOf = createImports()
  const touched = new Map<string, ReadonlySet<string>>()
  const touchedBy = (sabotage: string): ReadonlySet<string> => {
    const known = touched.get(sabotage)
    if (known) return known
    const start = join(PROJECT_ROOT, MUTANTS[sabotage]?.caughtBy.file ?? '')
    const files = leadingTo(new Set(editsOf(sabotage).map(({ file }) => file)), start, importsOf)
    touched.set(sabotage, files)
    return files
  }
  return {
    name: 'sabotage',
    enforce: 'pre',
    // Modules without a fault are compiled as by any other run, so those that are kept will do; one with a fault is not kept.
    api: { vitest: { experimental: { ignoreFsModuleCache: true } } },
    configureVitest: ({ experimental_defineCacheKeyGenerator }) =>
      experimental_defineCacheKeyGenerator(({ id }) => (faultOf(id).sabotage === null ? undefined : false)),
    async resolveId(source, importer) {
      if (importer === undefined) return null
      const { file: from, sabotage } = faultOf(importer)
      if (sabotage === null) return null
      const imported = resolve(dirname(from), source)
      if (touchedBy(sabotage).has(imported)) return withFault(imported, sabotage)
      return await this.resolve(source, from, { skipSelf: true })
    },
    transform(code, id) {
      const { file, sabotage } = faultOf(id)
      if (sabotage === null) return null
      const edits = editsOf(sabotage).filter(edit => edit.file === file)
      return edits.reduce((text, { from, to }) => text.replace(from, () => to), code)
    },
  }
}
