// npm run backup -- <folder> and npm run restore -- <folder>: of an installation of npm start. npm run backup:log and restore:log: of a
// broker of the operator's own. They end with 0 when all is done.
import { parseArgs } from 'node:util'
import { loadConfig } from '../../shared/config/config.ts'
import { say } from '../start/screen.ts'
import { readSettings } from '../start/settings.ts'
import { backUp } from './backup.ts'
import { backUpLog, restoreLog } from './log-alone.ts'
import { restore } from './restore.ts'

const HELP = `npm run backup -- <folder>     backs up the running installation into a folder that does not exist yet
npm run restore -- <folder>    brings a backup into an empty DATA_DIR; npm start then continues from it
npm run backup:log -- <folder>     backs up the usage log of the broker at NATS_URL into a folder that does not exist yet
npm run restore:log -- <folder>    brings it into a broker that has no usage log

The first two read DATA_DIR and PORT_BASE as npm start does. Services of your own (DATABASE_URL, CLICKHOUSE_URL, NATS_URL) are not part of a
backup: docs/deploying.md says how to back them up.`

async function main(): Promise<number> {
  const { values, positionals } = parseArgs({ options: { help: { type: 'boolean' } }, allowPositionals: true })
  const [command, folder, ...more] = positionals
  if (values.help || folder === undefined || more.length > 0) {
    console.log(HELP)
    return values.help ? 0 : 2
  }
  if (command === 'backup-log' || command === 'restore-log') {
    const { NATS_URL } = loadConfig(process.env, ['NATS_URL'])
    const isBackup = command === 'backup-log'
    const streams = await (isBackup ? backUpLog : restoreLog)(NATS_URL, folder)
    say(`${isBackup ? 'Backed up' : 'Restored'} ${streams.join(', ')}`)
    return 0
  }
  const settings = readSettings(process.env)
  if (command === 'restore') {
    await restore(settings, folder, say)
    say(`Restored into ${settings.dataDir}; npm start runs it`)
  } else {
    const { made_at } = await backUp(settings, folder, say)
    say(`Backed up into ${folder} at ${made_at}`)
  }
  return 0
}

main().then(
  code => process.exit(code),
  (error: unknown) => {
    console.error(error instanceof Error ? error.message : error)
    process.exit(1)
  },
)
