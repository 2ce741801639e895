// The API description and the pages of the reference as the build left them beside the compiled code. To make them from the routes
// takes more than a second of processor time, which a busy machine gives over half a minute.
import { existsSync, readFileSync } from 'node:fs'
import type { StaticAnswer } from './static-answers.ts'

const FILE = new URL('../../reference.json', import.meta.url)

/** Stands for the address of the installation in what is built. */
export const BUILT_BASE_URL = 'https://base-url.invalid'

/** The answers by their path, for an installation at `baseUrl`; null where there is no build, as in tests that run the sources. */
export function builtReference(baseUrl: string, file: URL | string = FILE): Record<string, StaticAnswer> | null {
  if (!existsSync(file)) return null
  const answers: Record<string, StaticAnswer> = JSON.parse(readFileSync(file, 'utf8'))
  const address = JSON.stringify(baseUrl).slice(1, -1)
  return Object.fromEntries(
    Object.entries(answers).map(([path, { body, ...about }]) => [
      path,
      { ...about, body: body.replaceAll(BUILT_BASE_URL, () => address) },
    ]),
  )
}
