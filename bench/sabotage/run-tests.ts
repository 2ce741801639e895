// One run of some tests in a process of its own, with a fault in the sources or with none.
import { execFile } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'

export type TestResult = {
  readonly name: string
  readonly status: 'passed' | 'failed'
  readonly messages: readonly string[]
}
export type Servers = { readonly databaseUrl: string; readonly databaseTemplate: string }

type Report = {
  readonly testResults: readonly {
    readonly message: string
    readonly assertionResults: readonly {
      readonly title: string
      readonly status: string
      readonly failureMessages: readonly string[]
    }[]
  }[]
}

const RUN_MS = 120_000
const ROOT = join(import.meta.dirname, '../..')

/** The tests of `file` whose names match `pattern`, each with its outcome. Throws when the file could not be run at all. */
export async function runTests(
  servers: Servers,
  { file, pattern, sabotage }: { readonly file: string; readonly pattern: string; readonly sabotage?: string },
): Promise<TestResult[]> {
  const folder = mkdtempSync(join(tmpdir(), 'millrace-sabotage-'))
  const report = join(folder, 'report.json')
  const vitest = join(ROOT, 'node_modules/vitest/vitest.mjs')
  const config = join(import.meta.dirname, 'mutating.config.ts')
  const args = ['run', file, '-t', pattern, '--config', config, '--reporter=json', `--outputFile=${report}`]
  try {
    const outer = Object.entries(process.env).filter(([name]) => !name.startsWith('VITEST'))
    // Vitest ends with 1 when a test fails, which is what we are after; the report says what really happened.
    await promisify(execFile)(process.execPath, [vitest, ...args], {
      cwd: ROOT,
      timeout: RUN_MS,
      env: {
        ...Object.fromEntries(outer),
        SABOTAGE_DATABASE_URL: servers.databaseUrl,
        SABOTAGE_DATABASE_TEMPLATE: servers.databaseTemplate,
        ...(sabotage === undefined ? {} : { SABOTAGE: sabotage }),
      },
    }).catch((error: { code?: unknown; stderr?: string }) => {
      if (error.code !== 1) throw error
    })
    return resultsOf(JSON.parse(readFileSync(report, 'utf8')), file)
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}

function resultsOf({ testResults }: Report, file: string): TestResult[] {
  const [only, ...others] = testResults
  if (!only || others.length > 0) throw new Error(`${file} is not one test file`)
  const ran = only.assertionResults.flatMap(({ title, status, failureMessages }) =>
    status === 'passed' || status === 'failed' ? [{ name: title, status, messages: failureMessages } as const] : [],
  )
  if (ran.length === 0) throw new Error(`no test of ${file} ran: ${only.message}`)
  return ran
}
