// `node describe.js <file>`, which the build runs: writes the API description and the pages of the reference.
import { writeFileSync } from 'node:fs'
import { BUILT_BASE_URL } from './http/pages/built-reference.ts'
import { renderReference } from './render-reference.ts'
import { startWithoutServers } from './without-servers.ts'

const [file] = process.argv.slice(2)
if (file === undefined) throw new Error('Say which file to write: node describe.js <file>.')

async function describe(to: string): Promise<void> {
  const { app, close } = await startWithoutServers(BUILT_BASE_URL)
  writeFileSync(to, await renderReference(app))
  await close()
}

void describe(file)
