// npm run reconcile: compares the log, the index, the raw rows, the roll-ups and the wallets of a running installation. Ends with 0 when
// they agree, 1 when they differ, 2 when it could not be found out.
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { loadConfig } from '../../shared/config/config.ts'
import { embeddedUrl } from '../start/embedded-url.ts'
import { roleUrlOf } from '../start/role-url.ts'
import { readSettings } from '../start/settings.ts'
import { type ReconcileOptions, reconcileInstallation } from './reconcile.ts'
import { reportLines } from './report.ts'

const HELP = `npm run reconcile [-- options]

Reads DATABASE_URL (of the login millrace_worker), NATS_URL, PARTITIONS, CLICKHOUSE_URL, CLICKHOUSE_DATABASE and DATA_DIR as the processes do; what has no address is
looked for where npm start runs it (DATA_DIR, PORT_BASE). It reads only, and may run beside everything else.

  --wait <seconds>     how long what was accepted before may take to be stored (60)
  --series <number>    compare the roll-ups of about so many series (2000)
  --all                compare the roll-ups of every series
  --index <folder>     where the indexes are (DATA_DIR/index)
  --json               the figures as one line of JSON`

const SERIES_DEFAULT = '2000'
const WAIT_DEFAULT_S = '60'

const { values } = parseArgs({
  options: {
    wait: { type: 'string', default: WAIT_DEFAULT_S },
    series: { type: 'string', default: SERIES_DEFAULT },
    all: { type: 'boolean', default: false },
    index: { type: 'string' },
    json: { type: 'boolean', default: false },
    help: { type: 'boolean', default: false },
  },
})

const wholeNumber = (name: string, text: string): number => {
  if (!/^[0-9]{1,9}$/.test(text) || Number(text) < 1) throw new Error(`--${name} takes a whole number, not ${text}`)
  return Number(text)
}

function optionsOf(env: NodeJS.ProcessEnv): ReconcileOptions {
  const settings = readSettings(env)
  return {
    databaseUrl: roleUrlOf(env, 'millrace_worker'),
    natsUrl: settings.external.natsUrl ?? embeddedUrl(settings, 'nats'),
    clickhouseUrl: settings.external.clickhouseUrl ?? embeddedUrl(settings, 'clickhouse'),
    clickhouseDatabase: settings.clickhouseDatabase,
    partitions: loadConfig(env, ['PARTITIONS']).PARTITIONS,
    indexFolder: values.index ?? join(settings.dataDir, 'index'),
    waitMs: wholeNumber('wait', values.wait) * 1_000,
    seriesMax: values.all ? null : wholeNumber('series', values.series),
    log: line => (values.json ? undefined : console.log(line)),
  }
}

async function main(): Promise<number> {
  if (values.help) {
    console.log(HELP)
    return 0
  }
  const result = await reconcileInstallation(optionsOf(process.env))
  if (values.json) {
    const { partitions, rollups, wallets, findings } = result
    const differences = [...findings.counts].map(([kind, count]) => ({
      kind,
      count,
      examples: findings.examples(kind),
    }))
    console.log(JSON.stringify({ partitions, rollups, wallets, differences }))
  } else for (const line of reportLines(result)) console.log(line)
  return result.findings.total() === 0 ? 0 : 1
}

main().then(
  code => process.exit(code),
  (error: unknown) => {
    console.error(error instanceof Error ? error.message : error)
    process.exit(2)
  },
)
