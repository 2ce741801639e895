// The compiled product, for the tests that start it.
import { execFile } from 'node:child_process'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { PROJECT_ROOT } from '../../infra/services/project.ts'

/**
 * Builds dist/ where the sources are newer; `npm test` has done so before a whole run and says it. Throws with the compiler's
 * messages when they do not compile.
 */
export async function buildUnlessBuilt(): Promise<void> {
  if (process.env['MILLRACE_BUILT'] === 'true') return
  await promisify(execFile)(process.execPath, [join(PROJECT_ROOT, 'infra', 'build.mjs')]).catch(error => {
    throw new Error(`dist/ is not of these sources and cannot be built:\n${error.stdout}${error.stderr}`)
  })
}
