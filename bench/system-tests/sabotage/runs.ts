// Between a lane and the one test file that it runs.
import { join } from 'node:path'
import { PROJECT_ROOT } from '../../../infra/services/project.ts'

declare module 'vitest' {
  interface ProvidedContext {
    /** The test file that runs, from the root, and the fault of each of its runs; null: none. */
    sabotage: { readonly file: string; readonly runs: readonly (string | null)[] }
  }
}

/** Imports the test file once for each run. Not named like a test, so that no one else runs it. */
export const RUNS_FILE = join(PROJECT_ROOT, 'bench', 'system-tests', 'sabotage', 'each-run.ts')

/** What the names of the tests of a run begin with. */
export const nameOf = (place: number): string => `run ${place}:`

/** The address by which a file is imported with a fault in force; as it is without one. */
export const withFault = (file: string, sabotage: string | null): string =>
  sabotage === null ? file : `${file}?sabotage=${encodeURIComponent(sabotage)}`

/** The file of such an address, and its fault. */
export function faultOf(address: string): { readonly file: string; readonly sabotage: string | null } {
  const [file = '', sabotage] = address.split('?sabotage=')
  return { file, sabotage: sabotage === undefined ? null : decodeURIComponent(sabotage) }
}
