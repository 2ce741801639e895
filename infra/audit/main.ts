// npm run audit:verify: goes through the audit chains of an installation. Ends with 0 when they hold, 1 when one does not, 2
// when it could not be found out.
import { readFileSync } from 'node:fs'
import { parseArgs } from 'node:util'
import type { TenantHead } from '../../api/modules/accounts/audit/verify-chains.ts'
import { verifyInstallation } from './verify-installation.ts'

const HELP = `npm run audit:verify [-- options]

Reads DATABASE_URL (of the login millrace_worker), or looks where npm start runs PostgreSQL (DATA_DIR, PORT_BASE). It reads only, and may run beside
everything else.

  --anchors <file>     what --json printed earlier: the chains must still go through the heads in it
  --json               the heads and the faults as one line of JSON; keep it where nobody who can write the database writes`

const { values } = parseArgs({
  options: {
    anchors: { type: 'string' },
    json: { type: 'boolean', default: false },
    help: { type: 'boolean', default: false },
  },
})

function anchorsOf(file: string | undefined): TenantHead[] {
  if (file === undefined) return []
  const { heads } = JSON.parse(readFileSync(file, 'utf8')) as { heads?: TenantHead[] }
  if (!Array.isArray(heads)) throw new Error(`${file} is not what audit:verify --json printed`)
  return heads
}

async function main(): Promise<number> {
  if (values.help) {
    console.log(HELP)
    return 0
  }
  const result = await verifyInstallation(process.env, anchorsOf(values.anchors))
  if (values.json) console.log(JSON.stringify(result))
  else {
    for (const { platform_id, environment, kind, sequence, detail } of result.faults)
      console.log(`${platform_id} ${environment} record ${sequence}: ${kind}, ${detail}`)
    console.log(`${result.records} audit records of ${result.heads.length} chains: ${result.faults.length} faults`)
  }
  return result.faults.length === 0 ? 0 : 1
}

main().then(
  code => process.exit(code),
  (error: unknown) => {
    console.error(error instanceof Error ? error.message : error)
    process.exit(2)
  },
)
