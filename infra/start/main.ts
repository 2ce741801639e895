// `npm start`: services, migrations, processes, demo; then it stays until Ctrl-C. With --exit it stops after the demo.

import { stopOrphan } from '../../shared/pid-file.ts'
import { systemClock } from '../../shared/time.ts'
import { runDemo } from '../demo/run-demo.ts'
import { findOrCreateAccounts, writeCredentials } from './accounts.ts'
import { lockDataDir } from './lock.ts'
import { PROCESSES, pidFileOf, processUnit } from './processes.ts'
import { say } from './screen.ts'
import { migrateAll, startServices } from './services.ts'
import { readSettings, type Settings } from './settings.ts'
import { createSupervisor, type Supervisor } from './supervisor.ts'

/** What a killed start left running is ended first, front to back, so that nothing writes while services restart. */
async function stopLeftOvers(settings: Settings): Promise<void> {
  for (const { name } of PROCESSES.toReversed())
    if (await stopOrphan(pidFileOf(settings.dataDir, name)))
      say(`Ended ${name}, left running by a start that was killed`)
}

async function startEverything(settings: Settings, supervisor: Supervisor): Promise<void> {
  await stopLeftOvers(settings)
  const services = await startServices(settings, supervisor, say)
  await migrateAll(settings, services, say)
  const accounts = await findOrCreateAccounts(services.databaseUrl, settings.dataDir)
  say('Starting identity, ingest, aggregator, worker and api')
  await supervisor.start(PROCESSES.map(spec => processUnit(settings, services, spec)))
  const file = writeCredentials(settings.dataDir, settings.addresses, accounts)
  say(`All ready; keys and the demo user are in ${file}`)
  await runDemo({ baseUrl: settings.addresses.base_url, platforms: accounts.platforms, clock: systemClock, log: say })
  const { base_url, identity_url, ingest_url } = settings.addresses
  say(
    `Open\n${base_url}  the whole interface\n${identity_url}  the identity host\n${ingest_url}  the gateway, for heavy senders`,
  )
}

/** Resolves at the first signal to stop; a second one ends the process at once, whatever still runs. */
function untilSignal(): Promise<'signal'> {
  return new Promise(resolve => {
    let asked = false
    const onSignal = () => {
      if (asked) {
        say('Asked twice: leaving now. What still runs is ended by the next start.')
        process.exit(130)
      }
      asked = true
      resolve('signal')
    }
    for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(signal, onSignal)
  })
}

async function run(settings: Settings, exitAfterDemo: boolean): Promise<number> {
  const supervisor = createSupervisor(say)
  const signalled = untilSignal()
  const started = startEverything(settings, supervisor).then(() => 'started' as const)
  // When a signal wins the race, what the aborted start then throws has nobody left to tell.
  started.catch(() => {})
  try {
    const first = await Promise.race([started, signalled])
    if (first === 'signal') return exitAfterDemo ? 130 : 0
    if (exitAfterDemo) return 0
    say('Running. Ctrl-C stops everything.')
    const outcome = await Promise.race([signalled, supervisor.gaveUp])
    if (outcome === 'signal') return 0
    say(`Giving up: ${outcome}`)
    return 1
  } catch (error) {
    say(error instanceof Error ? error.message : String(error))
    return 1
  } finally {
    say('Stopping')
    await supervisor.stop()
    say('Stopped')
  }
}

async function main(): Promise<number> {
  const settings = readSettings(process.env)
  const unlock = lockDataDir(settings.dataDir)
  try {
    return await run(settings, process.argv.includes('--exit'))
  } finally {
    unlock()
  }
}

main().then(
  code => process.exit(code),
  error => {
    console.error(error instanceof Error ? error.message : error)
    process.exit(1)
  },
)
